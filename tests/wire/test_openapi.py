"""OpenAPI documents have the recorded paths, operation ids and kinds, and nothing that could clash with the cluster's."""

import json
import re

import pytest

from adapter.wire import apis, openapi
from adapter.wire.apis import NUMBER, QUANTITY, TEXT, TIME, Api, Operation
from tests.wire.data import golden

EXTERNAL = Api(
    group="external.metrics.k8s.io",
    versions=("v1beta1",),
    package="external_metrics",
    stem="ExternalMetrics",
    kind="ExternalMetricValue",
    fields={
        "v1beta1": {
            "metricName": TEXT,
            "metricLabels": {"type": "object", "additionalProperties": TEXT},
            "timestamp": TIME,
            "window": NUMBER,
            "value": QUANTITY,
        }
    },
    optional=frozenset(("window",)),
    operations=(
        Operation(
            "namespaces/{namespace}/{resource}",
            "list{}ExternalMetricValue",
            "the values of a metric",
            ("labelSelector",),
        ),
    ),
)
"""A group that is not served yet: a row is all it takes."""

BOTH = (apis.CUSTOM, EXTERNAL)
VERSIONS = [
    (apis.CUSTOM, "v1beta1", "direct-openapi-v3-custom-v1beta1"),
    (apis.CUSTOM, "v1beta2", "direct-openapi-v3-custom-v1beta2"),
    (EXTERNAL, "v1beta1", "direct-openapi-v3-external-v1beta1"),
]


def ids(document):
    """{path: {method: operation id}}, as the recorded outlines have it."""
    return {path: {"get": entry["get"]["operationId"]} for path, entry in document["paths"].items() if entry}


def outline(schema):
    """What a client sees of a schema: its members, those that are always there, and its kind."""
    return (
        schema["type"],
        set(schema["properties"]),
        schema.get("required"),
        schema.get("x-kubernetes-group-version-kind"),
    )


def references(document):
    return set(re.findall(r'"\$ref":"([^"]*)"', json.dumps(document, separators=(",", ":"))))


def v2(*served):
    return json.loads(openapi.v2(served, "1.2.3"))


def v3(api, version):
    return json.loads(openapi.v3_version(api, version, "1.2.3"))


def test_v2_has_the_recorded_paths_and_operation_ids():
    """All that upstream has below its groups."""
    recorded = golden("direct-openapi-v2")["body"]["paths"]
    wanted = {path: one for path, one in recorded.items() if path not in {"/apis/", "/version/"}}
    assert ids(v2(*BOTH)) == wanted


@pytest.mark.parametrize(("api", "version", "name"), VERSIONS)
def test_v3_has_the_recorded_paths_and_operation_ids(api, version, name):
    """A document for each group-version."""
    assert ids(v3(api, version)) == golden(name)["body"]["paths"]


@pytest.mark.parametrize(("api", "version", "name"), VERSIONS)
def test_values_have_the_recorded_members_and_kinds(api, version, name):
    """Both documents describe the value and its list with upstream's names, members and kinds."""
    recorded = golden(name)["body"]["metric_schemas"]
    new, old = v3(api, version)["components"]["schemas"], v2(*BOTH)["definitions"]
    assert set(new) == {one for one in recorded if not one.endswith(".MetricIdentifier")}
    for schema in new:
        assert outline(new[schema]) == outline(recorded[schema])
        assert outline(old[schema]) == outline(recorded[schema])


def test_group_has_a_document_of_its_own():
    """With the one path that says which versions there are."""
    document = json.loads(openapi.v3_group(apis.CUSTOM, "1.2.3"))
    assert ids(document) == {"/apis/custom.metrics.k8s.io/": {"get": "getCustomMetricsAPIGroup"}}


def test_index_names_group_versions_as_recorded():
    """Only group-versions: the aggregator adds each key to the cluster's own list."""
    recorded = golden("direct-openapi-v3")["body"]["paths"]
    wanted = {path: one for path, one in recorded.items() if path.count("/") == 2}
    hashes = {path: one["serverRelativeURL"].partition("?hash=")[2] for path, one in wanted.items()}
    assert json.loads(openapi.v3_index(hashes)) == {"paths": wanted}


@pytest.mark.parametrize(
    ("document", "place"),
    [
        (v2(*BOTH), ("definitions",)),
        *((v3(api, version), ("components", "schemas")) for api, version, _ in VERSIONS),
    ],
)
def test_every_schema_is_our_own(document, place):
    """A shared one that differs from the cluster's would appear there twice."""
    schemas = document
    for step in place:
        schemas = schemas[step]
    head = "#/" + "/".join(place) + "/"
    assert {head + name for name in schemas} == references(document)
    assert all(name.startswith("io.k8s.metrics.pkg.apis.") for name in schemas)


@pytest.mark.parametrize("document", [v2(apis.CUSTOM), v3(apis.CUSTOM, "v1beta2")])
def test_each_segment_of_a_path_is_a_parameter(document):
    """The selectors are parameters too, in the form that the document's version has for them."""
    for path, entry in document["paths"].items():
        named = [one["name"] for one in entry.get("parameters", ()) if one["in"] == "path"]
        assert named == re.findall(r"{(\w+)}", path)
    pods = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/{namespace}/{resource}/{name}/{subresource}"
    by_name = {one["name"]: one for one in document["paths"][pods]["parameters"]}
    selector = by_name["metricLabelSelector"]
    assert (selector.get("type") or selector["schema"]["type"], "required" in selector) == ("string", False)


def test_documents_are_small_and_always_the_same():
    """Upstream's takes 51,706 bytes; the hash of ours is that of every replica."""
    assert len(openapi.v2(BOTH, "1.2.3")) < 16_384
    assert openapi.v2(BOTH, "1.2.3") == openapi.v2(BOTH, "1.2.3")


def test_without_a_group_the_document_is_still_whole():
    """An empty Swagger document is accepted; none would be logged by the API server."""
    assert v2() == {
        "swagger": "2.0",
        "info": {"title": "hpa-adapter", "version": "1.2.3"},
        "paths": {},
        "definitions": {},
    }
