"""F16: a series that died gives no value any more.

The oldest sample that a rule accepts (maxAge) is a matter of the query's text and not of these rooms.
"""

import pytest

from tests.support.fake_prometheus_answers import sample, status, vector
from tests.support.rig import rig


async def test_f16_an_empty_answer_ends_the_old_value():
    """What the backend no longer has is not served from an older snapshot."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a"}, 1)), vector())
        assert (await it.judge("a")).values["a"].milli == 1000
        it.clock.advance(6)
        judged = await it.judge("a")
        assert (judged.values, judged.missing) == ({}, {"a": "NoSample"})


async def test_f16_an_outage_does_not_bring_it_back():
    """The newest snapshot stands in, though it is empty."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a"}, 1)), vector(), status(500))
        for _ in range(2):
            await it.take()
            it.clock.advance(6)
        taken = await it.take()
        assert taken.cause == "BackendUnavailable"
        assert taken.snapshot.result.samples == ()


async def test_f16_one_series_of_many_dies_alone():
    """The others keep their values."""
    async with rig() as it:
        both = vector(sample({"pod": "a"}, 1), sample({"pod": "b"}, 2))
        it.fake.answer("up", both, vector(sample({"pod": "b"}, 3)))
        await it.judge("a", "b")
        it.clock.advance(6)
        judged = await it.judge("a", "b")
        assert {name: value.milli for name, value in judged.values.items()} == {"b": pytest.approx(3000)}
