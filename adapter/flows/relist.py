"""Relist: rules and series become a new catalog, each rule for itself, for ever.

One round asks the backend once per distinct seriesQuery. A listing that fails leaves the last good one of that
query in force, with its age, for `keep_seconds`; the other rules never notice (upstream drops the whole round).
With `all_or_nothing` (compat) a round with any failure changes nothing, as upstream has it.
"""

import asyncio
import contextlib
import random as randomness
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from adapter import errors
from adapter.catalog import build
from adapter.catalog.catalog import Catalog
from adapter.flows.backoff import Backoff
from adapter.promql.vector import SeriesShape
from adapter.rulebook import mapping
from adapter.rulebook.findings import Finding
from adapter.rulebook.model import Rule
from adapter.settings import Prometheus, Relisting
from adapter.telemetry import logs
from adapter.telemetry.clock import Clock
from adapter.wire.resources import Kinds

LISTINGS_AT_ONCE: Final = 4
"""Enough to be quick with many rules, few enough to leave the backend room for queries."""

KINDS_SECONDS: Final = 600.0
"""How long the cluster's kinds are believed: new CRDs are rare, and a rule that misses one asks again at once."""

FIRST_LIST_SECONDS: Final = 2.0
"""Longest pause while there is no catalog at all: somebody waits for it."""

JITTER: Final = 0.1
"""Part of the interval by which replicas drift apart, so that they don't ask the backend in step."""

log = logs.get("relist")


class SeriesSource(Protocol):
    """Where series are listed."""

    async def series(self, match: str, *, start: float, deadline: float) -> tuple[SeriesShape, ...]:
        """Distinct shapes of the series of one selector since `start` (seconds, UTC)."""
        ...


class KindSource(Protocol):
    """Where the cluster's kinds are had."""

    async def kinds(self, groups: frozenset[str] | None) -> Kinds:
        """The kinds of these API groups; None: of all."""
        ...


@dataclass(frozen=True, slots=True)
class Listing:
    """The last good list of one seriesQuery, and when it was made (monotonic seconds)."""

    shapes: tuple[SeriesShape, ...]
    at: float


@dataclass(frozen=True, slots=True)
class Sources:
    """What a relist asks."""

    series: SeriesSource
    kinds: KindSource
    clock: Clock
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = randomness.random


