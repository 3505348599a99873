"""F18: several samples for one object."""

from dataclasses import replace

import pytest

from adapter.rulebook.model import Policy
from tests.support.fake_prometheus_answers import sample, vector
from tests.support.rig import rig

ROWS = [sample({"pod": "a", "path": "/"}, 1), sample({"pod": "a", "path": "/x"}, 5), sample({"pod": "b"}, 2)]


@pytest.mark.parametrize("rows", [ROWS, ROWS[::-1]], ids=["as sent", "reversed"])
async def test_f18_the_object_is_left_out_in_either_order(rows):
    """No guess: the cause is Ambiguous, others keep their values."""
    async with rig() as it:
        it.fake.answer("up", vector(*rows))
        judged = await it.judge("a", "b")
        assert list(judged.values) == ["b"]
        assert judged.missing == {"a": "Ambiguous"}
        assert judged.dropped == {"ambiguous": 2}


@pytest.mark.parametrize(("how", "milli"), [("sum", 6000), ("max", 5000)])
@pytest.mark.parametrize("rows", [ROWS, ROWS[::-1]], ids=["as sent", "reversed"])
async def test_f18_the_rule_may_say_what_they_mean(rows, how, milli):
    """The same in either order."""
    async with rig() as it:
        it.fake.answer("up", vector(*rows))
        judged = await it.judge("a", policy=replace(Policy.DEFAULTS, on_duplicate=how))
        assert judged.values["a"].milli == milli


async def test_f18_all_objects_ambiguous():
    """Then that is the cause of the whole."""
    async with rig() as it:
        it.fake.answer("up", vector(*ROWS[:2]))
        assert (await it.judge("a")).main_cause() == "Ambiguous"
