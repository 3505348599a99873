"""The adapter without sockets: real rulebook, catalog, answers and handlers between a fake backend and fake objects.

`Kit(rules=..., series=..., objects=...)`, then `await kit.relist()`, then `await kit.ask(path, query)`.
"""

import asyncio
import json
import re
import urllib.parse
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp.test_utils import make_mocked_request

from adapter import errors
from adapter.flows import answer
from adapter.flows.answer import Answers
from adapter.flows.relist import Relist, Sources
from adapter.objects.store import Object, Store
from adapter.promql.vector import Result, Sample, SeriesShape
from adapter.rulebook import parse
from adapter.server.admission import Admission, Everyone
from adapter.server.entrance import Entrance
from adapter.server.groups import Groups
from adapter.server.handlers import Handlers, Parts
from adapter.server.health import Health
from adapter.settings import Limits, Relisting
from adapter.snapshots.source import Snapshots
from adapter.telemetry.metrics import Metrics
from adapter.wire.resources import Kinds, Resource
from tests.support.clock import FakeClock

USUAL_KINDS = Kinds(
    (
        Resource("", "v1", "pods", "pod", "Pod", namespaced=True),
        Resource("", "v1", "namespaces", "namespace", "Namespace", namespaced=False),
        Resource("", "v1", "services", "service", "Service", namespaced=True),
        Resource("", "v1", "nodes", "node", "Node", namespaced=False),
        Resource("apps", "v1", "deployments", "deployment", "Deployment", namespaced=True),
    )
)

GOROUTINES = """\
rules:
- seriesQuery: 'go_goroutines{job="my-go-app"}'
  resources:
    overrides:
      namespace: {resource: "namespace"}
      pod: {resource: "pod"}
  name:
    matches: "go_goroutines"
    as: "goroutines"
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
"""

SERIES = {"go_goroutines": ("namespace", "pod", "job", "instance")}
PODS = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/pods"


@dataclass
class FakeBackend:
    """Series by seriesQuery and one result for every query; counts what it was asked."""

    listings: dict[str, tuple[SeriesShape, ...]] = field(default_factory=dict)
    samples: list[tuple[dict[str, str], float]] = field(default_factory=list)
    kind: str = "vector"
    at: float = 1_714_557_590.0
    warnings: tuple[str, ...] = ()
    queries: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    failure: errors.AdapterError | None = None
    failing_listings: set[str] = field(default_factory=set)

    async def instant(self, promql: str, *, deadline: float) -> Result:
        self.queries.append(promql)
        if self.failure is not None:
            raise self.failure
        samples = tuple(Sample(labels, value, self.at) for labels, value in self.samples)
        return Result(kind=self.kind, samples=samples, warnings=self.warnings, histograms=0)

    async def series(self, match: str, *, start: float, deadline: float) -> tuple[SeriesShape, ...]:
        self.asked.append(match)
        if match in self.failing_listings:
            raise errors.BackendUnavailable("unable to fetch metrics")
        return self.listings.get(match, ())


@dataclass
class FakeObjects:
    """Stores by plural name; a kind that is not there cannot be listed."""

    stores: dict[str, Store] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def place(self, resource: str, namespace: str, *names: str, labels: dict[str, str] | None = None) -> None:
        store = self.stores.setdefault(resource, Store())
        for name in names:
            store.put(Object(namespace, name, labels or {}))

    async def objects(self, resource: Resource, *, deadline: float) -> Store:
        self.asked.append(str(resource.key))
        if str(resource.key) not in self.stores:
            raise errors.ObjectsNotListable(errors.NO_LISTING)
        return self.stores[str(resource.key)]


@dataclass
class FakeKinds:
    """The kinds of a cluster; remembers which groups it was asked for."""

    known: Kinds = USUAL_KINDS
    asked: list[frozenset[str] | None] = field(default_factory=list)
    failure: errors.AdapterError | None = None

    async def kinds(self, groups: frozenset[str] | None) -> Kinds:
        self.asked.append(groups)
        if self.failure is not None:
            raise self.failure
        return self.known


