"""What a backend answers, as samples: Prometheus's JSON envelope, read strictly.

Whatever the bytes are, what comes out is a Result, NotAnAnswer or Refused.
"""

import math
import re
from dataclasses import dataclass

import msgspec

from adapter import errors

NAME_LABEL = "__name__"
_INFO_PREFIX = "PromQL info"
"""Servers that do not know the member `infos` send them among the warnings, so marked."""
_VALUE_CHARACTERS = 32
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?").fullmatch
_DECIMAL_BYTES = b"0123456789+-.eE,"
_SPECIAL = {"NaN": math.nan, "+Inf": math.inf, "-Inf": -math.inf}


_PROBLEM_CHARACTERS = 160
"""How much is kept of what msgspec says: it may quote the body."""


class NotAnAnswer(ValueError):
    """The body is no Prometheus envelope. The message shows its beginning."""

    def __init__(self, body: bytes, problem: str) -> None:
        beginning = errors.shown(body[: errors.SHOWN_CHARACTERS + 1].decode("latin-1"))
        super().__init__(f"{problem.encode('unicode_escape').decode()[:_PROBLEM_CHARACTERS]}: {beginning}")


class Refused(ValueError):
    """The backend answered that it will not: `status` is error."""

    def __init__(self, error_type: str, message: str) -> None:
        super().__init__(f"{error_type}: {message}" if error_type else message)
        self.error_type = error_type
        self.message = message


class Sample(msgspec.Struct, frozen=True, gc=False):
    """One value: its labels, and the time in seconds that the backend gives it."""

    labels: dict[str, str]
    value: float
    time: float


@dataclass(frozen=True)
class Result:
    """An answer. Only vectors and scalars have samples; native histograms are counted and left out."""

    kind: str
    samples: tuple[Sample, ...]
    warnings: tuple[str, ...]
    infos: tuple[str, ...]
    histograms: int


@dataclass(frozen=True, slots=True)
class SeriesShape:
    """What series of one metric with the same labels have in common: the names, never the values."""

    name: str
    labels: frozenset[str]


_Pair = tuple[float, str]


class _Element(msgspec.Struct, gc=False):
    metric: dict[str, str] | None = None
    value: _Pair | msgspec.UnsetType = msgspec.UNSET
    histogram: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Vector(msgspec.Struct, tag_field="resultType", tag="vector"):
    result: list[_Element] | None


class _Scalar(msgspec.Struct, tag_field="resultType", tag="scalar"):
    result: _Pair


class _Text(msgspec.Struct, tag_field="resultType", tag="string"):
    result: _Pair


class _Matrix(msgspec.Struct, tag_field="resultType", tag="matrix"):
    result: msgspec.Raw


class _Status(msgspec.Struct, rename="camel"):
    status: str
    error_type: str = ""
    error: str = ""


class _Answer(_Status, rename="camel"):
    data: _Vector | _Scalar | _Text | _Matrix | None = None
    warnings: list[str] | None = None
    infos: list[str] | None = None


class _Series(_Status, rename="camel"):
    data: list[msgspec.Raw] | None = None


_read_status = msgspec.json.Decoder(_Status).decode
_read_answer = msgspec.json.Decoder(_Answer).decode
_read_series = msgspec.json.Decoder(_Series).decode
_read_numbers = msgspec.json.Decoder(list[float]).decode
_read_labels = msgspec.json.Decoder(dict[str, str]).decode
_UNREADABLE = (msgspec.MsgspecError, RecursionError, UnicodeError)
"""What msgspec raises on foreign bytes: RecursionError on a thousand nested lists."""


def decode(body: bytes) -> Result:
    """This is the answer to an instant query."""
    try:
        answer = _read_answer(body)
    except _UNREADABLE as problem:
        raise _unreadable(body, str(problem)) from None
    _check(body, answer)
    if answer.data is None:
        raise NotAnAnswer(body, "an answer without data")
    warnings = answer.warnings or []
    infos = [one for one in warnings if one.startswith(_INFO_PREFIX)] + (answer.infos or [])
    warnings = [one for one in warnings if not one.startswith(_INFO_PREFIX)]
    kind, samples, histograms = _samples(body, answer.data)
    return Result(kind, tuple(samples), tuple(warnings), tuple(infos), histograms)


