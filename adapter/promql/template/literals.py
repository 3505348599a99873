"""The numbers and characters of a template by Go's rules. Errors are ValueErrors with Go's text."""

import math
import re

from adapter.promql import gostrings

_INTEGER = re.compile(r"([+-]?)0(?:([bB])([01_]+)|([oO])([0-7_]+)|([xX])([0-9a-fA-F_]+)|()([0-7_]*))")
_DECIMAL = re.compile(r"([+-]?)([1-9_][0-9_]*)")
_BASES = {"b": 2, "o": 8, "x": 16, "": 8}
_FLOAT = re.compile(r"[+-]?(?=\.?_*[0-9])(?:[0-9_]*)(?:\.[0-9_]*)?(?:[eE][+-]?[0-9][0-9_]*)?")
_HEX_FLOAT = re.compile(
    r"[+-]?0[xX](?=\.?_*[0-9a-fA-F])[0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?[pP][+-]?[0-9][0-9_]*"
)
_COMPLEX = re.compile(
    r"([+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eEpP][+-]?[0-9_]*)?))"
    r"([+-](?!i)(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eEpP][+-]?[0-9_]*)?))i"
)
_BASE_PREFIX = re.compile(r"([+-]?)0[bBoOxX]")
_LOOSE = re.compile(r"(?<![0-9])_|_(?![0-9])")
_LOOSE_HEX = re.compile(r"(?<![0-9a-fA-F])_|_(?![0-9a-fA-F])")
MAX_INT, MIN_INT, MAX_UINT = 2**63 - 1, -(2**63), 2**64 - 1


def number(text: str) -> int | float | complex | None:
    """The value of a number without context; None if only an unsigned int could hold it."""
    if text.endswith("i") and (imaginary := _float(text[:-1])) is not None:
        return complex(0, imaginary)
    whole, floating = _whole(text), None
    if whole is None:
        floating = _float(text)
        if floating is None:
            raise ValueError(f"illegal number syntax: {gostrings.quote(text)}")
        if not _looks_floating(text):
            raise ValueError(f"integer overflow: {gostrings.quote(text)}")
    elif not _looks_floating(text) or text[:2] in ("0x", "0X"):
        return whole if whole <= MAX_INT else None
    return float(whole) if floating is None and whole is not None else floating


def character(text: str) -> int:
    """The code point of a character constant."""
    code, _, end = gostrings.unquote_char(text, 1, "'")
    if text[end:] != "'":
        raise ValueError(f"malformed character constant: {text}")
    return code


def complex_number(text: str) -> complex:
    """The value of 1+2i."""
    parts = _COMPLEX.fullmatch(text)
    if parts is None:
        raise ValueError("syntax error scanning complex number")
    return complex(_part(parts[1]), _part(parts[2]))


def _part(text: str) -> float:
    value = _float(text)
    if value is None:
        raise ValueError(f"strconv.ParseFloat: parsing {gostrings.quote(text)}: {gostrings.SYNTAX}")
    return value


def _looks_floating(text: str) -> bool:
    return any(char in ".eEpP" for char in text)


def _whole(text: str) -> int | None:
    """Go's ParseInt and ParseUint with base 0: underscores, prefixes, a leading 0 for octal."""
    if not _underscores_fit(text):
        return None
    if (found := _INTEGER.fullmatch(text)) is not None:
        sign, *parts = found.groups()
        prefix, digits = next(
            (parts[i].lower(), parts[i + 1]) for i in range(0, 8, 2) if parts[i] is not None
        )
        value = int("0" + digits.replace("_", ""), _BASES[prefix])
    elif (decimal := _DECIMAL.fullmatch(text)) is not None and len(text) <= len(str(MAX_UINT)) * 2:
        sign, value = decimal[1], int(decimal[2].replace("_", ""))
    else:
        return None
    value = -value if sign == "-" else value
    return value if MIN_INT <= value <= (MAX_INT if sign else MAX_UINT) else None


def _float(text: str) -> float | None:
    """Go's ParseFloat of what a template's number can be; None for no float, or one too large."""
    if not _underscores_fit(text):
        return None
    plain = text.replace("_", "")
    if _HEX_FLOAT.fullmatch(text):
        try:
            return float.fromhex(plain)
        except OverflowError:
            return None
    if not _FLOAT.fullmatch(text):
        return None
    value = float(plain)
    return value if math.isfinite(value) else None


def _underscores_fit(text: str) -> bool:
    """Whether each underscore stands between digits, of which the base prefix counts as one."""
    if "_" not in text:
        return True
    loose = _LOOSE_HEX if re.match("[+-]?0[xX]", text) else _LOOSE
    return loose.search(_BASE_PREFIX.sub(r"\g<1>00", text, count=1)) is None
