"""Names of resources are looked up as kube-apiserver's REST mapper does it."""

import pytest

from adapter.wire.resources import GroupResource, Kinds, Resource
from tests.wire.data import vectors

VECTORS = vectors("compat-vectors")
PLAIN = next(
    case
    for case in VECTORS["label_mapping"]
    if case["template"] == "<<.Resource>>" and "overrides" not in case
)


def resources_of_the_vectors():
    """The cluster of the vectors, in the order in which its server lists it."""
    for group in VECTORS["cluster"]:
        preferred_first = sorted(group["versions"], key=lambda version: version != group["preferred"])
        for version in preferred_first:
            for one in group["resources"]:
                yield Resource(
                    group["group"], version, one["name"], one["singular"], one["kind"], one["namespaced"]
                )


KINDS = Kinds.of(resources_of_the_vectors())


def shown(resource):
    return None if resource is None else str(resource.key)


@pytest.mark.parametrize(("label", "expected"), PLAIN["label_to_resource"].items())
def test_labels_are_looked_up_as_upstream_does(label, expected):
    """A label's text is a plural or singular name in any case, of core before all groups, in the server's order."""
    assert shown(KINDS.find(label)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pods", "pods"),
        ("Pod", "pods"),
        ("po", None),
        ("services", "services"),
        ("services.serving.knative.dev", "services.serving.knative.dev"),
        ("service.serving", "services.serving.knative.dev"),
        ("deployments.apps", "deployments.apps"),
        ("deployment.APPS", "deployments.apps"),
        ("deployments.app", "deployments.apps"),
        ("deployments.extensions", None),
        ("events", "events"),
        ("events.events.k8s.io", "events.events.k8s.io"),
        ("gateways", "gateways.gateway.networking.k8s.io"),
        ("gateways.networking.istio.io", "gateways.networking.istio.io"),
        ("gateways.gateway", "gateways.gateway.networking.k8s.io"),
        ("ingresses.networking", "ingresses.networking.k8s.io"),
        ("pods.metrics.k8s.io", "pods.metrics.k8s.io"),
        ("nodes", "nodes"),
        ("pods.", "pods"),
        ("", None),
        (".apps", None),
    ],
)
def test_path_segments_are_looked_up(text, expected):
    """A segment is a name, or a name and a group of which the beginning is enough."""
    assert shown(KINDS.parse(text)) == expected


def test_exact_group_goes_before_a_longer_one():
    """A group that is named in full is meant, even if another one that begins so stands before it."""
    kinds = Kinds.of(
        Resource(group, "v1", "jobs", "job", "Job", namespaced=True) for group in ("batch.example", "batch")
    )
    assert shown(kinds.find("jobs", "batch")) == "jobs.batch"
    assert shown(kinds.find("jobs", "batch.")) == "jobs.batch.example"


def test_preferred_version_goes_first():
    """Of several versions the first given counts."""
    assert KINDS.find("horizontalpodautoscaler").version == "v2"


def test_core_goes_first():
    """Core resources are moved to the front, all others keep their order."""
    late = Resource("", "v1", "pods", "pod", "Pod", namespaced=True)
    early = Resource("metrics.k8s.io", "v1beta1", "pods", "pod", "PodMetrics", namespaced=True)
    assert Kinds.of([early, late]).find("pod") is late


def test_scope_of_metrics_is_fixed():
    """Only three core resources are registered without a namespace, whatever the cluster says of others."""
    root_scoped = {str(one.key) for one in KINDS.resources if one.root_scoped}
    assert root_scoped == {"namespaces", "nodes", "persistentvolumes"}


@pytest.mark.parametrize(
    ("name", "api_version"),
    [("pods", "/v1"), ("deployments", "apps/v1"), ("rollouts", "argoproj.io/v1alpha1")],
)
def test_api_version_has_always_a_slash(name, api_version):
    """Core objects carry `/v1` in value lists."""
    assert KINDS.find(name).api_version == api_version


def test_keys_are_ordered_and_shown():
    """A key sorts by group, then name, and is shown as kubectl writes it."""
    keys = [GroupResource("apps", "deployments"), GroupResource("", "pods")]
    assert [str(key) for key in sorted(keys)] == ["pods", "deployments.apps"]


def test_no_kinds_know_nothing():
    """Before discovery every name is unknown."""
    assert Kinds().find("pods") is None
