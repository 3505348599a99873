"""From a result to one value per object, and why the others have none."""

import itertools
import math
import random
import struct
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter import errors
from adapter.promql.vector import Result, Sample
from adapter.rulebook.model import Policy
from adapter.snapshots import values
from adapter.snapshots.values import MIN_INT64, Asked, Value

DEFAULTS, UPSTREAM = Policy.DEFAULTS, Policy.UPSTREAM
NAN, INF = math.nan, math.inf
MAX_MILLI = 2**63 - 1
BEYOND = 9.3e15


def _result(*rows: tuple[dict[str, str], float], kind: str = "vector", histograms: int = 0) -> Result:
    samples = tuple(Sample(labels, value, 1000.0 + number) for number, (labels, value) in enumerate(rows))
    return Result(kind=kind, samples=samples, warnings=(), histograms=histograms)


def _pods(**numbers: float) -> Result:
    return _result(*(({"pod": name}, number) for name, number in numbers.items()))


def _judge(
    result: Result, *names: str, policy: Policy = DEFAULTS, namespace: str | None = None
) -> values.Judged:
    asked = Asked(names or ("a", "b"), "pod", namespace, None if namespace is None else "ns")
    return values.by_object(result, asked, policy)


def _milli(judged: values.Judged) -> dict[str, int]:
    return {name: value.milli for name, value in judged.values.items()}


def test_values_are_thousandths_with_the_time_of_their_sample():
    """Truncated toward zero, as upstream does; the time is the backend's."""
    judged = _judge(_pods(a=1.5, b=-0.0019))
    assert judged.values == {"a": Value(1500, 1000.0), "b": Value(-1, 1001.0)}
    assert judged.missing == {}
    assert not judged.dropped


def test_minus_zero_is_zero():
    """There is one zero."""
    assert _milli(_judge(_pods(a=-0.0), "a")) == {"a": 0}


def test_an_object_without_a_row_has_no_value():
    """Others have one: ObjectHasNoValue."""
    judged = _judge(_pods(a=1.0))
    assert (_milli(judged), judged.missing) == ({"a": 1000}, {"b": "ObjectHasNoValue"})


def test_an_empty_result_is_no_sample():
    """Nothing at all: NoSample, for every object."""
    judged = _judge(_result())
    assert judged.missing == {"a": "NoSample", "b": "NoSample"}
    assert judged.main_cause() == "NoSample"


def test_only_histograms_are_no_value():
    """Native histograms are no number; upstream takes them for 0."""
    judged = _judge(_result(histograms=2))
    assert judged.missing == {"a": "Histogram", "b": "Histogram"}
    assert judged.dropped == {"histogram": 2}


def test_rows_without_the_label_are_counted_and_not_used():
    """A query that lost the object's label gives no values."""
    judged = _judge(_result(({}, 1.0), ({"pod": ""}, 1.0)))
    assert judged.missing == {"a": "ObjectHasNoValue", "b": "ObjectHasNoValue"}
    assert judged.dropped == {"unlabelled": 2}


def test_rows_of_others_are_foreign():
    """A name that was not asked for, and another namespace, are counted and never used."""
    judged = _judge(
        _result(
            ({"pod": "a", "ns": "mine"}, 1.0),
            ({"pod": "a", "ns": "other"}, 2.0),
            ({"pod": "x", "ns": "mine"}, 3.0),
            ({"pod": "b", "ns": "other"}, 4.0),
        ),
        namespace="mine",
    )
    assert (_milli(judged), judged.missing) == ({"a": 1000}, {"b": "ObjectHasNoValue"})
    assert judged.dropped == {"foreign": 3}


def test_rows_without_the_namespace_label_count():
    """A query grouped by the object alone has already been limited to the namespace by its matcher."""
    assert _milli(_judge(_pods(a=1.0), "a", namespace="mine")) == {"a": 1000}


def test_without_names_all_objects_of_the_result_are_meant():
    """None asks for whatever there is; nothing is missing then."""
    judged = values.by_object(_pods(a=1.0, x=2.0), Asked(None, "pod"), DEFAULTS)
    assert (_milli(judged), judged.missing) == ({"a": 1000, "x": 2000}, {})


