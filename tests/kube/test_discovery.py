"""Which kinds a cluster serves, by the old and the new form of discovery."""

import json
import logging

import pytest

from adapter import errors
from adapter.kube.credentials import Source
from adapter.kube.discovery import ACCEPT_ALL, Discovery
from adapter.wire.resources import GroupResource
from tests.support.fake_kube_world import Kind

METRICS = Kind("metrics.k8s.io", ("v1beta1",), "PodMetrics", "pods", singular="")
WIDGETS = Kind("shop.example.com", ("v1", "v1beta1"), "Widget", "widgets", singular="widget")


@pytest.fixture
def discovery(client):
    return Discovery(client)


def found(kinds):
    return {(one.group, one.version, one.plural) for one in kinds.resources}


def paths(kube):
    return sorted(one.path for one in kube.asked)


# -- some groups


async def test_only_the_groups_that_are_needed_are_asked(discovery, kube):
    """A cluster with many CRDs costs no more than one without."""
    kinds = await discovery.kinds(frozenset({"", "apps"}))
    assert paths(kube) == ["/api/v1", "/apis/apps", "/apis/apps/v1"]
    assert {one.group for one in kinds.resources} == {"", "apps"}
    assert kinds.parse("deployments.apps").kind == "Deployment"


async def test_core_alone(discovery, kube):
    """Most rules need nothing else."""
    kinds = await discovery.kinds(frozenset({""}))
    assert paths(kube) == ["/api/v1"]
    assert kinds.parse("pod").key == GroupResource("", "pods")
    assert kinds.parse("nodes").namespaced is False


async def test_every_version_of_a_group_the_preferred_first(discovery, kube):
    """A rule means the preferred one."""
    kinds = await discovery.kinds(frozenset({"", "autoscaling"}))
    assert kinds.parse("hpa") is None
    versions = [one.version for one in kinds.resources if one.group == "autoscaling"]
    assert versions == ["v2", "v1"]
    assert kinds.parse("horizontalpodautoscalers.autoscaling").version == "v2"


async def test_the_server_says_which_version_is_preferred(discovery, kube):
    """It need not be the first in its list."""
    body = {
        "name": "autoscaling",
        "versions": [{"version": "v1"}, {"version": "v2"}],
        "preferredVersion": {"version": "v2"},
    }
    kube.fail("discovery", "/apis/autoscaling", status=200, body=json.dumps(body).encode())
    kinds = await discovery.kinds(frozenset({"", "autoscaling"}))
    assert [one.version for one in kinds.resources if one.group == "autoscaling"] == ["v2", "v1"]


async def test_subresources_are_no_resources(discovery):
    """pods/log is a part of pods."""
    kinds = await discovery.kinds(None)
    assert not [one for one in kinds.resources if "/" in one.plural]
    assert not [one for one in kinds.resources if one.plural in ("log", "scale", "status")]


async def test_a_missing_singular_is_the_kind_in_lower_case(discovery, kube):
    """Extension servers leave it empty."""
    kube.world.kinds.append(METRICS)
    for groups in (frozenset({"", "metrics.k8s.io"}), None):
        kinds = await discovery.kinds(groups)
        assert kinds.find("podmetrics", "metrics.k8s.io").plural == "pods"
        assert kinds.parse("pod").group == ""


# -- all groups


@pytest.mark.parametrize("form", ["v2", "v2beta1"])
async def test_all_groups_are_two_requests(discovery, kube, form):
    """The aggregated form has everything in one document each."""
    kube.aggregated = (form,)
    kinds = await discovery.kinds(None)
    assert paths(kube) == ["/api", "/apis"]
    assert {one.headers["Accept"] for one in kube.asked} == {ACCEPT_ALL}
    assert kinds.parse("jobs").group == "batch"
    assert kinds.find("horizontalpodautoscaler").version == "v2"


async def test_both_forms_say_the_same(discovery, kube):
    """An old cluster is asked more often, and is understood as well."""
    kube.world.kinds.append(WIDGETS)
    new = await discovery.kinds(None)
    kube.aggregated = ()
    kube.asked.clear()
    old = await discovery.kinds(None)
    assert old == new
    assert "/apis/shop.example.com/v1beta1" in paths(kube)


async def test_core_comes_first(discovery, kube):
    """`service` is the core one, whatever else is called so."""
    kube.world.kinds.insert(0, Kind("serving.knative.dev", ("v1",), "Service", "services"))
    assert (await discovery.kinds(None)).parse("service").group == ""


