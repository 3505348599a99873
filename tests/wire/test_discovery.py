"""Discovery documents have the recorded members, and keep the aggregator's rules."""

import json

import pytest

from adapter.wire import discovery
from tests.wire.data import HERE, body_bytes, golden, vectors

CUSTOM = "custom.metrics.k8s.io"
EXTERNAL = "external.metrics.k8s.io"
BODIES = {case["title"]: case["body"] for case in vectors("compat-vectors")["response_bodies"]}


def in_our_order(body):
    """Upstream lists resources in no order; ours are sorted by name."""
    return body | {"resources": sorted(body["resources"], key=lambda one: one["name"])}


def resource_list(entries, group_version="g/v1", kind="MetricValueList"):
    """The one document of one group-version."""
    return discovery.resource_lists([group_version], entries, kind)[group_version]


def written_again(body):
    """What a recorded document holds, written by us."""
    entries = [(one["name"], one["namespaced"]) for one in body["resources"]]
    return resource_list(entries, body["groupVersion"], body["resources"][0]["kind"])


@pytest.mark.parametrize("name", ["discovery-custom-v1beta1", "discovery-external-v1beta1"])
def test_resource_lists_are_those_of_upstream(name):
    """A recorded list comes out byte for byte, but for the order of its resources."""
    exchange = golden(name)
    exchange["body"] = in_our_order(exchange["body"])
    assert written_again(exchange["body"]) == body_bytes(exchange)


@pytest.mark.parametrize("title", ["custom version discovery", "external version discovery"])
def test_resource_lists_of_the_vectors(title):
    """The documents of the compatibility vectors come out the same."""
    assert json.loads(written_again(BODIES[title])) == in_our_order(BODIES[title])


def test_order_and_repeats_do_not_matter():
    """The same entries give the same bytes, however often and in whatever order they come."""
    entries = [("pods/b", True), ("namespaces/a", False), ("pods/a", True)]
    once = resource_list(entries)
    again = resource_list([*reversed(entries), *entries])
    assert once == again
    assert [one["name"] for one in json.loads(once)["resources"]] == ["namespaces/a", "pods/a", "pods/b"]


def test_one_parent_has_one_scope():
    """Entries that disagree would take the group-version off the air: all become namespaced."""
    entries = [("things/a", False), ("things/b", True), ("nodes/a", False)]
    resources = json.loads(resource_list(entries))["resources"]
    assert {one["name"]: one["namespaced"] for one in resources} == {
        "things/a": True,
        "things/b": True,
        "nodes/a": False,
    }


def test_nothing_on_offer_is_an_empty_list():
    """Without a metric the document is complete, with no resources."""
    assert json.loads(resource_list([]))["resources"] == []


def test_group_prefers_its_first_version():
    """An APIGroup lists its versions in order and prefers the first."""
    assert discovery.group(CUSTOM, ["v1beta2", "v1beta1"]) == (
        b'{"kind":"APIGroup","apiVersion":"v1","name":"custom.metrics.k8s.io","versions":['
        b'{"groupVersion":"custom.metrics.k8s.io/v1beta2","version":"v1beta2"},'
        b'{"groupVersion":"custom.metrics.k8s.io/v1beta1","version":"v1beta1"}],'
        b'"preferredVersion":{"groupVersion":"custom.metrics.k8s.io/v1beta2","version":"v1beta2"}}\n'
    )


def test_group_list_is_that_of_upstream():
    """The recorded list of groups comes out byte for byte."""
    groups = [(CUSTOM, ["v1beta1"]), (EXTERNAL, ["v1beta1"])]
    assert discovery.group_list(groups) == body_bytes(golden("direct-apis"))


@pytest.mark.parametrize("version", discovery.AGGREGATED)
def test_aggregated_form_is_that_of_upstream(version):
    """Without a group it is the recorded document byte for byte, in the recorded media type."""
    exchange = golden(f"direct-apis-aggregated-{version}")
    assert discovery.aggregated(version, []) == body_bytes(exchange)
    assert discovery.aggregated_type(version) == dict(exchange["headers"])["Content-Type"]


def test_aggregated_form_has_versions_and_no_metrics():
    """Its groups are written as the cluster's own API server writes those that it knows no resources of."""
    recorded = json.loads((HERE / "data" / "kube-apiserver-apis-aggregated-v2.json").read_text())["body"]
    items = [one for one in recorded["items"] if one["metadata"]["name"] in {CUSTOM, EXTERNAL}]
    groups = [(one["metadata"]["name"], [version["version"] for version in one["versions"]]) for one in items]
    assert len(groups) == 2
    assert json.loads(discovery.aggregated("v2", groups))["items"] == items


def test_paths_are_those_of_upstream():
    """The recorded list of paths comes out with the same length and members, sorted."""
    exchange = golden("direct-root")
    paths = exchange["body"]["paths"]
    sent = discovery.paths(reversed(paths))
    assert json.loads(sent) == {"paths": paths}
    assert len(sent) == int(dict(exchange["headers"])["Content-Length"])


def test_version_is_ours():
    """The document has the members that clients of Kubernetes read, with our release in them."""
    document = json.loads(discovery.version("1.20.3"))
    assert (document["major"], document["minor"], document["gitVersion"]) == ("1", "20", "v1.20.3")
    assert list(document)[:4] == ["major", "minor", "gitVersion", "gitCommit"]
