"""F02: the backend accepts and never answers."""

import asyncio

import pytest

from adapter import errors
from adapter.prometheus.transport import QuestionLimits
from tests.support import leaks
from tests.support.fake_prometheus_answers import black_hole
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
