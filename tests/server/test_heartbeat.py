"""Whether the loop keeps up."""

import asyncio

import pytest

from adapter.server.heartbeat import Heartbeat
from tests.support.clock import FakeClock
from tests.support.sleeper import Sleeper


def test_loop_that_keeps_up_is_alive():
    """A beat that comes in time has no lag."""
    clock = FakeClock()
    heart = Heartbeat(clock)
    clock.advance(1)
    heart.beat()
    assert (heart.lag_seconds(), heart.probe()) == (0, None)


def test_beat_that_is_missing_is_lag_already():
    """Nobody has to wait for the end of what blocks the loop."""
    clock = FakeClock()
    heart = Heartbeat(clock)
    clock.advance(6)
    assert heart.lag_seconds() == pytest.approx(5)


async def test_beats_are_measured_one_after_the_other():
    """A second of sleep each; what it takes longer is the lag."""
    clock = FakeClock()
    sleeper = Sleeper(clock)
    heart = Heartbeat(clock, sleep=sleeper.sleep)
    task = asyncio.create_task(heart.for_ever())
    await sleeper.pass_time(3)
    assert sleeper.slept == [1, 1, 1, 1]
    clock.advance(4)  # the loop is busy with something else
    await sleeper.pass_time(0)
    assert heart.lag_seconds() == pytest.approx(3)
    await sleeper.pass_time(1)
    assert heart.lag_seconds() == 0
    task.cancel()
