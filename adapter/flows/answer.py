"""Answer: the story of a request, in six steps. Each step is a line here and a room elsewhere.

A request comes in; we learn who asks and whether they may; which metric it is; which objects are meant; what their
values are; and write that down.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from cachetools import TTLCache

from adapter import errors
from adapter.catalog.catalog import Catalog, Entry, not_found
from adapter.flows.question import ALL, Answer, Meant, Question
from adapter.objects.store import Store
from adapter.promql.vector import Result
from adapter.rulebook import query
from adapter.rulebook.model import Rule
from adapter.snapshots import values
from adapter.snapshots.source import Snapshots, Taken
from adapter.snapshots.values import Judged
from adapter.telemetry import logs
from adapter.telemetry.clock import Clock
from adapter.telemetry.metrics import Metrics
from adapter.wire.lists import Item
from adapter.wire.resources import Resource

log = logs.get("answer")

FIRST_LIST_SECONDS: Final = 2.0
"""How long a question waits for the first catalog: several listings' time, and short for an autoscaler's worker."""

REMEMBERED_BYTES: Final = 64 * 1024 * 1024
"""What all remembered questions may take together: 300 for 150 pods each, or 10,000 for a few."""

REMEMBERED_SECONDS: Final = 60.0
"""Four rounds of the autoscaler. A relist makes each entry anew before that; this is for questions nobody repeats."""


class Objects(Protocol):
    """Where objects are had (the mirror)."""

    async def objects(self, resource: Resource, *, deadline: float) -> Store:
        """The store of one resource; raises StillStarting, ObjectsNotListable."""
        ...


class Offer(Protocol):
    """Where the catalog is had (the relist)."""

    catalog: Catalog
    complete: bool

    async def tried(self, seconds: float) -> None:
        """This returns when a first listing was tried, or after `seconds`."""
        ...


@dataclass(frozen=True, slots=True)
class Sources:
    """Where everything that an answer needs is had."""

    offer: Offer
    objects: Objects
    snapshots: Snapshots


class Answers:
    """This answers questions. `compat`: as prometheus-adapter would, in every status and value."""

    def __init__(self, sources: Sources, clock: Clock, metrics: Metrics, *, compat: bool = False) -> None:
        self._sources, self._clock, self._metrics, self._compat = sources, clock, metrics, compat
        self._remembered: TTLCache[Question, Meant] = TTLCache(
            REMEMBERED_BYTES, REMEMBERED_SECONDS, timer=clock.monotonic, getsizeof=Meant.weight
        )
        self._rejected: set[str] = set()

    async def answer(self, question: Question, *, deadline: float) -> Answer:
        """The values for `question`; `deadline` in monotonic seconds. Raises errors.AdapterError."""
        await self._wait_for_catalog(deadline)
        entry = self._find(question)
        meant = await self._select(question, entry, deadline=deadline)
        self._build(meant)
        taken = await self._take(meant, deadline=deadline)
        self._judge(meant, taken)
        return self._conclude(meant, taken)

    async def _wait_for_catalog(self, deadline: float) -> None:
        """A replica that has just started is ready at once, and its first listing a moment later."""
        offer = self._sources.offer
        if not (offer.complete or self._compat):
            await offer.tried(min(FIRST_LIST_SECONDS, deadline - self._clock.monotonic()))

    def _find(self, question: Question) -> Entry:
        """Which metric it is."""
        catalog = self._sources.offer.catalog
        if self._compat and question.name == ALL:
            _refuse_unlistable(question, catalog)
        try:
            return catalog.find(
                resource=question.resource,
                namespaced=question.namespace is not None,
                metric=question.metric,
            )
        except errors.MetricUnknown as error:
            if self._sources.offer.complete or self._compat:
                raise
            raise errors.StillStarting(
                error.message,
                next_step="the first list of series has not come yet; ask again in a few seconds",
            ) from error

    async def _select(self, question: Question, entry: Entry, *, deadline: float) -> Meant:
        """Which objects are meant, and which labels stand for them: what was meant before, if nothing changed."""
        store: Store | None = None
        if question.name == ALL:
            store = await self._sources.objects.objects(entry.resource, deadline=deadline)
        revision = store.revision(question.namespace) if store is not None else None
        known = self._remembered.get(question)
        if known is not None and known.entry is entry and known.revision == revision:
            return known
        names = (question.name,) if store is None else _names(store, question)
        try:
            labels = query.labels(entry.mapping, entry.resource, namespaced=question.namespace is not None)
        except query.CannotBuild as error:
            raise _unusable(question, error) from error
        return Meant(question, entry, names, labels, revision)

    def _build(self, meant: Meant) -> None:
        """What to ask the backend: one query, or several where one would be too long."""
        if meant.queries:
            return
        try:
            meant.queries = tuple(self._queries(meant))
        except query.CannotBuild as error:
            raise _unusable(meant.question, error) from error
        if meant.weight() < REMEMBERED_BYTES:
            self._remembered[meant.question] = meant

    def _queries(self, meant: Meant) -> list[str]:
        entry, question = meant.entry, meant.question

        def text(names: Sequence[str]) -> str:
            wanted = query.Wanted(question.namespace, names, question.series)
            return query.build(entry.rule, entry.series, wanted, meant.labels, careful=not self._compat)

        whole = text(meant.names)
        if self._compat or len(whole) <= query.MAX_CHARACTERS or meant.single:
            return [whole]
        fixed = len(text(meant.names[:1])) - len(meant.names[0])
        return [text(names) for names in query.cut(meant.names, whole=len(whole), fixed=fixed)]

    async def _take(self, meant: Meant, *, deadline: float) -> list[Taken]:
        """What the backend says now, or said a moment ago."""
        rule, take = meant.entry.rule, self._sources.snapshots.take
        try:
            taken = await asyncio.gather(
                *(take(text, policy=rule.policy, deadline=deadline) for text in meant.queries)
            )
        except errors.RuleRejected as error:
            raise self._reject(rule, error) from error
        if rule.id in self._rejected:
            self._rejected.discard(rule.id)
            log.info("rule_accepted", extra={"rule": rule.id})
        return taken

    def _reject(self, rule: Rule, error: errors.RuleRejected) -> errors.RuleRejected:
        """The refusal with the rule's name; told to the log once, until the rule works again."""
        if rule.id not in self._rejected:
            self._rejected.add(rule.id)
            log.warning(
                "rule_rejected", extra={"rule": rule.id, "position": rule.position, "words": error.message}
            )
        return errors.RuleRejected(error.message, next_step=f"{rule.id}: {error.next_step}")

    def _judge(self, meant: Meant, taken: Sequence[Taken]) -> None:
        """What of that is the value of which object, in the order of the objects."""
        snapshots = tuple(one.snapshot for one in taken)
        if meant.items and meant.made_with(snapshots) and not self._compat:
            return
        try:
            judged = self._values(meant, [one.result for one in snapshots])
        except errors.RuleRejected as error:
            raise self._reject(meant.entry.rule, error) from error
        if not judged.values and self._must_fail(meant):
            raise _no_value(meant, judged)
        now = self._clock.now() if self._compat else None
        meant.snapshots, meant.items, meant.written = snapshots, tuple(_items(meant, judged, now)), {}

    def _values(self, meant: Meant, results: Sequence[Result]) -> Judged:
        label, namespace_label = meant.labels
        asked = values.Asked(meant.names, label, meant.question.namespace, namespace_label)
        judged = values.by_object(_join(results), asked, meant.entry.rule.policy)
        for reason, count in judged.dropped.items():
            self._metrics.dropped.labels(reason).inc(count)
        return judged

    def _must_fail(self, meant: Meant) -> bool:
        if self._compat and meant.single:
            return True
        return meant.entry.rule.policy.on_missing == "error"

    def _conclude(self, meant: Meant, taken: Sequence[Taken]) -> Answer:
        """And write that down, with the age of the oldest part."""
        oldest = max(taken, key=lambda one: one.stale_seconds)
        return Answer(meant.items, meant.written, oldest.stale_seconds, oldest.cause)


