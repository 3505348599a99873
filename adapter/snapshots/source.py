"""Where snapshots are had: from the cache while they live, else by one flight to the backend for all.

If the backend fails, or cannot be asked, the last good snapshot of the same query answers for up to `max_stale`
seconds beyond its life, and says so. After such a failure the next callers do not wait for another one: the old
snapshot answers at once, while one flight behind it tries again. Without an old snapshot nothing of a failure is
kept: the next question tries again, and waits.
"""

import asyncio
import functools
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

from adapter import errors
from adapter.flights import Flights
from adapter.promql.vector import Result
from adapter.rulebook.model import Policy
from adapter.settings import Prometheus
from adapter.snapshots.cache import Key, SnapshotCache
from adapter.snapshots.snapshot import Snapshot
from adapter.telemetry.clock import Clock

BRIDGED: Final = (errors.BackendUnavailable, errors.BackendTimeout, errors.Overloaded)
"""Failures for which an old snapshot stands in. A query that the backend refuses stays refused."""


class Queries(Protocol):
    """A backend that evaluates PromQL."""

    async def instant(self, promql: str, *, deadline: float) -> Result:
        """The result of one instant query; raises errors.AdapterError."""
        ...


def _uncounted(_how: str) -> None:
    """Nobody counts."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A snapshot as it was had.

    If it answers for a failing backend, `stale_seconds` is its age and `cause` the word of that failure.
    """

    snapshot: Snapshot
    stale_seconds: float = 0.0
    cause: str | None = None


class Snapshots:
    """This gives snapshots. `share=False` (compat): each question is a query of its own, nothing is kept."""

    def __init__(
        self,
        queries: Queries,
        clock: Clock,
        *,
        ttl_seconds: float,
        share: bool = True,
        random: Callable[[], float] = random.random,
        count: Callable[[str], object] = _uncounted,
    ) -> None:
        """`count` is told how each snapshot was had: hit, miss, shared, stale, or refused."""
        self._queries, self._clock, self._share, self._count = queries, clock, share, count
        self._cache = SnapshotCache(ttl_seconds, random=random)
        self._flights = Flights()

    async def take(self, query: str, *, policy: Policy, deadline: float) -> Taken:
        """A snapshot of `query`; `deadline` in monotonic seconds. Raises errors.AdapterError."""
        key = Key(query, policy.on_warnings, policy.max_stale)
        known = self._known(key)
        if known is not None:
            self._count("stale" if known.cause else "hit")
            return known
        how = "shared" if key in self._flights else "miss"
        try:
            taken = await self._taken(key, deadline=deadline)
        except errors.AdapterError:
            self._count("refused")
            raise
        self._count("stale" if taken.cause else how)
        return taken

    async def close(self) -> None:
        """End all flights."""
        await self._flights.close()

    def _known(self, key: Key) -> Taken | None:
        """What answers without waiting: a living snapshot, or an old one that could not be renewed just now."""
        now = self._clock.monotonic()
        held = self._cache.get(key, now) if self._share else None
        if held is None or not (held.fresh or held.doubt):
            return None
        if held.fresh:
            return Taken(held.snapshot)
        self._cache.doubt(key, held.doubt, now)  # nobody waits as long as the flight behind is on its way
        self._flights.begin(key, self._renewal(key))
        return Taken(held.snapshot, now - held.snapshot.at, held.doubt)

    async def _taken(self, key: Key, *, deadline: float) -> Taken:
        if not self._share:
            return Taken(await self._ask(key, deadline=deadline))
        try:
            return Taken(await self._join(key, deadline=deadline))
        except BRIDGED as error:
            return self._instead(key, error)

    async def _join(self, key: Key, *, deadline: float) -> Snapshot:
        try:
            async with asyncio.timeout(deadline - self._clock.monotonic()):
                return await self._flights.join(key, self._renewal(key))
        except TimeoutError as error:
            raise errors.BackendTimeout(
                f"{errors.NO_METRICS}: no answer in the time of this request"
            ) from error

    def _renewal(self, key: Key) -> Callable[[], Awaitable[Snapshot]]:
        return functools.partial(self._renew, key)

    async def _renew(self, key: Key) -> Snapshot:
        """A new snapshot for all who ask.

        Its deadline is not that of the caller who happens to be first: a hurried one would make it fail for all.
        """
        cause = None
        try:
            snapshot = await self._ask(key, deadline=self._clock.monotonic() + Prometheus.query_seconds)
            self._cache.put(key, snapshot)
        except BRIDGED as error:
            cause = error.cause
            raise
        finally:
            self._cache.doubt(key, cause, self._clock.monotonic())
        return snapshot

    async def _ask(self, key: Key, *, deadline: float) -> Snapshot:
        result = await self._queries.instant(key.query, deadline=deadline)
        if result.warnings and key.on_warnings == "refuse":
            raise errors.BackendPartial(f"{errors.NO_METRICS}: the backend answered with warnings")
        return Snapshot(result, self._clock.monotonic())

    def _instead(self, key: Key, error: errors.AdapterError) -> Taken:
        """The old snapshot in place of an answer, or the error if there is none."""
        now = self._clock.monotonic()
        held = self._cache.get(key, now)
        if held is None:
            raise error
        if held.fresh:
            return Taken(held.snapshot)
        return Taken(held.snapshot, now - held.snapshot.at, error.cause)