# -- failures


async def test_a_group_version_that_fails_is_left_out(discovery, kube, caplog):
    """The others are served; it is told once, and once when it is back."""
    caplog.set_level(logging.INFO, "adapter")
    fault = kube.fail("discovery", "/apis/apps/v1", status=503)
    for _ in range(3):
        assert found(await discovery.kinds(frozenset({"", "apps", "batch"}))) >= {
            ("", "v1", "pods"),
            ("batch", "v1", "jobs"),
        }
    kube.faults.remove(fault)
    assert ("apps", "v1", "deployments") in found(await discovery.kinds(frozenset({"", "apps", "batch"})))
    assert [(one.getMessage(), one.what) for one in caplog.records] == [
        ("kinds_missing", "apps/v1"),
        ("kinds_back", "apps/v1"),
    ]


async def test_a_group_that_the_cluster_has_not(discovery):
    """A rule may be meant for another cluster."""
    assert found(await discovery.kinds(frozenset({"", "nothing.example.com"}))) >= {("", "v1", "pods")}


@pytest.mark.parametrize("aggregated", [("v2",), ()])
async def test_an_extension_server_that_is_down(discovery, kube, aggregated, caplog):
    """Its group is listed without resources; nothing else is harmed."""
    kube.world.kinds.append(METRICS)
    kube.stale, kube.aggregated = {"metrics.k8s.io/v1beta1"}, aggregated
    kinds = await discovery.kinds(None)
    assert "metrics.k8s.io" not in {one.group for one in kinds.resources}
    assert kinds.parse("deployments.apps")
    assert [one.what for one in caplog.records] == ["metrics.k8s.io/v1beta1"]


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"resources":7}', b"\xff"])
async def test_a_document_that_is_none_is_left_out(discovery, kube, body):
    """As if it had failed."""
    kube.fail("discovery", "/apis/apps/v1", status=200, body=body)
    assert "apps" not in {one.group for one in (await discovery.kinds(frozenset({"", "apps"}))).resources}


@pytest.mark.parametrize("groups", [frozenset({"", "apps"}), None])
async def test_without_core_nothing_can_be_said(discovery, kube, groups):
    """Pods that are unknown for a moment must not take all metrics with them."""
    kube.aggregated = ()
    kube.fail("discovery", "/api/v1", status=503)
    with pytest.raises(errors.StillStarting):
        await discovery.kinds(groups)


@pytest.mark.parametrize("groups", [frozenset({""}), frozenset({"apps"}), None])
async def test_an_api_server_that_is_away(discovery, kube, groups):
    """The caller keeps what it knew."""
    await kube.stop()
    with pytest.raises(errors.StillStarting, match="Connect") as caught:
        await discovery.kinds(groups)
    assert "reachable" in caught.value.next_step


@pytest.mark.parametrize("groups", [frozenset({""}), None])
async def test_discovery_that_is_refused(kube, kubeconfig, connect, groups):
    """Credentials without any right: it is said what is missing."""
    kube.tokens = {"right"}
    discovery = Discovery(connect(Source(kubeconfig(kube.url, user={"token": "wrong"}))))
    with pytest.raises(errors.StillStarting, match="Unauthorized") as caught:
        await discovery.kinds(groups)
    assert "system:discovery" in caught.value.next_step


async def test_a_login_page_instead_of_an_api_server(discovery, kube):
    """Some proxy answers 200 to everything."""
    kube.fail("discovery", "*", status=200, body=b"<html>")
    with pytest.raises(errors.StillStarting, match="BadAnswer"):
        await discovery.kinds(None)


async def test_resources_without_a_kind_are_dropped(discovery, kube):
    """As every client does: metrics APIs have such parents."""
    version = {"version": "v1beta2", "freshness": "Current", "resources": [
        {"resource": "pods", "responseKind": {"group": "", "version": "", "kind": ""}, "verbs": None},
        {"resource": "nodes"},
    ]}  # fmt: skip
    body = {"kind": "APIGroupDiscoveryList", "items": [
        {"metadata": {"name": "custom.metrics.k8s.io"}, "versions": [version]},
        {"metadata": {"name": "empty.example.com"}, "versions": None},
    ]}  # fmt: skip
    kube.fail("discovery", "/apis", status=200, body=json.dumps(body).encode())
    assert {one.group for one in (await discovery.kinds(None)).resources} == {""}