@pytest.mark.parametrize("kind", ["scalar", "matrix", "string"])
def test_only_a_vector_has_objects(kind):
    """Another type is a fault of the rule."""
    with pytest.raises(errors.RuleRejected, match=kind):
        _judge(_result(kind=kind))


@pytest.mark.parametrize(("number", "reason"), [(NAN, "nan"), (INF, "infinite"), (-INF, "infinite")])
def test_what_is_not_finite_is_left_out(number, reason):
    """The cause is NotFinite; others keep their values."""
    judged = _judge(_pods(a=number, b=1.0))
    assert (_milli(judged), judged.missing, judged.dropped) == ({"b": 1000}, {"a": "NotFinite"}, {reason: 1})


@pytest.mark.parametrize("number", [NAN, INF, -INF])
def test_on_nan_zero_makes_it_zero(number):
    """The key covers infinities too."""
    assert _milli(_judge(_pods(a=number), "a", policy=replace(DEFAULTS, on_nan="zero"))) == {"a": 0}


def test_on_nan_error_fails_the_whole_question():
    """The cause is NotFinite; a foreign row does no such harm."""
    policy = replace(DEFAULTS, on_nan="error")
    with pytest.raises(errors.NoValue) as caught:
        _judge(_pods(a=NAN, b=1.0), policy=policy)
    assert caught.value.cause == "NotFinite"
    assert _milli(_judge(_pods(x=NAN, b=1.0), policy=policy)) == {"b": 1000}


@pytest.mark.parametrize(
    ("policy", "found"),
    [(DEFAULTS, {}), (replace(DEFAULTS, on_overflow="saturate"), MAX_MILLI), (UPSTREAM, MIN_INT64)],
)
def test_what_is_beyond_a_quantity(policy, found):
    """Dropped, the largest quantity of its sign, or what Go on amd64 makes of it."""
    judged = _judge(_pods(a=BEYOND, b=-BEYOND), policy=policy)
    if not found:
        assert judged.missing == {"a": "TooLarge", "b": "TooLarge"}
        assert judged.dropped == {"too_large": 2}
    else:
        assert _milli(judged) == {"a": found, "b": -found if found > 0 else found}


@pytest.mark.parametrize(
    ("number", "milli"), [(NAN, 0), (INF, MIN_INT64), (-INF, MIN_INT64), (1e308, MIN_INT64)]
)
def test_upstreams_values_of_what_is_no_number(number, milli):
    """NaN is 0 and all else the smallest int64, with upstream's policy only."""
    assert _milli(_judge(_pods(a=number), "a", policy=UPSTREAM)) == {"a": milli}


def _twice(*numbers: float) -> Result:
    return _result(*(({"pod": "a", "n": str(number)}, value) for number, value in enumerate(numbers)))


def test_several_rows_for_one_object_are_ambiguous():
    """No guess which one is meant."""
    judged = _judge(_twice(1.0, 2.0), "a")
    assert (judged.values, judged.missing, judged.dropped) == ({}, {"a": "Ambiguous"}, {"ambiguous": 2})


@pytest.mark.parametrize(("how", "milli"), [("last", 3000), ("sum", 6000), ("max", 3000)])
def test_the_rule_says_what_several_rows_mean(how, milli):
    """Last one, sum or maximum."""
    assert _milli(_judge(_twice(1.0, 2.0, 3.0), "a", policy=replace(DEFAULTS, on_duplicate=how))) == {
        "a": milli
    }


def test_last_is_the_last_in_the_order_of_the_answer():
    """As upstream takes it, with its time."""
    judged = _judge(_twice(3.0, 1.0), "a", policy=replace(DEFAULTS, on_duplicate="last"))
    assert judged.values == {"a": Value(1000, 1001.0)}


@pytest.mark.parametrize("how", ["sum", "max"])
def test_a_combined_value_is_as_old_as_its_oldest_part(how):
    """Never newer than any of its samples."""
    judged = _judge(_twice(3.0, 1.0), "a", policy=replace(DEFAULTS, on_duplicate=how))
    assert judged.values["a"].time == 1000.0


