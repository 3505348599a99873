"""Numbers as Go's fmt writes them: base, sign, width, precision and the flags between % and the verb."""

import math
import struct
from dataclasses import dataclass, replace

from adapter.promql import gostrings

_BASES = {"b": 2, "o": 8, "O": 8, "d": 10, "v": 10, "x": 16, "X": 16}
_FORMS = {2: "b", 8: "o", 10: "d", 16: "x"}
_DEFAULT_PRECISION = 6
_LEAST_POWER = -4
"""From here up to the default precision %g writes no exponent."""
_MANTISSA_BITS, _BIAS, _MAX_BIASED = 52, 1023, 0x7FF
_HEX_DIGITS = 15
"""What %x shows of a mantissa at most, four bits each, with the leading one at bit 60."""


@dataclass(slots=True)
class Flags:
    """What stands between % and the verb. `plus_v` and `sharp_v` are + and # of a %v: names, and Go syntax."""

    minus: bool = False
    plus: bool = False
    sharp: bool = False
    space: bool = False
    zero: bool = False
    plus_v: bool = False
    sharp_v: bool = False
    width: int | None = None
    precision: int | None = None


def pad(flags: Flags, text: str, *, zero: bool | None = None) -> str:
    """Widens a text: with blanks behind it, or with blanks or zeros before it."""
    missing = (flags.width or 0) - len(text)
    if missing <= 0:
        return text
    if flags.minus:
        return text + " " * missing
    return ("0" if (flags.zero if zero is None else zero) else " ") * missing + text


def integer(flags: Flags, value: int, verb: str) -> str:
    """%d %b %o %O %x %X."""
    base = _BASES[verb]
    digits = format(abs(value), _FORMS[base])
    precision = 0
    if flags.precision is not None:
        precision = flags.precision
        if precision == 0 and value == 0:  # nothing but padding
            return " " * (flags.width or 0)
    elif flags.zero and not flags.minus and flags.width is not None:
        precision = flags.width - (value < 0 or flags.plus or flags.space)
    digits = digits.rjust(precision, "0")
    if flags.sharp:
        digits = _prefix(base, digits) + digits
    if verb == "O":
        digits = "0o" + digits
    digits = digits.upper() if verb == "X" else digits
    return pad(flags, _sign(flags, negative=value < 0) + digits, zero=False)


def _prefix(base: int, digits: str) -> str:
    octal = "" if digits.startswith("0") else "0"
    return {2: "0b", 8: octal, 16: "0x"}.get(base, "")


def _sign(flags: Flags, *, negative: bool) -> str:
    if negative:
        return "-"
    return "+" if flags.plus else " " if flags.space else ""


def code_point(flags: Flags, value: int) -> str:
    """%U: U+0041, and with # the character behind it."""
    shown = flags.sharp and gostrings.is_printable(value)
    digits = format(value % 2**64, "X").rjust(max(flags.precision or 0, 4), "0")
    return pad(flags, f"U+{digits}" + (f" '{chr(value)}'" if shown else ""), zero=False)


def character(flags: Flags, value: int) -> str:
    """%c."""
    valid = 0 <= value <= gostrings.MAX_RUNE and not gostrings.is_surrogate(value)
    return pad(flags, chr(value if valid else gostrings.REPLACEMENT))


def floating(flags: Flags, value: float, verb: str) -> str:
    """%e %E %f %F %g %G %b %x %X, and %v as %g."""
    verb = {"v": "g", "F": "f"}.get(verb, verb)
    precision = flags.precision
    if precision is None:
        precision = _DEFAULT_PRECISION if verb in "efE" else -1
    number = _plain(value, verb, precision)
    number = number if number[0] in "+-" else "+" + number
    if flags.space and number[0] == "+" and not flags.plus:
        number = " " + number[1:]
    if not math.isfinite(value):
        bare = math.isnan(value) and not flags.space and not flags.plus
        return pad(flags, _unsigned(flags, number[1:] if bare else number), zero=False)
    if flags.sharp and verb != "b":
        number = number[0] + _with_point(number[1:], verb, precision)
    if (
        flags.zero and not flags.minus and (flags.plus or number[0] != "+")
    ):  # the sign stands before the zeros
        return number[0] + pad(replace(flags, width=max((flags.width or 0) - 1, 0)), number[1:])
    return pad(flags, _unsigned(flags, number))


