"""F17: time stamps tell the truth."""

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
