"""Discovery and OpenAPI are there from the first moment, and change only when what they say changes."""

import dataclasses
import json

import pytest

from adapter.server.groups import Groups
from adapter.wire import apis
from tests.support.kit import PODS, Kit, goroutines
from tests.wire.data import golden
from tests.wire.test_openapi import EXTERNAL

CUSTOM = "custom.metrics.k8s.io"
LIST = f"/apis/{CUSTOM}/v1beta2"
PATHS = [
    "/apis",
    f"/apis/{CUSTOM}",
    LIST,
    f"/apis/{CUSTOM}/v1beta1",
    "/openapi/v2",
    "/openapi/v3",
    f"/openapi/v3/apis/{CUSTOM}",
    f"/openapi/v3{LIST}",
]
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
NAMES = (("pods/b", True), ("pods/a", True), ("namespaces/a", False))


def shown(groups, path):
    return json.loads(groups.find(path).body)


def etags(groups):
    return {path: groups.find(path).etag for path in PATHS}


@pytest.mark.parametrize("path", PATHS)
def test_every_document_is_there_before_a_catalog(path):
    """The first one is whole, and is not the same object as anything that a catalog holds."""
    assert shown(Groups(), path)


def test_a_catalog_changes_the_lists_and_nothing_else():
    """Both versions list the same; groups, aggregated form and OpenAPI keep their ETags."""
    groups = Groups()
    before = etags(groups)
    groups.publish(NAMES)
    after = etags(groups)
    assert {path for path in PATHS if before[path] != after[path]} == {LIST, f"/apis/{CUSTOM}/v1beta1"}
    assert [one["name"] for one in shown(groups, LIST)["resources"]] == ["namespaces/a", "pods/a", "pods/b"]
    assert shown(groups, LIST)["resources"] == shown(groups, f"/apis/{CUSTOM}/v1beta1")["resources"]


def test_order_of_the_catalog_does_not_matter():
    """The same metrics in another order are the same document; without them it is the first one again."""
    groups = Groups()
    empty = etags(groups)
    groups.publish(NAMES)
    listed = groups.find(LIST)
    groups.publish(tuple(reversed(NAMES)))
    assert groups.find(LIST) is listed
    groups.publish(())
    assert etags(groups) == empty


def test_no_document_but_the_lists_names_a_metric():
    """What the aggregator merges into the cluster's documents does not grow with the catalog."""
    groups = Groups()
    groups.publish([("pods/very_special", True)])
    for path in PATHS:
        for form in ("", "v2", "v2beta1"):
            body = groups.find(path, form).body
            assert (b"very_special" in body) == path.startswith(f"/apis/{CUSTOM}/"), path


def test_a_form_that_a_document_does_not_have_is_the_plain_one():
    """Only the list of groups has an aggregated form."""
    groups = Groups()
    assert groups.find(LIST, "v2") is groups.find(LIST)
    assert groups.find("/apis", "v2") is not groups.find("/apis")
    assert groups.find("/nosuch") is None


def test_a_group_is_one_row():
    """With it come its discovery, its place in the lists of groups and its OpenAPI; it has its own catalog."""
    groups = Groups((apis.CUSTOM, EXTERNAL))
    groups.publish(NAMES)
    groups.publish([("queue_depth", True)], group=EXTERNAL.group)
    assert [one["name"] for one in shown(groups, "/apis")["groups"]] == [CUSTOM, EXTERNAL.group]
    recorded = golden("discovery-external-v1beta1")["body"]
    assert shown(groups, f"/apis/{EXTERNAL.group}/v1beta1") == recorded
    assert len(shown(groups, LIST)["resources"]) == 3
    assert f"apis/{EXTERNAL.group}/v1beta1" in shown(groups, "/openapi/v3")["paths"]
    aggregated = json.loads(groups.find("/apis", "v2").body)
    assert [one["metadata"]["name"] for one in aggregated["items"]] == [CUSTOM, EXTERNAL.group]


def test_what_is_not_served_has_no_document():
    """Upstream has no group without a rule, so in compat mode neither have we; what is listed for it is not kept."""
    groups = Groups(())
    groups.publish(NAMES)
    assert groups.find(f"/apis/{CUSTOM}") is None
    assert groups.find(LIST) is None
    assert shown(groups, "/apis") == {"kind": "APIGroupList", "groups": []}
    assert shown(groups, "/openapi/v3") == {"paths": {}}


async def test_a_group_that_is_not_served_is_not_found():
    """404, not a 5xx."""
    kit = Kit()
    kit.entrance = kit.entrance_of(dataclasses.replace(kit.parts, groups=Groups(())))
    assert (await kit.ask(LIST)).status == 404


def test_group_is_that_of_upstream():
    """The recorded document, as the aggregator makes it, comes out byte for byte."""
    exchange = golden("discovery-custom-group")
    assert shown(Groups(), f"/apis/{CUSTOM}") == exchange["body"]
    assert len(Groups().find(f"/apis/{CUSTOM}").body) == int(dict(exchange["headers"])["Content-Length"])


@pytest.mark.parametrize("version", ["v2", "v2beta1"])
async def test_aggregated_form_goes_to_whoever_asks_for_it(version):
    """In its own media type, without which the aggregator does not take it; an ETag and Vary go with it."""
    recorded = dict(golden(f"direct-apis-aggregated-{version}")["headers"])
    reply = await (await goroutines()).ask("/apis", Accept=AGGREGATED.format(version))
    assert reply.status == 200
    assert reply.headers["Content-Type"] == recorded["Content-Type"]
    assert reply.headers["Vary"] == recorded["Vary"]
    assert reply.body["apiVersion"] == f"apidiscovery.k8s.io/{version}"
    assert reply.body["items"] == [
        {
            "metadata": {"name": CUSTOM},
            "versions": [
                {"version": "v1beta2", "freshness": "Current"},
                {"version": "v1beta1", "freshness": "Current"},
            ],
        }
    ]


@pytest.mark.parametrize(
    "name",
    [
        "direct-discovery-trailing-slash",
        "direct-discovery-v1beta2-table",
        "direct-discovery-v1beta2-protobuf",
        "direct-apis-protobuf",
    ],
)
async def test_discovery_is_json_whatever_is_accepted(name):
    """Upstream writes protobuf too. Ours is JSON then, with the same status: every client reads what the type says."""
    exchange = golden(name)
    reply = await (await goroutines()).ask(exchange["path"], **exchange["request_headers"])
    assert reply.status == exchange["status"] == 200
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.body["kind"] in {"APIResourceList", "APIGroupList"}


async def test_openapi_has_no_protobuf():
    """406, on which Go's client goes on without; the aggregator asks for JSON."""
    exchange = golden("direct-openapi-v2-protobuf")
    kit = Kit()
    assert (await kit.ask(exchange["path"], **exchange["request_headers"])).status == 406
    both = exchange["request_headers"]["Accept"] + ", application/json"
    assert (await kit.ask(exchange["path"], Accept=both)).body["swagger"] == "2.0"


@pytest.mark.parametrize(
    "accept", ["", "*/*", "text/html", "application/yaml;q=0", "=;,", AGGREGATED.format("v9")]
)
@pytest.mark.parametrize("path", [*PATHS, LIST + "/", LIST + "?hash=x&timeout=nonsense", PODS])
async def test_no_request_for_a_document_is_a_5xx_or_a_redirect(path, accept):
    """Whatever the caller accepts or adds, and for a path in the middle of nowhere."""
    reply = await (await goroutines()).ask(path, Accept=accept)
    assert reply.status in {200, 400, 404, 406}
    assert "Location" not in reply.headers
