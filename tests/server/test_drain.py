"""From the wish to stop to the end of the port."""

import asyncio
import os
import signal

from adapter.server.drain import SIGNALS, Drain
from tests.support.clock import FakeClock
from tests.support.sleeper import Sleeper, settle


async def test_not_ready_at_once_and_over_after_the_seconds():
    """Nobody is told to go before all have heard that they should not come."""
    sleeper = Sleeper(FakeClock())
    drain = Drain(5, sleep=sleeper.sleep)
    begun, over = asyncio.create_task(drain.begun()), asyncio.create_task(drain.over())
    await settle()
    assert drain.probe() is None
    assert not begun.done()
    drain.begin()
    assert drain.probe() == "the process was told to stop"
    await sleeper.pass_time(4.9)
    assert begun.done()
    assert not over.done()
    await sleeper.pass_time(0.2)
    assert over.done()


async def test_second_wish_changes_nothing(caplog):
    """One line, and no time is added."""
    caplog.set_level("INFO")
    drain = Drain(0)
    drain.begin()
    drain.begin()
    await drain.over()
    assert [one.message for one in caplog.records] == ["draining"]


async def test_signal_is_such_a_wish():
    """SIGTERM begins the drain; the next signal would end the process at once (proved with a process: F36)."""
    drain = Drain(0)
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        drain.listen()
        os.kill(os.getpid(), signal.SIGTERM)
        async with asyncio.timeout(5):
            await drain.over()
        assert drain.probe()
        assert signal.getsignal(signal.SIGTERM).__name__ == "_end_at_once"
        assert signal.getsignal(signal.SIGINT).__name__ == "_end_at_once"
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
