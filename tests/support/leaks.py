"""A guard against what a test leaves behind: tasks, threads and sockets, counted before and after."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

TURNS = 200
"""Turns of the loop that closing transports and cancelled tasks may need to end."""


@dataclass(frozen=True)
class Count:
    """What lives at one moment. Threads of the loop's default executor stay by design and are not counted."""

    tasks: int
    threads: int
    sockets: int


def count() -> Count:
    threads = [one for one in threading.enumerate() if not one.name.startswith("asyncio_")]
    return Count(len(asyncio.all_tasks()), len(threads), _sockets())


async def settled(expected: Count) -> Count:
    """The count once it is down to `expected`, or after TURNS turns of the loop."""
    for _ in range(TURNS):
        if _within(count(), expected):
            break
        await asyncio.sleep(0)
    return count()


@contextlib.asynccontextmanager
async def nothing_left() -> AsyncIterator[None]:
    """This fails if the body of `async with` leaves a task, thread or socket behind."""
    before = count()
    yield
    after = await settled(before)
    assert _within(after, before), f"left behind: {before} became {after}: {asyncio.all_tasks()}"


def _within(found: Count, expected: Count) -> bool:
    return (
        found.tasks <= expected.tasks
        and found.threads <= expected.threads
        and found.sockets <= expected.sockets
    )


def _sockets() -> int:
    found = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the descriptor of this very listing is gone by now
            found += str(descriptor.readlink()).startswith("socket:")
    return found
