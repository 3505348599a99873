"""What a request wants, as kube-apiserver reads its path."""

import pytest

from adapter.access import attributes
from adapter.server import routes
from adapter.wire.identity import Attributes

CUSTOM = "custom.metrics.k8s.io"
EXTERNAL = "external.metrics.k8s.io"
BASE = f"/apis/{CUSTOM}/v1beta2"
EXTERNAL_BASE = f"/apis/{EXTERNAL}/v1beta1"


def of_custom(resource, subresource, name, namespace="", verb="get"):
    return Attributes(verb, CUSTOM, "v1beta2", resource, subresource, name, namespace)


TABLE = [
    (f"{BASE}/namespaces/shop/pods/*/rps", of_custom("pods", "rps", "*", "shop")),
    (f"{BASE}/namespaces/shop/pods/%2A/rps", of_custom("pods", "rps", "*", "shop")),
    (f"{BASE}/namespaces/shop/deployments.apps/d/rps", of_custom("deployments.apps", "rps", "d", "shop")),
    (f"{BASE}/namespaces/shop/metrics/rps", of_custom("metrics", "", "rps", "shop")),
    (f"{BASE}/namespaces/shop/metrics/rps/", of_custom("metrics", "", "rps", "shop")),
    (f"{BASE}/namespaces/shop/metrics/rps/more", of_custom("metrics", "more", "rps", "shop")),
    (f"{BASE}/nodes/n/load", of_custom("nodes", "load", "n")),
    (f"{BASE}/nodes/*/load", of_custom("nodes", "load", "*")),
    (f"{BASE}/namespaces/shop/rps", of_custom("rps", "", "", "shop", "list")),
    (f"{BASE}/namespaces/shop/status", of_custom("namespaces", "status", "shop", "shop")),
]
"""docs/contract.md 4.2, with what its lines mean for odd paths."""

EXTERNAL_TABLE = [
    (f"{EXTERNAL_BASE}/namespaces/shop/queue", {"resource": "queue", "namespace": "shop", "verb": "list"}),
    (f"{EXTERNAL_BASE}/namespaces/shop", {"resource": "namespaces", "namespace": "shop", "name": "shop"}),
    (
        f"{EXTERNAL_BASE}/namespaces/shop/finalize",
        {"resource": "namespaces", "namespace": "shop", "name": "shop", "subresource": "finalize"},
    ),
    (f"{EXTERNAL_BASE}/namespaces", {"resource": "namespaces", "verb": "list"}),
]

NO_RESOURCES = [
    "/",
    "/metrics",
    "/version",
    "/livez/ping",
    "/apis",
    f"/apis/{CUSTOM}",
    BASE,
    f"{BASE}/",
    "/openapi/v2",
    f"/openapi/v3/apis/{CUSTOM}/v1beta2",
    "/api/v1/namespaces/shop/pods",
    "/a/b/c/d/e",
]


@pytest.mark.parametrize(("path", "expected"), TABLE)
def test_attributes_of_values(path, expected):
    """By the parts of the table's match, and by the path itself, they are the same."""
    assert attributes.of_path(path) == expected
    match = routes.match(path)
    if match is not None:
        assert attributes.of_match(match.action, match.parts, path) == expected


def test_the_table_matches_what_it_should():
    """All but two of those paths are served, so that the test above compares both ways."""
    assert sum(routes.match(path) is not None for path, _ in TABLE) >= len(TABLE) - 2


@pytest.mark.parametrize(("path", "expected"), EXTERNAL_TABLE)
def test_attributes_of_external_metrics(path, expected):
    """A metric is a resource there, and is listed."""
    whole = {"verb": "get", "group": EXTERNAL, "version": "v1beta1"} | expected
    assert attributes.of_path(path) == Attributes(**whole)


@pytest.mark.parametrize(("path", "expected"), EXTERNAL_TABLE[:1] + EXTERNAL_TABLE[2:3])
def test_attributes_of_an_external_match(path, expected):
    """The same from the parts: a namespace and a metric, no resource."""
    parts = {"version": "v1beta1", "namespace": "shop", "metric": path.rsplit("/", 1)[1]}
    assert attributes.of_match("external_values", parts, path) == attributes.of_path(path)


@pytest.mark.parametrize("path", NO_RESOURCES)
def test_what_is_no_resource_is_a_path(path):
    """As it came, with a slash at its end if there was one."""
    expected = Attributes("get", path=path)
    assert attributes.of_path(path) == expected
    match = routes.match(path)
    if match is not None:
        assert attributes.of_match(match.action, match.parts, path) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/%6Detrics", "/metrics"),
        ("/a%20b", "/a b"),
        ("/%ff", "/�"),
        ("/\udcff", "/�"),
        ("/é", "/é"),
        ("/%", "/%"),
    ],
)
def test_paths_are_decoded(path, expected):
    """A rule is written for the decoded form; what is no text cannot be asked."""
    assert attributes.of_path(path) == Attributes("get", path=expected)


def test_an_encoded_slash_does_not_move_the_parts():
    """What is asked about is what the table found: the segments were cut before they were decoded."""
    path = f"{BASE}/namespaces/shop/pods/a%2Fb/rps"
    match = routes.match(path)
    assert attributes.of_match(match.action, match.parts, path) == of_custom("pods", "rps", "a/b", "shop")


def test_an_encoded_group_is_the_group():
    """The table compares decoded segments, and so does this."""
    path = "/apis/custom%2Emetrics.k8s.io/v1beta2/nodes/n/load"
    match = routes.match(path)
    assert attributes.of_match(match.action, match.parts, path) == of_custom("nodes", "load", "n")
