"""Quantities: the text form of numbers in Kubernetes, which holds no floats.

Everything that this program sends is a whole number of thousandths ("milli"), written with decimal suffixes.
`parse` reads what others write, and gives the thousandths that the autoscaler would compute with.
"""

import math
import re
from dataclasses import dataclass

MAX_MILLI = 2**63 - 1
"""The autoscaler reckons in 64-bit thousandths; beyond, its numbers wrap around without a word."""

FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NUMBER_WRONG = "unable to parse numeric part of quantity"
SUFFIX_WRONG = "unable to parse quantity's suffix"

_SUFFIXES = ("m", "", "k", "M", "G", "T", "P", "E")
_BINARY_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_THOUSAND = 1000
_KIBI = 1024


def milli(value: float) -> int | None:
    """This is a sample in thousandths, cut off toward zero as upstream does it.

    None where there is no such number: NaN, infinite, or beyond MAX_MILLI.
    """
    thousandths = value * 1000.0
    if not math.isfinite(thousandths) or abs(thousandths) > MAX_MILLI:
        return None
    return int(thousandths)


def render(milli: int) -> str:
    """This is the canonical text: a whole number with the largest suffix that needs no fraction."""
    step = 0
    while milli and milli % _THOUSAND == 0 and step < len(_SUFFIXES) - 1:
        milli //= _THOUSAND
        step += 1
    return f"{milli}{_SUFFIXES[step]}" if milli else "0"


def render_binary(milli: int) -> str:
    """This is the canonical text of an amount of memory: powers of 1024, where no fraction is lost.

    Below 1 KiB, and with a fraction, decimal as `render`.
    """
    amount, fraction = divmod(milli, _THOUSAND)
    if fraction or abs(amount) < _KIBI:
        return render(milli)
    step = 0
    while amount % _KIBI == 0 and step < len(_BINARY_SUFFIXES) - 1:
        amount //= _KIBI
        step += 1
    return f"{amount}{_BINARY_SUFFIXES[step]}"


# From here on: reading what others write.

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_QUANTITY = re.compile(r"([-+]?+)0*+([0-9]*+)(?:\.([0-9]*+))?+([eEinumkKMGTP]*+[-+]?+[0-9]*+)")
_EXPONENT = re.compile("[eE]([-+]?[0-9]+)")

MAX_CHARACTERS = 4096
"""Of a text to read; Python refuses to turn many more digits into a number."""

_MAX_EXPONENT = 2**31
"""Go keeps exponents in 32 bits; for those that do not fit, it computes for ever."""

_NANO = 9
"""The finest unit that a quantity has, as a count of decimals."""

_SHORT_DIGITS = 18
_SHORT_BINARY_DIGITS = 15
"""Go keeps a number of so many digits in 64 bits, others as a big decimal; the two round differently."""

_WRAPPING_STEPS = (1, 2, 3, 6, 9)
"""Powers of ten by which Go multiplies at once, and so wraps around; with any other an overflow gives 0."""

_EMPTY_POWER = 64
"""10**64 is a multiple of 2**64: nothing of so large a number is left in 64 bits."""


@dataclass(frozen=True, slots=True)
class _Written:
    """A quantity's text, taken apart."""

    negative: bool
    digits: str
    decimals: str
    exponent: int
    binary_exponent: int | None
    has_digits: bool

    @property
    def mantissa(self) -> int:
        return int(self.digits + self.decimals or "0")


def parse(text: str) -> int:
    """This is a quantity in thousandths, exactly as Go's MilliValue() has it; ValueError if `text` is none.

    Up to 18 digits a rest is rounded away from zero, otherwise up. What is beyond MAX_MILLI wraps around or
    gives 0, since that is the number with which the autoscaler goes on.
    """
    written = _take_apart(text)
    return _milli_of_short(written) if _is_short(written) else _milli_of_long(written)


def _take_apart(text: str) -> _Written:
    found = _QUANTITY.fullmatch(text) if 0 < len(text) <= MAX_CHARACTERS else None
    if found is None:
        raise ValueError(FORMAT_WRONG)
    sign, digits, decimals, suffix = found.groups(default="")
    exponent, binary_exponent = _DECIMAL.get(suffix), _BINARY.get(suffix)
    if exponent is None and binary_exponent is None:
        exponent = _exponent(suffix)
    has_digits = any(map(str.isdigit, text[: found.start(4)]))
    return _Written(sign == "-", digits or "0", decimals, exponent or 0, binary_exponent, has_digits)


def _exponent(suffix: str) -> int:
    found = _EXPONENT.fullmatch(suffix)
    if found is None or abs(exponent := int(found[1])) >= _MAX_EXPONENT:
        raise ValueError(SUFFIX_WRONG)
    return exponent


def _is_short(written: _Written) -> bool:
    if written.binary_exponent is None:
        length = len(written.digits) + len(written.decimals)
        return length <= _SHORT_DIGITS and written.exponent - len(written.decimals) >= -_NANO
    # About three digits for every ten bits of the suffix, and one to be safe.
    room = _SHORT_BINARY_DIGITS - written.binary_exponent * 3 // 10 - 1
    return not written.decimals and len(written.digits) <= room


def _milli_of_short(written: _Written) -> int:
    value = written.mantissa << (written.binary_exponent or 0)
    steps = written.exponent - len(written.decimals) + 3
    if not value or steps > _EMPTY_POWER:
        return 0
    value = _shift(value, steps)
    if value > MAX_MILLI and steps not in _WRAPPING_STEPS:
        return 0
    return _wrap(-value if written.negative else value)


def _milli_of_long(written: _Written) -> int:
    if not written.has_digits:
        raise ValueError(NUMBER_WRONG)
    value = written.mantissa << (written.binary_exponent or 0)
    steps = written.exponent - len(written.decimals) + _NANO
    if not value or steps > _EMPTY_POWER + _NANO:
        return 0
    nano = _shift(value, steps)
    if written.binary_exponent is not None and nano > MAX_MILLI * 10**_NANO:
        return _wrap(MAX_MILLI * (-1000 if written.negative else 1000))
    return _milli_of_nano(-nano if written.negative else nano)


def _shift(value: int, steps: int) -> int:
    """This is value * 10**steps of a positive value, a rest rounded up; steps may be very far below zero."""
    if steps >= 0:
        return value * _power(steps)
    return -(-value // _power(-steps)) if -steps < MAX_CHARACTERS else 1


def _power(steps: int) -> int:
    return int(10**steps)


def _milli_of_nano(nano: int) -> int:
    """Go's scaledValue(): a negative number is cut to 64 bits, then rounded up like a positive one."""
    divisor = _power(_NANO - 3)
    if nano < MAX_MILLI:
        nano = _wrap(nano)
        quotient = abs(nano) // divisor
        return (-quotient if nano < 0 else quotient) + (nano % divisor != 0)
    quotient, rest = divmod(nano, divisor)
    return _wrap(_wrap(quotient) + (rest != 0))


def _wrap(number: int) -> int:
    """This is what 64 bits keep of a number."""
    return (number + 2**63) % 2**64 - 2**63
