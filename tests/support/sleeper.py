"""Sleeping on a fake clock: nobody wakes but by `pass_time`."""

import asyncio
import heapq
import itertools

from tests.support.clock import FakeClock

TURNS = 30
"""Turns of the loop in which everything that can run without IO has run."""


async def settle() -> None:
    """Let all tasks go on until they wait for time or IO."""
    for _ in range(TURNS):
        await asyncio.sleep(0)


class Sleeper:
    """`sleep` is for the code under test; `slept` is what it asked for."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock, self.slept = clock, []
        self._order = itertools.count()
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (self.clock.monotonic() + seconds, next(self._order), woken))
        await woken

    async def pass_time(self, seconds: float) -> None:
        """Move the clock, waking each sleeper at its time."""
        await settle()
        end = self.clock.monotonic() + seconds
        while self._waiting and self._waiting[0][0] <= end:
            due, _, woken = heapq.heappop(self._waiting)
            self.clock.advance(max(0.0, due - self.clock.monotonic()))
            if not woken.done():
                woken.set_result(None)
            await settle()
        self.clock.advance(end - self.clock.monotonic())
        await settle()
