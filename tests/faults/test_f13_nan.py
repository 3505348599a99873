"""F13: NaN is no value."""

from dataclasses import replace

import pytest

from adapter import errors
from adapter.rulebook.model import Policy
from tests.support.fake_prometheus_answers import sample, vector
from tests.support.rig import rig


async def test_f13_nan_never_becomes_an_item():
    """It is left out; others keep their values."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a"}, "NaN"), sample({"pod": "b"}, 1)))
        judged = await it.judge("a", "b")
        assert list(judged.values) == ["b"]
        assert judged.missing == {"a": "NotFinite"}
        assert judged.dropped == {"nan": 1}


@pytest.mark.parametrize("text", ["nan", "-NaN", "+NaN", "null", ""])
async def test_f13_what_is_not_even_nan_is_no_answer(text):
    """A spelling that Prometheus does not use is no number to guess at."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a"}, text), sample({"pod": "b"}, 1)))
        with pytest.raises(errors.BackendBadAnswer):
            await it.judge("a", "b")


async def test_f13_only_nan_is_no_value_at_all():
    """0/0 for every pod: an autoscaler must hold, not scale in."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a"}, "NaN"), sample({"pod": "b"}, "NaN")))
        judged = await it.judge("a", "b")
        assert not judged.values
        assert judged.main_cause() == "NotFinite"


async def test_f13_a_rule_may_mean_zero_by_it():
    """onNaN: zero is the rule's own word."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a"}, "NaN")))
        judged = await it.judge("a", policy=replace(Policy.DEFAULTS, on_nan="zero"))
        assert judged.values["a"].milli == 0


async def test_f13_a_rule_may_fail_on_it():
    """onNaN: error gives no item at all."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a"}, "NaN"), sample({"pod": "b"}, 1)))
        with pytest.raises(errors.NoValue) as caught:
            await it.judge("a", "b", policy=replace(Policy.DEFAULTS, on_nan="error"))
        assert caught.value.cause == "NotFinite"
