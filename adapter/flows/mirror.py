"""Mirror: the cluster's objects, kept here kind by kind (docs/design.md D11); client-go's word is informer.

Kinds that rules name are followed from the start; any other from its first question on, until nobody has
asked for ten minutes. Each kind is followed by a task of its own (`following.py`), so that none waits for
another.
"""

import asyncio
import random as randomness
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final

from adapter import errors
from adapter.flows.following import Following, Means, ObjectFeed
from adapter.objects.store import Store
from adapter.telemetry import logs
from adapter.telemetry.clock import Clock
from adapter.wire.objects import NotListable
from adapter.wire.resources import GroupResource, Resource

__all__ = ["Mirror", "ObjectFeed"]

UNUSED_SECONDS: Final = 600.0
"""Autoscalers ask every 15 s; after forty rounds without a question its autoscaler is gone."""

SWEEP_SECONDS: Final = 60.0
"""How often unused kinds are looked for."""

RETRY_SECONDS: Final = 1.0
"""How long a question waits for another try once a first one has failed: the pause before the second try is at
most half of it, and in an outage no question is worth its whole deadline."""

log = logs.get("mirror")


class Mirror:
    """This keeps the objects of every kind that is in use. `restarts` counts (resource, reason)."""

    def __init__(
        self,
        feed: ObjectFeed,
        clock: Clock,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = randomness.random,
    ) -> None:
        self.restarts: Counter[tuple[str, str]] = Counter()
        self._means = Means(feed, clock, sleep, random, self.restarts)
        self._followed: dict[GroupResource, Following] = {}
        self._tasks: dict[GroupResource, asyncio.Task[None]] = {}
        self._sweeper: asyncio.Task[None] | None = None
        self._pinned: frozenset[GroupResource] = frozenset()

    def start(self, resources: Iterable[Resource]) -> None:
        """Follow these from now on, asked for or not; those of an earlier call only while somebody asks."""
        wanted = tuple(resources)
        self._pinned = frozenset(one.key for one in wanted)
        for resource in wanted:
            self._follow(resource)

    async def stop(self) -> None:
        """End all tasks. What was mirrored stays readable."""
        tasks = [*self._tasks.values(), *([self._sweeper] if self._sweeper else [])]
        self._tasks, self._sweeper = {}, None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def objects(self, resource: Resource, *, deadline: float) -> Store:
        """The objects of this kind; waits for a first list until `deadline` (monotonic seconds).

        If a first try has failed, it waits a moment for the next one only. Raises StillStarting,
        ObjectsNotListable.
        """
        clock = self._means.clock
        followed = self._follow(resource)
        followed.asked_at = clock.monotonic()
        await self._wait(followed.attempted, deadline - clock.monotonic())
        await self._wait(followed.settled, min(RETRY_SECONDS, deadline - clock.monotonic()))
        store = followed.current()
        if store is not None:
            return store
        if followed.refusal is not None:
            raise _not_listable(resource, followed.refusal) from followed.refusal
        raise errors.StillStarting(
            f"the first list of {resource.key} is not there yet",
            next_step="ask again in a few seconds; if it stays so, the adapter's log says why",
        )

    def tried(self, resource: Resource) -> bool:
        """Whether the API server has answered the first list of this kind, be it by a refusal."""
        followed = self._followed.get(resource.key)
        return followed is not None and followed.answered

    def ages(self) -> dict[str, float]:
        """Seconds since the objects of each kind that was listed were known to be those of the cluster."""
        return {str(key): one.age() for key, one in self._followed.items() if one.store is not None}

    def sizes(self) -> dict[str, int]:
        """How many objects of each kind are held."""
        return {str(key): len(one.store) for key, one in self._followed.items() if one.store is not None}

    def restart_counts(self) -> Mapping[tuple[str, str], int]:
        """How often (resource, reason) a list or watch ended, since the start of the process."""
        return dict(self.restarts)

    # -- which kinds are followed

    def _follow(self, resource: Resource) -> Following:
        followed = self._followed.get(resource.key)
        if followed is None:
            followed = self._followed[resource.key] = Following(resource, self._means)
            self._tasks[resource.key] = asyncio.create_task(followed.for_ever())
            self._sweeper = self._sweeper or asyncio.create_task(self._sweep())
        followed.resource = resource  # the cluster may prefer another version by now
        return followed

    async def _sweep(self) -> None:
        while True:
            await self._means.sleep(SWEEP_SECONDS)
            limit = self._means.clock.monotonic() - UNUSED_SECONDS
            for key in [key for key, one in self._followed.items() if one.asked_at <= limit]:
                if key not in self._pinned:
                    self._drop(key)

    def _drop(self, key: GroupResource) -> None:
        del self._followed[key]
        self._tasks.pop(key).cancel()
        log.info("object_list_stopped", extra={"resource": str(key), "unused_seconds": UNUSED_SECONDS})

    async def _wait(self, event: asyncio.Event, seconds: float) -> None:
        """This returns when `event` is set, or after `seconds`."""
        if event.is_set() or seconds <= 0:
            return
        waits = (asyncio.ensure_future(event.wait()), asyncio.ensure_future(self._means.sleep(seconds)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()


def _not_listable(resource: Resource, refusal: NotListable) -> errors.ObjectsNotListable:
    absent = f"the cluster has no {resource.key}; correct the rule, or install what serves it"
    return errors.ObjectsNotListable(
        f"{errors.NO_LISTING}: {resource.key}", next_step=absent if refusal.absent else None
    )
