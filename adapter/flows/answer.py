"""Answer: the story of a request, in six steps. Each step is a line here and a room elsewhere.

A request comes in; we learn who asks and whether they may; which metric it is; which objects are meant; what their
values are; and write that down.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from adapter import errors
from adapter.catalog.catalog import Catalog, Entry, not_found
from adapter.objects.store import Store
from adapter.promql.vector import Result
from adapter.rulebook import query
from adapter.rulebook.model import Policy
from adapter.snapshots import values
from adapter.snapshots.source import Snapshots, Taken
from adapter.snapshots.values import Judged
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
        entry = self._find(question)
        meant = await self._select(question, entry, deadline=deadline)
        texts = self._build(meant)
        taken = await self._take(texts, entry.rule.policy, deadline=deadline)
        judged = self._judge(meant, taken)
        return self._conclude(meant, judged, taken)

    def _find(self, question: Question) -> Entry:
        """Which metric it is."""
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

    async def _select(self, question: Question, entry: Entry, *, deadline: float) -> Meant:
        """Which objects are meant, and which labels stand for them."""
        names: tuple[str, ...] = (question.name,)
        if question.name == ALL:
            store = await self.objects.objects(entry.resource, deadline=deadline)
            names = tuple(one.name for one in store.select(question.namespace, question.objects))
            if not names:
                raise errors.NoObjects(not_found(question.metric, question.resource))
        try:
            labels = query.labels(entry.mapping, entry.resource, namespaced=question.namespace is not None)
        except query.CannotBuild as error:
            raise _unusable(question, error) from error
        return Meant(question, entry, names, labels)

    def _build(self, meant: Meant) -> list[str]:
        """What to ask the backend: one query, or several where one would be too long."""
        entry, question = meant.entry, meant.question

        def text(names: Sequence[str]) -> str:
            wanted = query.Wanted(question.namespace, names, question.series)
            return query.build(entry.rule, entry.series, wanted, meant.labels, careful=not self.compat)

        try:
            whole = text(meant.names)
            if self.compat or len(whole) <= query.MAX_CHARACTERS or meant.single:
                return [whole]
            fixed = len(text(meant.names[:1])) - len(meant.names[0])
            return [text(names) for names in query.cut(meant.names, whole=len(whole), fixed=fixed)]
        except query.CannotBuild as error:
            raise _unusable(question, error) from error

    async def _take(self, texts: Sequence[str], policy: Policy, *, deadline: float) -> list[Taken]:
        """What the backend says now, or said a moment ago."""
        return await asyncio.gather(
            *(self.snapshots.take(text, policy=policy, deadline=deadline) for text in texts)
        )

    def _judge(self, meant: Meant, taken: Sequence[Taken]) -> Judged:
        """What of that is the value of which object."""
        results = [one.snapshot.result for one in taken]
        whole = results[0] if len(results) == 1 else _join(results)
        label, namespace_label = meant.labels
        asked = values.Wanted(meant.names, label, meant.question.namespace, namespace_label)
        judged = values.by_object(whole, asked, meant.entry.rule.policy)
        for reason, count in judged.dropped.items():
            self.metrics.dropped.labels(reason).inc(count)
        return judged

    def _conclude(self, meant: Meant, judged: Judged, taken: Sequence[Taken]) -> Answer:
        """And write that down, in the order of the objects."""
        oldest = max(taken, key=lambda one: one.stale_seconds)
        if not judged.values and self._must_fail(meant):
            raise _no_value(meant, judged)
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
            for name in meant.names
            if (value := judged.values.get(name)) is not None
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


def _no_value(meant: Meant, judged: Judged) -> errors.NoValue:
    question = meant.question
    name = question.name if meant.single else ""
    return errors.NoValue(not_found(question.metric, question.resource, name), cause=judged.main_cause())


def _join(results: Sequence[Result]) -> Result:
    """The parts of a question that was too long for one query, as one result; a part of another kind shows."""
    odd = [one for one in results if one.kind != "vector"]
    return replace(
        (odd or results)[0],
        samples=tuple(sample for one in results for sample in one.samples),
        histograms=sum(one.histograms for one in results),
    )
