"""The values of flags as Go's pflag reads them: what it takes, what it refuses, and in which words."""

import csv
import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from adapter.wire import times

_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_INTEGER: Final = re.compile(r"[+-]?[0-9][0-9a-zA-Z_]*")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INT64: Final = range(-(2**63), 2**63)
_PAIR: Final = 2


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of a flag. `read` gives a value as click is to see it; ValueError in Go's words."""

    read: Callable[[str], str]
    switch: bool = False
    """It may stand without a value, and the next word is then none."""

    repeatable: bool = False
    """Each time counts, not only the last one."""


def boolean(text: str) -> str:
    """`true` or `false`."""
    if text in _TRUE:
        return "true"
    if text in _FALSE:
        return "false"
    raise ValueError(f"strconv.ParseBool: parsing {_quoted(text)}: invalid syntax")


def integer(text: str) -> str:
    """A decimal number; 0x10, 0b1, 0o7, 07 and 1_000 are numbers too."""
    try:
        value = _whole(text)
    except ValueError as error:
        raise ValueError(f"strconv.ParseInt: parsing {_quoted(text)}: invalid syntax") from error
    if value not in _INT64:
        raise ValueError(f"strconv.ParseInt: parsing {_quoted(text)}: value out of range")
    return str(value)


def number(text: str) -> str:
    """A number with decimals."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"strconv.ParseFloat: parsing {_quoted(text)}: invalid syntax")
    return text


def duration(text: str) -> str:
    """5m0s, 500ms: a unit is needed."""
    times.duration(text)
    return text


def address(text: str) -> str:
    """An IP address, not a name."""
    try:
        return str(ipaddress.ip_address(text.strip()))
    except ValueError as error:
        raise ValueError(f"failed to parse IP: {_quoted(text)}") from error


def entries(text: str) -> str:
    """A list with commas."""
    split(text)
    return text


def split(text: str) -> tuple[str, ...]:
    """The entries of such a list: those in double quotes may hold commas. ValueError for a broken quotation."""
    if not text:
        return ()
    try:
        rows = list(csv.reader([text], strict=True))
    except csv.Error as error:
        raise ValueError(f"parse error: {error}") from error
    return tuple(rows[0]) if rows else ()


def pair_of_files(text: str) -> str:
    """CERT,KEY or CERT,KEY:NAME,NAME."""
    if len(text.partition(":")[0].split(",")) != _PAIR:
        raise ValueError("expected comma separated certificate and key file paths")
    return text


def levels(text: str) -> str:
    """PATTERN=LEVEL, with commas between them."""
    for one in filter(None, text.split(",")):
        name, _, level = one.partition("=")
        if not name or not level.isdigit():
            raise ValueError(f"{_quoted(one)} is not in the form pattern=N")
    return text


def _anything(text: str) -> str:
    return text


TEXT: Final = Kind(_anything)
TEXTS: Final = Kind(_anything, repeatable=True)
BOOLEAN: Final = Kind(boolean, switch=True)
INTEGER: Final = Kind(integer)
NUMBER: Final = Kind(number)
DURATION: Final = Kind(duration)
ADDRESS: Final = Kind(address)
ENTRIES: Final = Kind(entries, repeatable=True)
PAIRS_OF_FILES: Final = Kind(pair_of_files, repeatable=True)
LEVELS: Final = Kind(levels)


def _whole(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(text)
    sign, digits = (text[0], text[1:]) if text[0] in "+-" else ("", text)
    if digits[0] == "0" and digits[1:2].isdigit():  # Go's older form of octal, which Python refuses
        digits = "0o" + digits[1:]
    return int(sign + digits, 0)


def _quoted(text: str) -> str:
    return '"' + text.encode("unicode_escape").decode("ascii") + '"'
