"""F11: a herd of equal requests; callers who leave midway; too many different ones."""

import asyncio
import collections

import pytest

from adapter import errors
from tests.support import leaks
from tests.support.rig import rig


async def test_f11_a_thousand_equal_questions_are_one_query_though_some_leave():
    """A hundred are cancelled, the first among them: 900 answers, one query, nothing left behind."""
    async with rig() as it, leaks.nothing_left():
        it.fake.hold()
        tasks = [asyncio.create_task(it.take()) for _ in range(1000)]
        await it.fake.asked(1)
        for task in tasks[:100]:
            task.cancel()
        it.fake.release()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        kinds = collections.Counter(type(one).__name__ for one in results)
        assert kinds == {"Taken": 900, "CancelledError": 100}
        assert len(it.fake.requests) == 1
        await it.client.close()


async def test_f11_the_next_herd_is_served_from_the_snapshot():
    """Within its life a snapshot costs the backend nothing, and its end costs one query."""
    async with rig() as it:
        for _ in range(3):
            await asyncio.gather(*(it.take() for _ in range(100)))
        assert len(it.fake.requests) == 1
        it.clock.advance(6)
        await asyncio.gather(*(it.take() for _ in range(100)))
        assert len(it.fake.requests) == 2


async def test_f11_eight_ask_sixty_four_wait_and_the_rest_is_told_at_once():
    """Different questions: 72 are answered, 28 are Overloaded, never more than 8 at the backend."""
    async with rig() as it:
        it.fake.hold()
        tasks = [asyncio.create_task(it.take(f"q{number}")) for number in range(100)]
        refused, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        assert {type(one.exception()) for one in refused} == {errors.Overloaded}
        it.fake.release()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        kinds = collections.Counter(type(one).__name__ for one in results)
        assert kinds == {"Taken": 72, "Overloaded": 28}
        assert it.fake.most_in_flight <= 8


async def test_f11_who_has_an_old_snapshot_is_not_told_of_the_overload():
    """A slow backend, and all places taken: the value of before answers in place of 429."""
    async with rig() as it:
        await it.take()
        it.clock.advance(6)
        it.fake.hold()
        tasks = [asyncio.create_task(it.take(f"q{number}")) for number in range(72)]
        await it.fake.asked(1 + 8)
        taken = await it.take()
        assert (taken.stale_seconds, taken.cause) == (pytest.approx(6), "Overloaded")
        it.fake.release()
        await asyncio.gather(*tasks)
