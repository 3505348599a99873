"""Every custom-metrics vector of prometheus-adapter, played against the adapter without sockets, in compat mode.

The vectors are answers of the real program; a weak agreement does not count here: query texts must be equal.
"""

import functools
import json
import pathlib
import urllib.parse
from typing import Any

import pytest
import yaml

from adapter.objects.store import Object
from adapter.wire import selectors
from adapter.wire.resources import Kinds, Resource
from tests.support.kit import Kit, shapes

FILE = pathlib.Path(__file__).parent.parent / "data" / "compat-vectors.yaml"
DOCUMENT = yaml.load(FILE.read_text(), Loader=yaml.CSafeLoader)
CUSTOM = "/apis/custom.metrics.k8s.io/"


@functools.cache
def cluster() -> Kinds:
    """The kinds of the vectors' cluster, in its order, preferred version first."""
    return Kinds.of(
        Resource(
            group["group"], version, one["name"], one["singular"], one["kind"], namespaced=one["namespaced"]
        )
        for group in DOCUMENT["cluster"]
        for version in sorted(group["versions"], key=lambda version: version != group["preferred"])
        for one in group["resources"]
    )


def kit_for(rules: list[dict[str, Any]], series: list[dict[str, str]]) -> Kit:
    kit = Kit(json.dumps({"rules": rules}), compat=True)
    kit.kinds.known = cluster()
    listed = {}
    for one in series:
        listed.setdefault(one["__name__"], set()).update(one.keys() - {"__name__"})
    found = shapes({name: tuple(labels) for name, labels in listed.items()})
    kit.backend.listings = {rule.get("seriesQuery", ""): found for rule in rules}
    return kit


def place(kit: Kit, request: dict[str, Any]) -> None:
    """Make the request's objects those that the cluster holds, with labels that its selector selects."""
    words = request["path"].removeprefix(CUSTOM).split("/")[1:]
    namespace = words[1] if words[0] == "namespaces" and len(words) > 4 else ""
    resource = words[-3] if words[-2] != "metrics" else "namespaces"
    known = cluster().parse(resource)
    kit.objects.stores.clear()
    if known is None:
        return
    try:
        selector = selectors.parse((request.get("query") or {}).get("labelSelector", ""))
    except selectors.SelectorSyntaxError:
        selector = selectors.EVERYTHING
    labels = {
        one.key: next(iter(one.values), "")
        for one in selector.requirements
        if one.operator in ("=", "==", "in", "exists")
    }
    names = request.get("objects") or []
    for one in cluster().resources:
        kit.objects.place(str(one.key), "")
    for name in names:
        kit.objects.stores[str(known.key)].put(Object(namespace, name, labels))


STEPS = [
    pytest.param(vector, at, id=f"{vector['id']}/{at}")
    for vector in DOCUMENT["vectors"]
    if vector["api"] == "custom"
    for at in range(1 + len(vector.get("more", [])))
]


@pytest.mark.parametrize(("vector", "at"), STEPS)
async def test_request_is_answered_as_upstream_does(vector: dict[str, Any], at: int) -> None:
    """The query text, the status, the message and the items are those of the real prometheus-adapter."""
    kit = kit_for(vector.get("rules") or [vector["rule"]], vector["series"])
    await kit.relist()
    step = [vector, *vector.get("more", [])][at]
    request, expect = step["request"], step["expect"]
    place(kit, request)
    kit.backend.samples = [(one["metric"], float(one["value"])) for one in request.get("prometheus", [])]
    reply = await kit.ask(request["path"], request.get("query"))
    if "promql_any_of" in expect:
        assert len(kit.backend.queries) == 1
        assert kit.backend.queries[0] in expect["promql_any_of"]
    elif "promql" in expect:
        wanted = [] if expect["promql"] is None else [expect["promql"]]
        assert [_unordered(one) for one in kit.backend.queries] == [_unordered(one) for one in wanted]
    path = urllib.parse.unquote(request["path"])
    single = path.split("/")[-2] != "*" and "/*/metrics/" not in path
    empty = 404 if single and not request.get("prometheus") else 200
    assert reply.status == expect.get("status", empty), reply.body
    if "reason" in expect:
        assert reply.body.get("reason", "") == expect["reason"]
    if "message" in expect:
        assert reply.body["message"] == expect["message"]
    elif reply.status == 404:
        written = path.split("/")
        name = f" {written[-2]}" if single and kit.backend.queries else ""
        resource = written[-3]
        if written[-2] == "metrics":
            resource, name = "namespaces", f" {written[-3]}"
        assert (
            reply.body["message"]
            == f"the server could not find the metric {written[-1]} for {resource}{name}"
        )
    if "items" in expect:
        assert [_short(item) for item in reply.body["items"]] == [
            {key: str(value) for key, value in item.items()} for item in expect["items"]
        ]


@pytest.mark.parametrize(
    "vector", [pytest.param(one, id=one["id"]) for one in DOCUMENT["vectors"] if one["api"] == "custom"]
)
async def test_discovery_lists_what_upstream_lists(vector: dict[str, Any]) -> None:
    """Both versions list exactly upstream's resources, with its namespaced flags."""
    kit = kit_for(vector.get("rules") or [vector["rule"]], vector["series"])
    await kit.relist()
    for version in ("v1beta1", "v1beta2"):
        assert await kit.discovery(version) == vector["expect"]["discovery"]


def _unordered(query: str) -> str:
    """Names in an alternative come in the order of the object list, which is sorted here; a vector's need not be."""
    head, mark, tail = query.partition('=~"')
    if not mark or "|" not in tail:
        return query
    names, quote, rest = tail.partition('"')
    return head + mark + "|".join(sorted(names.split("|"))) + quote + _unordered(rest)


def _short(item: dict[str, Any]) -> dict[str, str]:
    about = item["describedObject"]
    short = {key: about.get(key, "") for key in ("kind", "apiVersion", "name", "namespace")}
    return {key: value for key, value in {**short, "value": item["value"]}.items() if value}
