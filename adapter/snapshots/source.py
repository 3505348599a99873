"""Where snapshots are had: from the cache while they live, else by one flight to the backend for all.

If the backend fails, the last good snapshot of the same query answers for up to `max_stale` seconds beyond
its life, and says so. Failures are not kept: the next question tries again.
"""

import asyncio
import functools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from adapter import errors
from adapter.promql.vector import Result
from adapter.rulebook.model import Policy
from adapter.snapshots.cache import SnapshotCache
from adapter.snapshots.flights import Flights
from adapter.snapshots.snapshot import Snapshot
from adapter.telemetry.clock import Clock

FLIGHT_SECONDS: Final = 5.0
"""What a shared query may take. Not the deadline of the caller who happens to be first: a hurried one would
make it fail for all the others."""

_Key: TypeAlias = tuple[str, str, float]
"""Query, and the parts of the policy that decide what is kept of its answer and how long."""


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
        key = (query, policy.on_warnings, policy.max_stale)
        held = self._cache.get(key, self._clock.monotonic()) if self._share else None
        if held is not None and held[1]:
            self._count("hit")
            return Taken(held[0])
        how = "shared" if key in self._flights else "miss"
        try:
            taken = await self._taken(key, policy, deadline=deadline)
        except errors.AdapterError:
            self._count("refused")
            raise
        self._count("stale" if taken.cause else how)
        return taken

    async def close(self) -> None:
        """End all flights."""
        await self._flights.close()

    async def _taken(self, key: _Key, policy: Policy, *, deadline: float) -> Taken:
        if not self._share:
            return Taken(await self._ask(key[0], policy, deadline=deadline))
        try:
            return Taken(await self._join(key, policy, deadline=deadline))
        except (errors.BackendUnavailable, errors.BackendTimeout) as error:
            return self._instead(key, error)

    async def _join(self, key: _Key, policy: Policy, *, deadline: float) -> Snapshot:
        make = functools.partial(self._fetch, key, policy)
        try:
            async with asyncio.timeout(deadline - self._clock.monotonic()):
                return await self._flights.join(key, make)
        except TimeoutError as error:
            raise errors.BackendTimeout(
                f"{errors.NO_METRICS}: no answer in the time of this request"
            ) from error

    async def _fetch(self, key: _Key, policy: Policy) -> Snapshot:
        deadline = self._clock.monotonic() + FLIGHT_SECONDS
        snapshot = await self._ask(key[0], policy, deadline=deadline)
        self._cache.put(key, snapshot, max_stale=policy.max_stale)
        return snapshot

    async def _ask(self, query: str, policy: Policy, *, deadline: float) -> Snapshot:
        result = await self._queries.instant(query, deadline=deadline)
        if result.warnings and policy.on_warnings == "refuse":
            raise errors.BackendPartial(f"{errors.NO_METRICS}: the backend answered with warnings")
        return Snapshot(result, self._clock.monotonic())

    def _instead(self, key: _Key, error: errors.AdapterError) -> Taken:
        """The old snapshot in place of an answer, or the error if there is none."""
        now = self._clock.monotonic()
        held = self._cache.get(key, now)
        if held is None:
            raise error
        snapshot, fresh = held
        return Taken(snapshot) if fresh else Taken(snapshot, now - snapshot.at, error.cause)
