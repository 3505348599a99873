"""Answer: the story of a request, in six steps. Each step is a line here and a room elsewhere.

A request comes in; we learn who asks and whether they may; which metric it is; which objects are meant; what their
values are; and write that down.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from adapter import errors
from adapter.catalog.catalog import Catalog, Entry, not_found
from adapter.objects.store import Store
from adapter.promql.vector import Result
from adapter.rulebook import query
from adapter.snapshots import values
from adapter.snapshots.source import Snapshots, Taken
from adapter.telemetry.clock import Clock
from adapter.telemetry.metrics import Metrics
from adapter.wire import selectors
from adapter.wire.lists import Item
from adapter.wire.resources import Resource
from adapter.wire.selectors import Selector

ALL = "*"


@dataclass(frozen=True, slots=True)
class Question:
    """One request. `resource` is as written in the path; `name` may be "*"; `namespace` is None without one."""

    resource: str
    name: str
    metric: str
    namespace: str | None = None
    objects: Selector = selectors.EVERYTHING
    series: Selector = selectors.EVERYTHING


@dataclass(frozen=True, slots=True)
class Answer:
    """The values of a question, in the order of the objects; `stale_seconds` > 0: how old, and `stale_cause` why."""

    items: tuple[Item, ...]
    stale_seconds: float = 0.0
    stale_cause: str | None = None


@dataclass(frozen=True, slots=True)
class Meant:
    """The objects that a question is about, and the metric that it asks for."""

    question: Question
    entry: Entry
    names: tuple[str, ...]
    labels: tuple[str, str | None]

    @property
    def single(self) -> bool:
        """Whether one object was named."""
        return self.question.name != ALL


class Objects(Protocol):
    """Where objects are had (the mirror)."""

    async def objects(self, resource: Resource, *, deadline: float) -> Store:
        """The store of one resource; raises StillStarting, ObjectsNotListable."""
        ...


class Offer(Protocol):
    """Where the catalog is had (the relist)."""

    catalog: Catalog
    complete: bool


@dataclass(frozen=True, slots=True)
class Answers:
    """This answers questions. `compat`: as prometheus-adapter would, in every status and value."""

    offer: Offer
    objects: Objects
    snapshots: Snapshots
    clock: Clock
    metrics: Metrics
    compat: bool = False

    async def answer(self, question: Question, *, deadline: float) -> Answer:
        """The values for `question`; `deadline` in monotonic seconds. Raises errors.AdapterError."""
        entry = self._offered(question)
        meant = await self._meant(question, entry, deadline=deadline)
        texts = self._queries(meant)
        taken = await self._taken(meant, texts, deadline=deadline)
        judged = self._judged(meant, taken)
        return self._written(meant, judged, taken)

    # -- which metric it is

    def _offered(self, question: Question) -> Entry:
        catalog = self.offer.catalog
        if self.compat and question.name == ALL:
            _refuse_unlistable(question, catalog)
        try:
            return catalog.find(
                resource=question.resource,
                namespaced=question.namespace is not None,
                metric=question.metric,
            )
        except errors.MetricUnknown as error:
            if self.offer.complete or self.compat:
                raise
            raise errors.StillStarting(
                error.message,
                next_step="the first list of series has not come yet; ask again in a few seconds",
            ) from error

    # -- which objects are meant

    async def _meant(self, question: Question, entry: Entry, *, deadline: float) -> Meant:
        names: tuple[str, ...] = (question.name,)
        if question.name == ALL:
            store = await self.objects.objects(entry.resource, deadline=deadline)
            names = tuple(one.name for one in store.select(question.namespace, question.objects))
            if not names:
                raise errors.NoObjects(not_found(question.metric, question.resource))
        wanted = query.Wanted(entry.resource, question.namespace, names, question.series)
        try:
            labels = query.labels(entry.mapping, wanted, self.offer.catalog.kinds)
        except query.CannotBuild as error:
            raise _unusable(question, error) from error
        return Meant(question, entry, names, labels)

    # -- what to ask for their values

    def _queries(self, meant: Meant) -> list[str]:
        try:
            return self._split(meant, meant.names)
        except query.CannotBuild as error:
            raise _unusable(meant.question, error) from error

    def _split(self, meant: Meant, names: Sequence[str]) -> list[str]:
        entry, question = meant.entry, meant.question
        wanted = query.Wanted(entry.resource, question.namespace, names, question.series)
        text = query.build(entry.rule, entry.series, wanted, meant.labels, careful=not self.compat)
        if self.compat or len(names) == 1 or len(text) <= query.MAX_CHARACTERS:
            return [text]
        half = len(names) // 2
        return [*self._split(meant, names[:half]), *self._split(meant, names[half:])]

    # -- what their values are

    async def _taken(self, meant: Meant, texts: Sequence[str], *, deadline: float) -> list[Taken]:
        policy = meant.entry.rule.policy
        return await asyncio.gather(
            *(self.snapshots.take(text, policy=policy, deadline=deadline) for text in texts)
        )

    def _judged(self, meant: Meant, taken: Sequence[Taken]) -> values.Judged:
        results = [one.snapshot.result for one in taken]
        whole = results[0] if len(results) == 1 else _joined(results)
        label, namespace_label = meant.labels
        wanted = values.Wanted(meant.names, label, meant.question.namespace, namespace_label)
        judged = values.by_object(whole, wanted, meant.entry.rule.policy)
        for reason, count in judged.dropped.items():
            self.metrics.dropped.labels(reason).inc(count)
        return judged

    # -- and write that down

    def _written(self, meant: Meant, judged: values.Judged, taken: Sequence[Taken]) -> Answer:
        oldest = max(taken, key=lambda one: one.stale_seconds)
        found = [(name, judged.values[name]) for name in meant.names if name in judged.values]
        if not found and self._must_fail(meant):
            raise _no_value(meant, judged)
        if not found:
            return Answer((), oldest.stale_seconds, oldest.cause)
        now = self.clock.now()
        items = tuple(
            Item(
                resource=meant.entry.resource,
                namespace=meant.question.namespace,
                name=name,
                milli=value.milli,
                time=now if self.compat else value.time,
                window_seconds=None,
            )
            for name, value in found
        )
        return Answer(items, oldest.stale_seconds, oldest.cause)

    def _must_fail(self, meant: Meant) -> bool:
        if self.compat and meant.single:
            return True
        return meant.entry.rule.policy.on_missing == "error"


def _refuse_unlistable(question: Question, catalog: Catalog) -> None:
    """Upstream lists before it looks whether the metric exists, and fails on what cannot be listed."""
    known = catalog.kinds.parse(question.resource)
    if known is None or (question.namespace is not None and not known.namespaced):
        raise errors.ObjectsNotListable(errors.NO_LISTING)


def _unusable(question: Question, error: query.CannotBuild) -> errors.RuleUnusable:
    refusal = errors.RuleUnusable(not_found(question.metric, question.resource), next_step=str(error))
    refusal.cause = error.cause
    return refusal


def _no_value(meant: Meant, judged: values.Judged) -> errors.NoValue:
    question = meant.question
    name = question.name if meant.single else ""
    return errors.NoValue(not_found(question.metric, question.resource, name), cause=judged.main_cause())


def _joined(results: Sequence[Result]) -> Result:
    """The parts of one question that was too long for one query, as one result."""
    first = results[0]
    return Result(
        kind=next((one.kind for one in results if one.kind != "vector"), first.kind),
        samples=tuple(sample for one in results for sample in one.samples),
        warnings=tuple(text for one in results for text in one.warnings),
        infos=tuple(text for one in results for text in one.infos),
        histograms=sum(one.histograms for one in results),
    )
