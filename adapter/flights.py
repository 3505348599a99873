"""Single flight: however many callers ask for the same thing at the same time, it is made once."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class Flights:
    """This is the set of things being made at this moment, by key.

    A flight is nobody's: it ends by itself, whether its callers wait, leave, or are cancelled. It does without
    asyncio.shield: newer Pythons report a failure whose caller has left as an unhandled one.
    """

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[Any]] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._tasks

    async def join(self, key: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        """What `make` gives, or raises; if somebody's flight for `key` is under way, what that one gives."""
        task = self.begin(key, make)
        await asyncio.wait((task,))
        return task.result()

    def begin(self, key: Hashable, make: Callable[[], Awaitable[T]]) -> asyncio.Task[T]:
        """The flight for `key`: begun now if none is under way. Nobody needs to wait for it."""
        task: asyncio.Task[T] | None = self._tasks.get(key)
        if task is None:
            task = asyncio.create_task(_fly(make))
            self._tasks[key] = task
            task.add_done_callback(functools.partial(self._landed, key))
        return task

    async def close(self) -> None:
        """Cancel all flights and wait for their end; their callers are cancelled with them."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _landed(self, key: Hashable, task: asyncio.Task[Any]) -> None:
        del self._tasks[key]
        if not task.cancelled():
            task.exception()  # marks it as seen: with all callers gone, asyncio would log it


async def _fly(make: Callable[[], Awaitable[T]]) -> T:
    return await make()
