"""Lists of values have the recorded bytes."""

import json
from datetime import datetime

import pytest

from adapter.wire import lists, quantity
from adapter.wire.lists import Item
from adapter.wire.resources import Resource
from tests.wire.data import body_bytes, golden, vectors

POD = Resource("", "v1", "pods", "pod", "Pod", namespaced=True)
RECORDED = [
    "object-deployment",
    "object-node",
    "object-node-v1beta1",
    "values-quantities",
    "values-v1beta1-metric-selector",
    "values-v1beta1-one-pod",
    "values-v1beta1-selector",
    "values-v1beta2-metric-selector",
    "values-v1beta2-metric-selector-no-match",
    "values-v1beta2-namespace-object",
    "values-v1beta2-selector",
]
BODIES = {case["title"]: case["body"] for case in vectors("compat-vectors")["response_bodies"]}


def item_of(recorded):
    """The Item that a recorded member of a list stands for."""
    described = recorded["describedObject"]
    group, _, version = described["apiVersion"].partition("/")
    resource = Resource(group, version, "", "", described["kind"], namespaced=True)
    value = recorded["value"]
    milli = int(value.removesuffix("m")) if value.startswith("-9") else quantity.parse(value)
    time = datetime.fromisoformat(recorded["timestamp"]).timestamp() + 0.75
    return Item(resource, described.get("namespace"), described["name"], milli, time, None)


def written_again(body):
    """metric_values() of what a recorded list holds."""
    first = body["items"][0] if body["items"] else {}
    named = first.get("metric", {"name": first.get("metricName"), "selector": first.get("selector")})
    version = body["apiVersion"].partition("/")[2]
    return lists.metric_values(
        version, named["name"] or "", named["selector"], [item_of(one) for one in body["items"]]
    )


@pytest.mark.parametrize("name", RECORDED)
def test_bytes_are_those_of_upstream(name):
    """Every recorded list comes out byte for byte: members, their order, the line feed at the end."""
    exchange = golden(name)
    assert written_again(exchange["body"]) == body_bytes(exchange)


@pytest.mark.parametrize("title", ["v1beta1 list", "v1beta2 list with a metric selector"])
def test_bodies_of_the_vectors(title):
    """The lists of the compatibility vectors come out the same."""
    assert json.loads(written_again(BODIES[title])) == BODIES[title]


@pytest.mark.parametrize(("version", "member"), [("v1beta1", "window"), ("v1beta2", "windowSeconds")])
def test_window_is_written_when_known(version, member):
    """A known window stands between time and value, under the name that the version has for it."""
    item = Item(POD, "shop", "web-1", 1500, 0.0, 60)
    value = json.loads(lists.metric_values(version, "m", None, [item]))["items"][0]
    assert value[member] == 60
    order = list(value)
    assert order[order.index("timestamp") :][:3] == ["timestamp", member, "value"]


def test_items_keep_order_and_times():
    """Items stand in the order in which they came, each with its own time."""
    items = [Item(POD, "shop", name, 1000, time, None) for name, time in [("b", 1.0), ("a", 2.9), ("c", 1.0)]]
    values = json.loads(lists.metric_values("v1beta2", "m", None, items))["items"]
    assert [value["describedObject"]["name"] for value in values] == ["b", "a", "c"]
    assert [value["timestamp"][-3:] for value in values] == ["01Z", "02Z", "01Z"]
