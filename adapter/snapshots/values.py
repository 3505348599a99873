"""From a result to one value per object, and why the others have none. Pure.

A sample counts only for an object that was asked for, in the namespace that was asked for. What is no number,
or more than one, is no value (docs/design.md D4): what happens then is the rule's policy.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from adapter import errors
from adapter.promql.vector import Result, Sample
from adapter.rulebook.model import Policy
from adapter.wire import quantity

MIN_INT64: Final = -(2**63)
"""What Go on amd64 makes of every float64 that no int64 can hold; upstream's answer, with "wrap" only."""

_REASONS: Final = {"TooLarge": "too_large", "Ambiguous": "ambiguous"}
"""Words of adapter_values_dropped_total by cause; NotFinite has two, see _reason()."""

_RANKS: Final = ("NotFinite", "TooLarge", "Ambiguous", "Histogram", "NoSample", "ObjectHasNoValue")
"""Which of equally frequent causes speaks for all objects: the one that most surely needs a person."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for: these objects (None: all that the result names), told apart by `label`.

    Rows whose `namespace_label` names another namespace than `namespace` are foreign.
    """

    names: Sequence[str] | None
    label: str
    namespace: str | None = None
    namespace_label: str | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """The value of one object, in thousandths, and the backend's time of it, in seconds since 1970."""

    milli: int
    time: float


@dataclass(frozen=True, slots=True)
class Judged:
    """Values by object; for objects without one the cause word; samples left out, by reason."""

    values: Mapping[str, Value]
    missing: Mapping[str, str]
    dropped: Counter[str]

    def main_cause(self) -> str:
        """The cause that most of the missing objects have."""
        counts = Counter(self.missing.values())
        return max(_RANKS, key=lambda cause: counts[cause])


def by_object(result: Result, asked: Asked, policy: Policy) -> Judged:
    """The values of `asked` in `result`.

    Raises RuleRejected if the result is no vector, and NoValue for NaN and infinity if the policy says so.
    """
    if result.kind != "vector":
        raise errors.RuleRejected(
            f"{errors.NO_METRICS}: the rule's query gives a {result.kind}, not a vector"
        )
    rows, dropped = _sorted_out(result, asked)
    values: dict[str, Value] = {}
    missing = dict.fromkeys(asked.names or (), _nothing(result))
    for name, samples in rows.items():
        verdict = _verdict(samples, policy)
        if isinstance(verdict, Value):
            values[name] = verdict
            missing.pop(name, None)
        else:
            missing[name] = verdict
            dropped[_REASONS.get(verdict) or _reason(samples)] += len(samples)
    return Judged(values, missing, dropped)


def milli(value: float, policy: Policy) -> int | str:
    """`value` in thousandths, truncated toward zero, or the cause word of why it is none.

    Raises NoValue if it is not finite and the policy calls that an error.
    """
    if not math.isfinite(value):
        return _not_finite(value, policy)
    found = quantity.milli(value)
    if found is not None:
        return found
    if policy.on_overflow == "saturate":
        return quantity.MAX_MILLI if value > 0 else -quantity.MAX_MILLI
    return MIN_INT64 if policy.on_overflow == "wrap" else "TooLarge"


def _not_finite(value: float, policy: Policy) -> int | str:
    if policy.on_nan == "error":
        raise errors.NoValue(f"{errors.NO_METRICS}: a value is not finite", cause="NotFinite")
    if policy.on_nan == "drop":
        return "NotFinite"
    return MIN_INT64 if math.isinf(value) and policy.on_overflow == "wrap" else 0


def _sorted_out(result: Result, asked: Asked) -> tuple[dict[str, list[Sample]], Counter[str]]:
    """Samples by object, and how many are left out for reasons other than their value."""
    names = None if asked.names is None else frozenset(asked.names)
    rows: dict[str, list[Sample]] = {}
    dropped: Counter[str] = Counter()
    if result.histograms:
        dropped["histogram"] = result.histograms
    for sample in result.samples:
        name = sample.labels.get(asked.label, "")
        if not name:
            dropped["unlabelled"] += 1
        elif (names is not None and name not in names) or _elsewhere(sample, asked):
            dropped["foreign"] += 1
        else:
            rows.setdefault(name, []).append(sample)
    return rows, dropped


def _elsewhere(sample: Sample, asked: Asked) -> bool:
    if asked.namespace is None or asked.namespace_label is None:
        return False
    return sample.labels.get(asked.namespace_label, asked.namespace) != asked.namespace


def _nothing(result: Result) -> str:
    """Why an object has no row."""
    if result.samples:
        return "ObjectHasNoValue"
    return "Histogram" if result.histograms else "NoSample"


def _verdict(samples: Sequence[Sample], policy: Policy) -> Value | str:
    """The value that the samples of one object stand for, or the cause word of why they stand for none.

    Several are made one before they are judged: a NaN among them is never silently left out of a sum.
    """
    if len(samples) > 1 and policy.on_duplicate == "drop":
        return "Ambiguous"
    if len(samples) == 1 or policy.on_duplicate == "last":
        number, time = samples[-1].value, samples[-1].time
    else:
        number = _combined([sample.value for sample in samples], policy.on_duplicate)
        time = min(sample.time for sample in samples)
    found = milli(number, policy)
    return found if isinstance(found, str) else Value(found, time)


def _combined(numbers: Sequence[float], how: str) -> float:
    """Their sum or maximum, the same in whatever order they come."""
    for number in numbers:
        if math.isnan(number):
            return number
    if how == "max":
        return max(numbers)
    infinities = [number for number in numbers if math.isinf(number)]
    if infinities:
        return sum(infinities)
    exact = sum(map(Fraction, numbers), start=Fraction())
    try:
        return float(exact)
    except OverflowError:  # finite summands, a sum beyond float64: too large, but not infinite
        return float(quantity.MAX_MILLI if exact > 0 else -quantity.MAX_MILLI)


def _reason(samples: Sequence[Sample]) -> str:
    return "nan" if any(math.isnan(sample.value) for sample in samples) else "infinite"
