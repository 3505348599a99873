"""F02: the backend accepts and never answers."""

import asyncio

import pytest

from adapter import errors
from adapter.prometheus.transport import QuestionLimits
from tests.support import leaks
from tests.support.fake_prometheus_answers import black_hole, sample, status, vector
from tests.support.rig import rig


async def test_f02_all_waiters_get_the_time_out_of_the_flight():
    """One query, one time-out, the same for a hundred callers."""
    async with rig(limits=QuestionLimits(query_seconds=0.05)) as it:
        it.fake.answer("up", black_hole())
        results = await asyncio.gather(*(it.take() for _ in range(100)), return_exceptions=True)
        assert {type(one) for one in results} == {errors.BackendTimeout}
        assert len(it.fake.requests) == 1


async def test_f02_the_backend_is_told_to_give_up_before_we_do():
    """Of the five seconds of a query the backend may use four."""
    async with rig() as it:
        it.fake.answer("up", black_hole())
        task = asyncio.create_task(it.take())
        await it.fake.asked(1)
        task.cancel()
        assert it.fake.requests[0].form["timeout"] == "4s"


async def test_f02_a_caller_waits_no_longer_than_his_deadline():
    """The budget of the flight is longer than what this caller has."""
    async with rig() as it:
        it.fake.answer("up", black_hole())
        with pytest.raises(errors.BackendTimeout):
            await it.take(seconds=0.05)


async def test_f02_an_old_snapshot_answers_when_the_time_of_a_caller_is_up():
    """His time, not that of the flight."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a"}, 1)), black_hole())
        await it.take()
        it.clock.advance(6)
        taken = await it.take(seconds=0.05)
        assert (taken.stale_seconds, taken.cause) == (pytest.approx(6), "BackendTimeout")


async def test_f02_after_a_failure_nobody_waits_for_a_backend_that_hangs():
    """The old snapshot comes at once, while one query behind it is still on its way; it ends with the process."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a"}, 1)), status(500), black_hole())
        await it.take()
        it.clock.advance(6)
        async with leaks.nothing_left():
            for _ in range(100):
                assert (await it.take()).cause == "BackendUnavailable"
            await it.fake.asked(3)
            assert it.fake.in_flight == 1
            await it.snapshots.close()
            await it.client.close()
        assert len(it.fake.requests) == 3


async def test_f02_tasks_and_sockets_are_given_back():
    """After the time-out nothing is left of the question, and the place in the queue is free."""
    async with rig(ttl=0, limits=QuestionLimits(query_seconds=0.05)) as it:
        it.fake.answer("up", black_hole())
        async with leaks.nothing_left():
            results = await asyncio.gather(*(it.take() for _ in range(20)), return_exceptions=True)
            assert {type(one) for one in results} == {errors.BackendTimeout}
        for number in range(20):
            await it.take(f"q{number}")


async def test_f02_a_time_out_is_not_repeated():
    """A slow backend is not asked twice for the same."""
    async with rig(limits=QuestionLimits(query_seconds=0.05)) as it:
        it.fake.answer("up", black_hole())
        with pytest.raises(errors.BackendTimeout):
            await it.take()
        assert (len(it.fake.requests), it.pauses) == (1, [])