class Relist:
    """This keeps the catalog: `catalog` is the one in force, `complete` whether a first round has ended."""

    def __init__(
        self, rules: Sequence[Rule], sources: Sources, settings: Relisting, *, compat: bool = False
    ) -> None:
        self.catalog = Catalog()
        self.complete = False
        self.findings: tuple[Finding, ...] = ()
        self._rules = tuple(rules)
        self._sources, self._settings, self._compat = sources, settings, compat
        self._listings: dict[str, Listing] = {}
        self._tried = asyncio.Event()
        self._failing: dict[str, str] = {}
        self._faults: dict[str, errors.AdapterError] = {}
        self._kinds = Kinds()
        self._kinds_at: float | None = None
        self._bound: tuple[build.Bound, ...] = ()
        self._unbound: tuple[Finding, ...] = ()
        self._gate = asyncio.Semaphore(LISTINGS_AT_ONCE)

    def ages(self) -> dict[str, float]:
        """Seconds since the last good list of each seriesQuery."""
        now = self._sources.clock.monotonic()
        return {query: now - listing.at for query, listing in self._listings.items()}

    async def tried(self, seconds: float) -> None:
        """This returns when a first round has ended, well or not, or after `seconds`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._tried.wait()

    async def for_ever(self, published: Callable[[Catalog], None]) -> None:
        """One round after the other; `published` is told each catalog. Never returns."""
        sources, interval = self._sources, self._settings.interval_seconds
        retries = Backoff(sources.random)
        while True:
            good = await self.once()
            published(self.catalog)
            if good:
                retries.reset()
                await sources.sleep(interval * (1 + JITTER * sources.random()))
            else:
                await sources.sleep(min(interval if self.complete else FIRST_LIST_SECONDS, retries.next()))

    async def once(self) -> bool:
        """One round. True if the kinds and every listing came."""
        self._faults = {}
        good = await self._round()
        self._tried.set()
        self._tell()
        return good

    async def _round(self) -> bool:
        if not self._rules:
            self.complete = True
            return True
        if not await self._learn_kinds():
            return False
        queries = list(dict.fromkeys(rule.series_query for rule in self._rules))
        async with asyncio.TaskGroup() as group:
            listings_under_way = [group.create_task(self._list(query)) for query in queries]
        results = [one.result() for one in listings_under_way]
        good = all(results)
        if good or not self._compat:
            self._forget_old()
            listings = {query: listing.shapes for query, listing in self._listings.items()}
            self.catalog = build.build(self._bound, listings, self._kinds, askable_only=not self._compat)
            self.complete = self.complete or any(results)
        return good

    async def bind(self) -> tuple[Finding, ...]:
        """The findings of rules that name resources which this cluster does not know.

        Raises what the source of kinds raises: compat mode ends the process on either.
        """
        groups = self._groups()
        await self._bind_in(groups)
        if self._unbound and groups is not None:
            await self._bind_in(None)  # what looked like a group may be the beginning of one
        self._kinds_at = self._sources.clock.monotonic()
        if self._unbound != self.findings:
            for finding in self._unbound:
                log.warning("rule_inactive", extra={"finding": str(finding), "next": finding.suggestion})
        self.findings = self._unbound
        return self.findings

    async def _bind_in(self, groups: frozenset[str] | None) -> None:
        self._kinds = await self._sources.kinds.kinds(groups)
        bound: list[build.Bound] = []
        findings: list[Finding] = []
        for rule in self._rules:
            found = mapping.bind(rule.mapping, self._kinds)
            if isinstance(found, mapping.BoundMapping):
                bound.append(build.Bound(rule, found))
            else:
                findings += found
        self._bound, self._unbound = tuple(bound), tuple(findings)

    async def _learn_kinds(self) -> bool:
        at, now = self._kinds_at, self._sources.clock.monotonic()
        if at is not None and now - at < KINDS_SECONDS and not self.findings:
            return True
        try:
            await self.bind()
        except errors.AdapterError as error:
            self._failed("kinds", error)
            return self._kinds_at is not None
        return True

    def _groups(self) -> frozenset[str] | None:
        if self._compat:
            return None
        wanted: frozenset[str] = frozenset({""})
        for rule in self._rules:
            groups = mapping.groups_needed(rule.mapping)
            if groups is None:
                return None
            wanted |= groups
        return wanted

    async def _list(self, query: str) -> bool:
        clock = self._sources.clock
        async with self._gate:
            try:
                shapes = await self._sources.series.series(
                    query,
                    start=clock.now() - self._settings.max_age_seconds,
                    deadline=clock.monotonic() + Prometheus.listing_seconds,
                )
            except errors.AdapterError as error:
                self._failed(query, error)
                return False
        self._listings[query] = Listing(shapes, clock.monotonic())
        return True

    def _forget_old(self) -> None:
        for query, age in self.ages().items():
            if age > self._settings.keep_seconds:
                del self._listings[query]
                log.warning("listing_dropped", extra={"series_query": query, "age_seconds": round(age)})

    def _failed(self, what: str, error: errors.AdapterError) -> None:
        self._faults[what] = error

    def _tell(self) -> None:
        """One line per cause and round, and only for what did not fail before; one when all is well again."""
        fresh: dict[str, list[str]] = {}
        for what, error in self._faults.items():
            if self._failing.get(what) != error.cause:
                fresh.setdefault(error.cause, []).append(what)
        for cause, affected in fresh.items():
            facts = {"cause": cause, "count": len(affected), "first": affected[0]}
            log.warning("listing_failed", extra=facts | {"next": self._faults[affected[0]].next_step})
        if self._failing and not self._faults:
            log.info("listing_recovered", extra={"count": len(self._failing)})
        self._failing = {what: error.cause for what, error in self._faults.items()}
