"""F17: time stamps tell the truth."""

import pytest

from adapter import errors
from adapter.wire import times
from tests.support.fake_prometheus_answers import sample, status, vector
from tests.support.rig import rig


async def _times(it) -> list[float]:
    return [value.time for value in (await it.judge("a", "b")).values.values()]


async def test_f17_each_value_has_the_time_of_its_own_sample():
    """Not ours, and not one for all."""
    async with rig() as it:
        now = it.clock.now()
        it.fake.answer("up", vector(sample({"pod": "a"}, 1, at=now - 3), sample({"pod": "b"}, 1, at=now - 7)))
        assert await _times(it) == [now - 3, now - 7]


async def test_f17_a_value_from_the_cache_grows_old():
    """Its time stays what it was when it was fetched."""
    async with rig() as it:
        now = it.clock.now()
        it.fake.answer("up", vector(sample({"pod": "a"}, 1, at=now)))
        await it.take()
        it.clock.advance(4)
        assert await _times(it) == [now]


async def test_f17_a_stale_value_grows_old_too():
    """While the backend fails, the old time stands beside the old value."""
    async with rig() as it:
        now = it.clock.now()
        it.fake.answer("up", vector(sample({"pod": "a"}, 1, at=now)), status(500))
        await it.take()
        it.clock.advance(20)
        assert await _times(it) == [now]


@pytest.mark.parametrize("at", [253_402_300_800.0, 1e18, -1.0, float("nan"), float("inf")])
async def test_f17_a_time_of_no_calendar_is_no_answer(at):
    """It could not be written: a fault of the backend, told as such, and never one of ours."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a"}, 1), sample({"pod": "b"}, 1, at=at)))
        with pytest.raises(errors.BackendBadAnswer):
            await it.take()


@pytest.mark.parametrize("at", [0.0, 253_402_300_799.0])
async def test_f17_every_time_that_is_taken_can_be_written(at):
    """From 1970 to 9999, as RFC 3339 has it."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a"}, 1, at=at)))
        [time] = await _times(it)
        assert times.rfc3339(time)[:4] in {"1970", "9999"}
