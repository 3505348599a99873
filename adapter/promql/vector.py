"""What a backend answers, as samples: Prometheus's JSON envelope, read strictly.

Whatever the bytes are, what comes out is a Result, NotAnAnswer or Refused.
"""

import math
import re
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Final

import msgspec

from adapter import errors

NAME_LABEL = "__name__"
_INFO_PREFIX = "PromQL info"
"""Servers that do not know the member `infos` send them among the warnings, so marked."""
_VALUE_CHARACTERS = 32
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?").fullmatch
_DECIMAL_BYTES = b"0123456789+-.eE,"
_SPECIAL = {"NaN": math.nan, "+Inf": math.inf, "-Inf": -math.inf}

YEAR_10000: Final = 253_402_300_800.0
"""The first second that no time stamp of an answer can say. Before 1970 nobody measured anything either."""

STEP_BYTES: Final = 256 * 1024
"""How much of a listing is read at a time: about 2 ms. All of a large one at once would stop the loop for 0.4 s."""

_CUTS_TRIED: Final = 16
"""Places looked at for the end of a step. The last one fits, unless label values look like JSON."""

_TO_SERIES = re.compile(
    rb"""\s*+\{\s*+
    (?: "(?!data")\w++" \s*+:\s*+ (?: "(?:[^"\\]|\\.)*+" | [\w.+-]++ ) \s*+,\s*+ )*+
    "data" \s*+:\s*+ \[""",
    re.VERBOSE,
).match
"""The envelope up to the first series, where nothing but simple members goes before the data."""

_BETWEEN_SERIES = b'},{"'
"""As all known backends write it; a listing with blanks here is read in one go."""

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
    """An answer. Only vectors and scalars have samples; native histograms are counted, mere infos left out."""

    kind: str
    samples: tuple[Sample, ...]
    warnings: tuple[str, ...]
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


class _Series(_Status, rename="camel"):
    data: list[msgspec.Raw] | None = None


_read_status = msgspec.json.Decoder(_Status).decode
_read_answer = msgspec.json.Decoder(_Answer).decode
_read_series = msgspec.json.Decoder(_Series).decode
_read_numbers = msgspec.json.Decoder(list[float]).decode
_read_labels = msgspec.json.Decoder(dict[str, str]).decode
_read_step = msgspec.json.Decoder(list[dict[str, str]]).decode
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
    warnings = (one for one in answer.warnings or () if not one.startswith(_INFO_PREFIX))
    kind, samples, histograms = _samples(body, answer.data)
    return Result(kind, tuple(samples), tuple(warnings), histograms)


def decode_series(body: bytes) -> Generator[None, None, tuple[SeriesShape, ...]]:
    """This reads a series listing in steps; what it returns is each shape once, at the place of its last series.

    It yields after each step, so that who drives it can let others have their turn. The labels of a step are
    forgotten with it: what is kept grows with the shapes only.
    """
    shapes = _Shapes()
    rest = yield from _all_but_the_last_step(body, shapes)
    try:
        answer = _read_series(rest)
        _check(rest, answer)
        if answer.data is None:
            raise NotAnAnswer(rest, "a listing without data")
        shapes.note(map(_read_labels, answer.data))
    except _UNREADABLE as problem:
        raise _unreadable(rest, str(problem)) from None
    return shapes.in_order()


class _Shapes:
    """Names with their label names, in the order that the backend writes them, and the place of the last of each."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, ...], int] = {}
        self._count = 0

    def note(self, series: Iterable[dict[str, str]]) -> None:
        """These are the next series."""
        for labels in series:
            self._count += 1
            if name := labels.get(NAME_LABEL):
                self._places[name, *labels] = self._count

    def in_order(self) -> tuple[SeriesShape, ...]:
        """Each shape once, whatever the order of its labels."""
        last: dict[SeriesShape, int] = {}
        for (name, *labels), place in self._places.items():
            shape = SeriesShape(name, frozenset(labels) - {NAME_LABEL})
            last[shape] = max(place, last.get(shape, 0))
        return tuple(sorted(last, key=last.__getitem__))


def _all_but_the_last_step(body: bytes, shapes: _Shapes) -> Generator[None, None, bytes]:
    """Read and yield while more than a step is left; what remains is the same envelope with the other series."""
    envelope = _TO_SERIES(body, 0, STEP_BYTES)
    if not envelope:
        return body
    at = envelope.end()
    while len(body) - at > STEP_BYTES and (found := _step(body, at)):
        series, at = found
        shapes.note(series)
        yield
    return envelope[0] + body[at:]


def _step(body: bytes, start: int) -> tuple[list[dict[str, str]], int] | None:
    """The series of the step at `start`, and where the next begins; None where no end of it is found.

    A label's value may look like the place between two series. Then what goes before it does not read as series.
    """
    place = start + STEP_BYTES
    for _ in range(_CUTS_TRIED):
        place = body.rfind(_BETWEEN_SERIES, start, place)
        if place < 0:
            break
        try:
            return _read_step(b"[%b]" % body[start : place + 1]), place + 2
        except _UNREADABLE:
            continue
    return None


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
                return "scalar", [Sample({}, _number(text), _moment(time))], 0
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
    return list(map(Sample, labels, numbers, [_moment(time) for time, _ in pairs])), histograms


def _moment(time: float) -> float:
    """A sample's time, which must be one that an answer can say."""
    if 0 <= time < YEAR_10000:
        return time
    raise ValueError("a sample whose time is of no calendar")


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
