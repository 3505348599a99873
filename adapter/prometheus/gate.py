"""How many requests may be on their way to the backend, and how many may wait for that."""

import asyncio
from types import TracebackType

from adapter import errors


class Gate:
    """`async with gate:` lets `at_once` in at a time; beyond `waiting` more it raises Overloaded."""

    def __init__(self, *, at_once: int, waiting: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._waiting = waiting
        self._queued = 0

    async def __aenter__(self) -> None:
        if not self._free.locked():
            await self._free.acquire()  # does not wait: nobody may come between
            return
        if self._queued >= self._waiting:
            raise errors.Overloaded(f"{errors.NO_METRICS}: too many questions wait for the backend")
        self._queued += 1
        try:
            await self._free.acquire()
        finally:
            self._queued -= 1

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._free.release()
