"""What an API server does for its APIServices all the time: checks, discovery, OpenAPI; at each change, and again and again."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tests.support.fake_kube_world import Happening, World

Once = Callable[[str], Awaitable[bool]]
PLACES = ("services", "endpointslices")


@dataclass(frozen=True)
class Pace:
    """Seconds to the next time: after a good one; after the first bad one, doubling up to `most`."""

    well: float
    first: float
    most: float


@dataclass(frozen=True)
class Paces:
    """The real API server's, of 1.36."""

    check: Pace = Pace(30.0, 0.005, 30.0)
    discovery: Pace = Pace(60.0, 0.5, 60.0)
    openapi: Pace = Pace(60.0, 60.0, 3600.0)


class Loops:
    """One task for each concern of each APIService; a change in the world wakes those that it concerns."""

    def __init__(
        self,
        world: World,
        names: Callable[[], list[str]],
        concerns: dict[str, tuple[Once, Pace]],
    ) -> None:
        self._world, self._names, self._concerns = world, names, concerns
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._wakes: dict[tuple[str, str], asyncio.Event] = {}
        self._watcher: asyncio.Task[None] | None = None
        self._queue: asyncio.Queue[Any] = asyncio.Queue()

    def start(self) -> None:
        self._world.watchers.add(self._queue)
        self._refresh()
        self._watcher = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        self._world.watchers.discard(self._queue)
        tasks = [*self._tasks.values(), *([self._watcher] if self._watcher else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._tasks.clear()

    async def _watch(self) -> None:
        while True:
            happening = await self._queue.get()
            if not isinstance(happening, Happening):
                continue
            if happening.kind.plural == "apiservices":
                self._refresh()
                self._wake(happening.body["metadata"]["name"])
            elif happening.kind.plural in PLACES:
                self._wake(None, "check")

    def _wake(self, name: str | None, concern: str | None = None) -> None:
        for (of, what), wake in self._wakes.items():
            if name in (None, of) and concern in (None, what):
                wake.set()

    def _refresh(self) -> None:
        """A task for each that is registered, none for others."""
        wanted = {(name, concern) for name in self._names() for concern in self._concerns}
        for key in set(self._tasks) - wanted:
            self._tasks.pop(key).cancel()
            del self._wakes[key]
        for name, concern in sorted(wanted - set(self._tasks)):
            once, pace = self._concerns[concern]
            wake = self._wakes[name, concern] = asyncio.Event()
            self._tasks[name, concern] = asyncio.create_task(_repeat(once, name, pace, wake))


async def _repeat(once: Once, name: str, pace: Pace, wake: asyncio.Event) -> None:
    pause = pace.first
    while True:
        wake.clear()
        if await once(name):
            delay, pause = pace.well, pace.first
        else:
            delay, pause = pause, min(pause * 2, pace.most)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay):
                await wake.wait()
