"""Times and durations as Kubernetes, Go and Prometheus write them; inside the program they are seconds."""

import re
from datetime import UTC, datetime, timedelta

from adapter import errors

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "\u00b5s": 1_000,  # micro sign
    "\u03bcs": 1_000,  # Greek letter mu
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_SECOND = 1_000_000_000
_MAX_NANOSECONDS = 2**63 - 1
_GO_PART = re.compile(r"0*([0-9]*)(?:\.([0-9]*))?([^0-9.]*)")
_MAX_FRACTION = _MAX_NANOSECONDS // 10

_DAY = 86_400_000
_MILLISECONDS = {"y": 365 * _DAY, "w": 7 * _DAY, "d": _DAY, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_PROMETHEUS = re.compile("".join(f"(?:0*+([0-9]*+)(?<=[0-9]){unit})?" for unit in _MILLISECONDS))
_MAX_DIGITS = 20
"""So many digits, the first not 0, are beyond 64 bits: the rest of a longer number need not be read."""


def rfc3339(seconds: float) -> str:
    """This is a time in UTC, whole seconds, the rest cut off; ValueError outside the years 1 to 9999."""
    try:
        moment = _EPOCH + timedelta(seconds=seconds // 1)
    except (OverflowError, ValueError) as error:
        raise ValueError(f"no time of a calendar: {seconds}") from error
    return moment.isoformat().removesuffix("+00:00") + "Z"


def duration(text: str) -> float:
    """This is what Go's time.ParseDuration makes of `text`, in seconds; ValueError with Go's words."""
    negative = text.startswith("-")
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return 0.0
    if not rest:
        raise _invalid(text)
    total = 0
    for part in _GO_PART.finditer(rest):
        total += _nanoseconds(part, text) if part[0] else 0  # the last match is the empty end
        if total > _MAX_NANOSECONDS + negative:
            raise _invalid(text)
    return (-total if negative else total) / _SECOND


def prometheus_duration(text: str) -> float:
    """This is a duration as Prometheus writes it (1h30m, 1w2d5ms, 0), in seconds; ValueError otherwise."""
    if text == "0":
        return 0.0
    found = _PROMETHEUS.fullmatch(text)
    if not text or not found:
        raise ValueError(f'not a duration such as 30s, 5m or 1h30m: "{errors.shown(text)}"')
    counts = map(_number, found.groups(default=""))
    total = sum(count * unit for count, unit in zip(counts, _MILLISECONDS.values(), strict=True))
    if total * (_SECOND // 1_000) > _MAX_NANOSECONDS:
        raise ValueError(f'longer than 292 years: "{errors.shown(text)}"')
    return total / 1_000


def go_duration(seconds: float) -> str:
    """This is a duration as Go writes it: 5m0s, 1.5s, 300ms, 0s."""
    nanoseconds = round(abs(seconds) * _SECOND)
    sign = "-" if seconds < 0 and nanoseconds else ""
    return sign + (_short(nanoseconds) if nanoseconds < _SECOND else _long(nanoseconds))


def _nanoseconds(part: re.Match[str], text: str) -> int:
    whole, decimals, unit = part.groups(default="")
    if not part[0].strip(".")[:1].isdigit() or _number(whole) > _MAX_NANOSECONDS + 1:
        raise _invalid(text)
    if not unit:
        raise ValueError(f"time: missing unit in duration {_quoted(text)}")
    if unit not in _NANOSECONDS:
        raise ValueError(f"time: unknown unit {_quoted(unit)} in duration {_quoted(text)}")
    return _number(whole) * _NANOSECONDS[unit] + _fraction(decimals, _NANOSECONDS[unit])


def _number(digits: str) -> int:
    """This is a count; of one that is out of range anyway no more than needed to see it."""
    return int(digits[:_MAX_DIGITS] or 0)


def _fraction(decimals: str, unit: int) -> int:
    """Go's arithmetic: the digits that fit into 64 bits, then floats, then cut off."""
    value, scale = 0, 1.0
    for digit in decimals:
        longer = value * 10 + int(digit)
        if value > _MAX_FRACTION or longer > _MAX_NANOSECONDS:
            break
        value, scale = longer, scale * 10
    return int(float(value) * (float(unit) / scale))


def _invalid(text: str) -> ValueError:
    return ValueError(f"time: invalid duration {_quoted(text)}")


def _quoted(text: str) -> str:
    r"""As package time quotes: what is not ASCII, byte by byte as \xNN."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if " " <= character <= "\x7f":
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))


def _short(nanoseconds: int) -> str:
    for unit, name in ((1_000_000, "ms"), (1_000, "\u00b5s"), (1, "ns")):
        if nanoseconds >= unit:
            return _decimal(nanoseconds, unit) + name
    return "0s"


def _long(nanoseconds: int) -> str:
    minutes, rest = divmod(nanoseconds, 60 * _SECOND)
    seconds = _decimal(rest, _SECOND) + "s"
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds


def _decimal(number: int, unit: int) -> str:
    """This is number / unit, exact, without trailing zeros; unit is a power of ten."""
    whole, rest = divmod(number, unit)
    decimals = str(unit + rest)[1:].rstrip("0")
    return f"{whole}.{decimals}" if decimals else str(whole)
