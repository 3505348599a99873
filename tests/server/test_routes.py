"""The table of paths: what a path means is decided once, on its decoded segments."""

import pytest

from adapter.server import routes
from adapter.server.handlers import Handlers

BASE = "/apis/custom.metrics.k8s.io/v1beta2"


@pytest.mark.parametrize(
    ("path", "action", "parts"),
    [
        ("/", "root", {}),
        ("/apis", "discovery", {}),
        ("/apis/", "discovery", {}),
        ("/readyz/ping", "readyz", {"check": "ping"}),
        ("/apis/custom.metrics.k8s.io", "discovery", {}),
        (BASE, "discovery", {"version": "v1beta2"}),
        ("/openapi/v2", "openapi", {}),
        ("/openapi/v3/", "openapi", {}),
        ("/openapi/v3/apis/custom.metrics.k8s.io", "openapi", {}),
        (f"/openapi/v3{BASE}", "openapi", {"version": "v1beta2"}),
        (
            f"{BASE}/namespaces/ns/pods/%2A/m",
            "values",
            {"version": "v1beta2", "namespace": "ns", "resource": "pods", "name": "*", "metric": "m"},
        ),
        (
            f"{BASE}/namespaces/ns/pods/*/m/",
            "values",
            {"version": "v1beta2", "namespace": "ns", "resource": "pods", "name": "*", "metric": "m"},
        ),
        (
            f"{BASE}/namespaces/ns/metrics/m",
            "namespace_values",
            {"version": "v1beta2", "namespace": "ns", "metric": "m"},
        ),
        (
            f"{BASE}/nodes/n1/m",
            "values",
            {"version": "v1beta2", "resource": "nodes", "name": "n1", "metric": "m"},
        ),
        (
            f"{BASE}/nodes/a%2Fb/m%C3%A9",
            "values",
            {"version": "v1beta2", "resource": "nodes", "name": "a/b", "metric": "mé"},
        ),
    ],
)
def test_path_is_matched_by_its_decoded_segments(path, action, parts):
    """Percent-encoded stars are stars, one trailing slash is as none, and %2F stays inside its segment."""
    matched = routes.match(path)
    assert (matched.action, matched.parts) == (action, parts)


@pytest.mark.parametrize(
    "path",
    [
        "//apis",
        f"/{BASE}",
        f"{BASE}//namespaces/ns/pods/x/m",
        f"{BASE}/namespaces//pods/x/m",
        f"{BASE}/namespaces/ns/pods/x/m/more",
        f"{BASE}/namespaces/ns/pods/x",
        "/apis/custom.metrics.k8s.io/v1beta9",
        "/apis/custom.metrics.k8s.io/v1beta9/nodes/n/m",
        "/apis/other.k8s.io",
        "/openapi",
        "/openapi/v4",
        "/openapi/v3/apis/custom.metrics.k8s.io/v1beta9",
        "/openapi/v3/apis/other.k8s.io/v1beta1",
        "/nosuch",
        "http://elsewhere/apis",
        "",
        "*",
    ],
)
def test_other_paths_match_nothing(path):
    """A doubled slash, an unknown version and a path that is too deep are no routes."""
    assert routes.match(path) is None


@pytest.mark.parametrize("path", ["/apis/", "/%61pis", "/apis"])
def test_a_path_has_one_canonical_form(path):
    """Documents are found by it."""
    assert routes.canonical(path) == "/apis"


def test_root_lists_openapi_and_each_group_version():
    """The paths that clients start from; those that an index leads to are not among them."""
    assert {"/openapi/v2", "/openapi/v3", BASE, "/apis/custom.metrics.k8s.io"} <= set(routes.PATHS)
    assert not [one for one in routes.PATHS if one.startswith("/openapi/v3/")]


def test_every_row_has_its_handler():
    """Each action of the table is a method."""
    for row in routes.TABLE:
        assert callable(getattr(Handlers, row.action)), row