def _unsigned(flags: Flags, number: str) -> str:
    """Leaves out a plus that nobody asked for; an infinity keeps it."""
    return number[1:] if number[0] == "+" and not flags.plus and number[1:] != "Inf" else number


def complex_number(flags: Flags, value: complex, verb: str) -> str:
    """Both parts by the same verb, the second always with its sign."""
    return f"({floating(flags, value.real, verb)}{floating(replace(flags, plus=True), value.imag, verb)}i)"


def _plain(value: float, verb: str, precision: int) -> str:
    """Go's strconv.FormatFloat."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if verb in "bxX":
        text = _binary(value) if verb == "b" else _hexadecimal(value, precision)
        return text.upper() if verb == "X" else text
    if precision < 0:
        return _shortest(value, verb)
    return f"{value:.{precision}{verb}}"


def _shortest(value: float, verb: str) -> str:
    """%g without a precision: the fewest digits that mean this number, and an exponent from 1e+06 or to 1e-05."""
    sign = "-" if math.copysign(1, value) < 0 else ""
    digits, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = digits.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(exponent or 0)
    significant = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(significant)
    significant = significant.rstrip("0")
    return sign + _laid_out(significant or "0", point if significant else 1, verb)


def _laid_out(digits: str, point: int, verb: str) -> str:
    power = point - 1
    if not _LEAST_POWER <= power < _DEFAULT_PRECISION:
        mark = "E" if verb == "G" else "e"
        return digits[0] + ("." + digits[1:] if digits[1:] else "") + f"{mark}{power:+03d}"
    if point <= 0:
        return "0." + "0" * -point + digits
    return digits[:point].ljust(point, "0") + ("." + digits[point:] if digits[point:] else "")


def _parts(value: float) -> tuple[str, int, int]:
    """Sign, mantissa and exponent of two, as the bits have them."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    exponent, mantissa = bits >> _MANTISSA_BITS & _MAX_BIASED, bits & (1 << _MANTISSA_BITS) - 1
    if exponent:
        mantissa |= 1 << _MANTISSA_BITS
    return "-" * (bits >> 63), mantissa, max(exponent, 1) - _BIAS


def _binary(value: float) -> str:
    sign, mantissa, exponent = _parts(value)
    return f"{sign}{mantissa}p{exponent - _MANTISSA_BITS:+d}"


def _hexadecimal(value: float, precision: int) -> str:
    sign, mantissa, exponent = _parts(value)
    if not mantissa:
        exponent = 0
    shift = _MANTISSA_BITS + 1 - mantissa.bit_length() if mantissa else 0
    mantissa, exponent = mantissa << shift + 8, exponent - shift
    if 0 <= precision < _HEX_DIGITS:  # round to even
        unit = 1 << 60 - 4 * precision
        quotient, rest = divmod(mantissa, unit)
        mantissa = (quotient + (rest > unit // 2 or (rest == unit // 2 and quotient % 2 == 1))) * unit
        if mantissa >> 61:
            mantissa, exponent = mantissa >> 1, exponent + 1
    digits = f"{mantissa & (1 << 60) - 1:015x}"
    digits = digits.rstrip("0") if precision < 0 else digits[:precision].ljust(precision, "0")
    return f"{sign}0x{mantissa >> 60}{'.' + digits if digits else ''}p{exponent:+03d}"


def _with_point(number: str, verb: str, precision: int) -> str:
    """The # flag: always a point, and for %g and %x the zeros that were left out."""
    wanted = 0
    if verb in "gGx":
        wanted = _DEFAULT_PRECISION if precision == -1 else precision
    mark = "p" if verb in "xX" else "e"
    cut = number.lower().find(mark)
    digits, tail = (number, "") if cut < 0 else (number[:cut], number[cut:])
    significant = digits.replace(".", "").lstrip("0")  # Go counts the x of 0x too
    missing = wanted - len(significant)
    if "." not in digits:
        missing -= digits == "0"
        digits += "."
    return digits + "0" * missing + tail