@pytest.mark.parametrize("how", ["drop", "sum", "max"])
@pytest.mark.parametrize(
    "numbers", [(1.0, NAN), (1.0, INF), (INF, -INF), (1e308, 1e308), (1e16, 1.0, -1e16), (0.1, 0.2, 0.3)]
)
def test_several_rows_mean_the_same_in_any_order(how, numbers):
    """The order of a result is the backend's whim."""
    policy = replace(DEFAULTS, on_duplicate=how)
    found = {
        (tuple(judged.missing.items()), tuple(_milli(judged).items()))
        for order in itertools.permutations(numbers)
        for judged in [_judge(_twice(*order), "a", policy=policy)]
    }
    assert len(found) == 1


@pytest.mark.parametrize(
    ("how", "numbers", "cause"),
    [
        ("sum", (1.0, NAN), "NotFinite"),
        ("max", (1.0, NAN), "NotFinite"),
        ("sum", (1.0, INF), "NotFinite"),
        ("sum", (INF, -INF), "NotFinite"),
        ("sum", (1e308, 1e308), "TooLarge"),
        ("sum", (-1e308, -1e308), "TooLarge"),
        ("max", (1.0, BEYOND), "TooLarge"),
    ],
)
def test_a_part_that_is_no_number_spoils_the_whole(how, numbers, cause):
    """A sum with an unknown part is unknown."""
    assert _judge(_twice(*numbers), "a", policy=replace(DEFAULTS, on_duplicate=how)).missing == {"a": cause}


def test_the_cause_of_most_objects_speaks_for_all():
    """Ties go to the cause that most surely needs a person."""
    judged = _judge(_pods(a=NAN, b=BEYOND, c=BEYOND), "a", "b", "c")
    assert judged.main_cause() == "TooLarge"
    assert _judge(_pods(a=NAN, b=BEYOND)).main_cause() == "NotFinite"


def _any_doubles(number: int) -> list[float]:
    """Doubles of every kind: any bits at all, and the neighbourhood of the limit."""
    rng = random.Random(7)
    anything = [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(number // 2)]
    return anything + [
        rng.choice((1, -1)) * rng.uniform(0, 2) * 10 ** rng.randint(-4, 16) for _ in range(number // 2)
    ]


def test_ten_thousand_values_against_exact_arithmetic():
    """Each value is within one thousandth and one rounding of the exact number, or truly beyond the limit."""
    for number in _any_doubles(10_000):
        found = values.milli(number, DEFAULTS)
        if not math.isfinite(number):
            assert found == "NotFinite"
            continue
        exact = Fraction(number) * 1000
        if isinstance(found, str):
            assert found == "TooLarge"
            assert abs(exact) > MAX_MILLI - 1024
        else:
            assert abs(Fraction(found) - exact) < 1 + Fraction(math.ulp(number * 1000))
            assert abs(found) <= MAX_MILLI + 1


numbers = st.floats(allow_nan=True, allow_infinity=True)
rows = st.lists(st.tuples(st.fixed_dictionaries({"pod": st.sampled_from("abcx")}), numbers), max_size=12)


@settings(max_examples=200, deadline=None)
@given(rows)
def test_nothing_that_is_not_finite_ever_becomes_a_value(found):
    """With the defaults a value stands for exactly one finite sample; all other objects have a cause."""
    judged = _judge(_result(*found), "a", "b", "c")
    for name in ("a", "b", "c"):
        mine = [number for labels, number in found if labels["pod"] == name]
        if name in judged.values:
            [number] = mine
            assert math.isfinite(number)
        else:
            assert judged.missing[name] in errors.NO_VALUE_STEPS
    assert set(judged.values) | set(judged.missing) == {"a", "b", "c"}
    assert set(judged.values).isdisjoint(judged.missing)


@settings(max_examples=200, deadline=None)
@given(rows, st.sampled_from(["last", "sum", "max"]))
def test_no_way_of_combining_hides_what_is_not_finite(found, how):
    """Under any onDuplicate a NaN or infinity that counts leaves its object without a value."""
    judged = _judge(_result(*found), "a", policy=replace(DEFAULTS, on_duplicate=how))
    mine = [number for labels, number in found if labels["pod"] == "a"]
    counted = mine[-1:] if how == "last" else mine
    spoiled = any(math.isnan(one) for one in counted) or any(
        math.isinf(one) for one in counted if how != "max"
    )
    if spoiled:
        assert "a" not in judged.values