def decode_series(body: bytes) -> tuple[SeriesShape, ...]:
    """This is the answer to a series listing: each shape once, at the place of its last series.

    The labels are read series by series and forgotten at once: what is kept grows with the shapes only.
    """
    try:
        answer = _read_series(body)
        _check(body, answer)
        if answer.data is None:
            raise NotAnAnswer(body, "a listing without data")
        places = _places(answer.data)
    except _UNREADABLE as problem:
        raise _unreadable(body, str(problem)) from None
    last: dict[SeriesShape, int] = {}
    for (name, *labels), place in places.items():
        shape = SeriesShape(name, frozenset(labels) - {NAME_LABEL})
        last[shape] = max(place, last.get(shape, 0))
    return tuple(sorted(last, key=last.__getitem__))


def _places(series: list[msgspec.Raw]) -> dict[tuple[str, ...], int]:
    """The last place of each name with its label names, in the order that the backend writes them."""
    found: dict[tuple[str, ...], int] = {}
    for place, raw in enumerate(series):
        labels = _read_labels(raw)
        if name := labels.get(NAME_LABEL):
            found[name, *labels] = place
    return found


def _unreadable(body: bytes, problem: str) -> NotAnAnswer | Refused:
    """A refusal counts, whatever else is wrong with its body."""
    try:
        status = _read_status(body)
    except _UNREADABLE:
        return NotAnAnswer(body, problem)
    if status.status == "error":
        return Refused(status.error_type, status.error)
    return NotAnAnswer(body, problem)


def _check(body: bytes, answer: _Status) -> None:
    if answer.status == "error":
        raise Refused(answer.error_type, answer.error)
    if answer.status != "success":
        raise NotAnAnswer(body, "an answer of unknown status")


def _samples(body: bytes, data: _Vector | _Scalar | _Text | _Matrix) -> tuple[str, list[Sample], int]:
    try:
        match data:
            case _Vector():
                return "vector", *_vector(data.result or [])
            case _Scalar(result=(time, text)):
                return "scalar", [Sample({}, _number(text), time)], 0
    except ValueError as problem:
        raise NotAnAnswer(body, str(problem)) from None
    return "string" if isinstance(data, _Text) else "matrix", [], 0


def _vector(elements: list[_Element]) -> tuple[list[Sample], int]:
    """The samples, and how many native histograms stand between them."""
    pairs = [one.value for one in elements if one.value is not msgspec.UNSET]
    histograms = len(elements) - len(pairs)
    if histograms:
        if any(one.value is msgspec.UNSET and one.histogram is msgspec.UNSET for one in elements):
            raise ValueError("a sample without a value")
        elements = [one for one in elements if one.value is not msgspec.UNSET]
    labels = [one.metric or {} for one in elements]
    numbers = _numbers([text for _, text in pairs])
    return list(map(Sample, labels, numbers, [time for time, _ in pairs])), histograms


def _numbers(texts: list[str]) -> list[float]:
    """Fifty thousand values as one JSON array take a tenth of the time: tried if all look like JSON numbers."""
    joined = ",".join(texts).encode()
    if not joined.translate(None, _DECIMAL_BYTES):
        try:
            numbers = _read_numbers(b"[%b]" % joined)
        except msgspec.MsgspecError:  # `+1`, `.5`, or too large: one by one
            numbers = []
        if len(numbers) == len(texts):
            return numbers
    return list(map(_number, texts))


def _number(text: str) -> float:
    """A value as Prometheus writes it; Python's float() takes more: blanks, underscores, `infinity`."""
    if _DECIMAL(text):
        value = float(text)
        if not math.isinf(value):
            return value
    elif text in _SPECIAL:
        return _SPECIAL[text]
    raise ValueError(f"a value that is no number: {text[:_VALUE_CHARACTERS]}")