def shapes(series: dict[str, tuple[str, ...]]) -> tuple[SeriesShape, ...]:
    """Shapes from {series name: label names}."""
    return tuple(SeriesShape(name, frozenset(labels)) for name, labels in series.items())


@dataclass(frozen=True)
class Reply:
    status: int
    body: Any
    headers: dict[str, str]

    @property
    def values(self) -> dict[str, str]:
        """{object name: value} of a value list."""
        return {item["describedObject"]["name"]: item["value"] for item in self.body["items"]}

    @property
    def cause(self) -> str:
        return self.body["details"]["causes"][0]["reason"]


class Kit:
    """All of it, connected; `book`, `backend`, `objects`, `kinds`, `clock` are there to be changed."""

    def __init__(
        self,
        rules: str = GOROUTINES,
        *,
        series: dict[str, tuple[str, ...]] | None = None,
        compat: bool = False,
        ttl: float = 0.0,
        limits: Limits | None = None,
        backend: FakeBackend | None = None,
        admission: Admission | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.clock, self.backend = FakeClock(), backend or FakeBackend()
        self.objects, self.kinds = FakeObjects(), FakeKinds()
        self.book = parse.parse(rules, "rules.yaml", compat=compat)
        for rule in self.book.rules:
            self.backend.listings[rule.series_query] = shapes(SERIES if series is None else series)
        self.flow = Relist(
            self.book.rules,
            Sources(self.backend, self.kinds, self.clock, sleep, lambda: 1.0),
            Relisting(),
            compat=compat,
        )
        self.snapshots = Snapshots(
            self.backend, self.clock, ttl_seconds=ttl, share=not compat, random=lambda: 0.5
        )
        self.groups, self.metrics = Groups(), Metrics()
        answers = Answers(
            answer.Sources(self.flow, self.objects, self.snapshots), self.clock, self.metrics, compat=compat
        )
        self.parts = Parts(
            answers=answers,
            groups=self.groups,
            health=Health(live={"ping": lambda: None}, ready={"ping": lambda: None}),
            metrics=self.metrics,
            clock=self.clock,
            limits=limits or Limits(),
            compat=compat,
        )
        self.admission: Admission = admission or Everyone()
        self.entrance = self.entrance_of(self.parts)

    def entrance_of(self, parts: Parts) -> Entrance:
        """The way in to handlers with these parts."""
        return Entrance(Handlers(parts), self.admission, self.metrics, self.clock, compat=parts.compat)

    async def relist(self) -> bool:
        good = await self.flow.once()
        self.groups.publish(self.flow.catalog.names())
        return good

    async def ask(
        self, path: str, query: dict[str, str] | None = None, *, method: str = "GET", **headers: str
    ) -> Reply:
        """`path` as on the wire; `query` is encoded here."""
        target = path + ("?" + urllib.parse.urlencode(query) if query else "")
        request = make_mocked_request(method, target, headers=headers)
        response = await self.entrance.handle(request)
        text = bytes(response.body or b"").decode()
        body = json.loads(text) if response.content_type == "application/json" and text else text
        return Reply(response.status, body, dict(response.headers))

    async def discovery(self, version: str = "v1beta1") -> dict[str, bool]:
        reply = await self.ask(f"/apis/custom.metrics.k8s.io/{version}")
        return {one["name"]: one["namespaced"] for one in reply.body["resources"]}


async def goroutines(*pods: str, **changes: Any) -> Kit:
    """A kit with the README's rule, pods in `default`, and its first relist done."""
    kit = Kit(**changes)
    kit.objects.place("pods", "default", *(pods or ("web-1", "web-2")))
    kit.objects.place("namespaces", "", "default", "other")
    await kit.relist()
    return kit


def parts_of(path: str) -> tuple[str | None, str, str]:
    """(namespace, resource, name) of a request path of the custom API."""
    found = re.fullmatch(r"/apis/[^/]+/[^/]+/(?:namespaces/([^/]+)/)?([^/]+)/([^/]+)/[^/]+", path)
    assert found, path
    return found[1], found[2], found[3]
