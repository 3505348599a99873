"""The table of paths: what a path means is decided once, on its decoded segments."""

import pytest

from adapter.server import routes
from adapter.server.handlers import Handlers

BASE = "/apis/custom.metrics.k8s.io/v1beta2"


@pytest.mark.parametrize(
    ("path", "action", "parts"),
    [
        ("/", "root", {}),
        ("/apis", "groups", {}),
        ("/apis/", "groups", {}),
        ("/readyz/ping", "readyz", {"check": "ping"}),
        ("/apis/custom.metrics.k8s.io", "custom_group", {}),
        (BASE, "custom_resources", {"version": "v1beta2"}),
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
    assert routes.match(path) == routes.Match(action, parts)


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
        "/nosuch",
        "http://elsewhere/apis",
        "",
        "*",
    ],
)
def test_other_paths_match_nothing(path):
    """A doubled slash, an unknown version and a path that is too deep are no routes."""
    assert routes.match(path) is None


def test_every_row_has_its_handler():
    """Each action of the table is a method."""
    for row in routes.TABLE:
        assert callable(getattr(Handlers, row.action)), row