def _names(store: Store, question: Question) -> tuple[str, ...]:
    names = tuple(one.name for one in store.select(question.namespace, question.objects))
    if not names:
        raise errors.NoObjects(not_found(question.metric, question.resource))
    return names


def _items(meant: Meant, judged: Judged, now: float | None) -> Iterator[Item]:
    """The values as items; `now` stands for the samples' times, as upstream has it."""
    for name in meant.names:
        value = judged.values.get(name)
        if value is not None:
            yield Item(
                resource=meant.entry.resource,
                namespace=meant.question.namespace,
                name=name,
                milli=value.milli,
                time=value.time if now is None else now,
                window_seconds=None,
            )


def _refuse_unlistable(question: Question, catalog: Catalog) -> None:
    """Upstream lists before it looks whether the metric exists, and fails on what cannot be listed."""
    known = catalog.kinds.parse(question.resource)
    if known is None or (question.namespace is not None and not known.namespaced):
        raise errors.ObjectsNotListable(errors.NO_LISTING)


def _unusable(question: Question, error: query.CannotBuild) -> errors.RuleUnusable:
    refusal = errors.RuleUnusable(not_found(question.metric, question.resource), next_step=str(error))
    refusal.cause = error.cause
    return refusal


def _no_value(meant: Meant, judged: Judged) -> errors.NoValue:
    question = meant.question
    name = question.name if meant.single else ""
    cause = judged.main_cause()
    if meant.single and cause == "NoSample":
        cause = "ObjectHasNoValue"  # the query names the object, so no sample at all means none for it
    return errors.NoValue(not_found(question.metric, question.resource, name), cause=cause)


def _join(results: Sequence[Result]) -> Result:
    """The parts of a question that was too long for one query, as one result; a part of another kind shows."""
    if len(results) == 1:
        return results[0]
    odd = [one for one in results if one.kind != "vector"]
    return replace(
        (odd or results)[0],
        samples=tuple(sample for one in results for sample in one.samples),
        histograms=sum(one.histograms for one in results),
    )
