"""What `kubectl kustomize apiservice/base` renders, checked as data."""

import pytest

from adapter import __version__
from adapter.settings import Limits
from adapter.wire import apis
from tests.support import manifests
from tests.support.manifests import APISERVICE, GROUP, NAME


@pytest.fixture(scope="module")
def rendered():
    return manifests.kustomize(APISERVICE / "base")


@pytest.mark.parametrize(("version", "priority"), [("v1beta1", 100), ("v1beta2", 200)])
def test_both_versions_are_registered_with_the_service(rendered, version, priority):
    """Each APIService names the Service and its port; v1beta2 is preferred; the group's resource names never win over
    the cluster's own; the CA is not in it, so that applying it again never takes the cluster's away.
    """
    spec = rendered.named("APIService", f"{version}.{GROUP}")["spec"]
    assert spec == {
        "group": GROUP,
        "version": version,
        "groupPriorityMinimum": 100,
        "versionPriority": priority,
        "service": {"name": NAME, "namespace": NAME, "port": 443},
    }


def test_no_group_is_registered_that_is_not_served(rendered):
    """An APIService without an answer behind it would keep namespaces from being deleted."""
    served = {(api.group, version) for api in apis.SERVED for version in api.versions}
    assert {(one["spec"]["group"], one["spec"]["version"]) for one in rendered["APIService"]} <= served


def test_certificate_is_one_for_all_replicas(rendered):
    """The serving pair comes from a Secret, since the API server can be told of one certificate only."""
    assert "--tls-cert-file=/var/run/serving-cert/tls.crt" in rendered.container["args"]
    assert "--tls-private-key-file=/var/run/serving-cert/tls.key" in rendered.container["args"]
    secret = next(one["secret"] for one in rendered.pod["volumes"] if "secret" in one)
    assert secret["secretName"] == "hpa-adapter-serving-cert"


def test_bindings_are_the_three_that_an_api_server_needs(rendered):
    """Objects, reviews of callers, and the aggregator's certificate: each to the one service account."""
    bindings = [*rendered["ClusterRoleBinding"], *rendered["RoleBinding"]]
    assert {(one["kind"], one["roleRef"]["kind"], one["roleRef"]["name"]) for one in bindings} == {
        ("ClusterRoleBinding", "ClusterRole", "hpa-adapter-objects"),
        ("ClusterRoleBinding", "ClusterRole", "system:auth-delegator"),
        ("RoleBinding", "Role", "extension-apiserver-authentication-reader"),
    }
    assert rendered.one("RoleBinding")["metadata"]["namespace"] == "kube-system"
    for one in bindings:
        assert one["subjects"] == [{"kind": "ServiceAccount", "name": NAME, "namespace": NAME}]


def test_two_replicas_are_spread_and_never_both_taken(rendered):
    """While no replica answers, namespaces can't be deleted: two, on two nodes, and one stays during a drain."""
    spec = rendered.deployment["spec"]
    assert spec["replicas"] == 2
    assert spec["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert rendered.pod["topologySpreadConstraints"][0]["topologyKey"] == "kubernetes.io/hostname"
    budget = rendered.one("PodDisruptionBudget")["spec"]
    assert budget["maxUnavailable"] == 1
    assert budget["selector"] == spec["selector"]


def test_memory_is_bounded_and_processor_is_not(rendered):
    """Requests for both; a limit on memory only, since a throttled process answers the availability check too late."""
    assert rendered.container["resources"]["requests"].keys() == {"cpu", "memory"}
    assert rendered.container["resources"]["limits"].keys() == {"memory"}


def test_probes_ask_over_https_at_the_named_port(rendered):
    """/livez and /readyz at the port that the Service forwards to."""
    assert rendered.container["ports"] == [{"name": "https", "containerPort": 6443, "protocol": "TCP"}]
    for probe, path in (
        ("startupProbe", "/livez"),
        ("livenessProbe", "/livez"),
        ("readinessProbe", "/readyz"),
    ):
        assert rendered.container[probe]["httpGet"] == {"path": path, "port": "https", "scheme": "HTTPS"}


def test_pod_is_given_the_time_that_its_end_takes(rendered):
    """Serving on after SIGTERM and answering what is in flight ends before the kubelet kills the process."""
    limits = Limits()
    needed = limits.drain_seconds + limits.shutdown_seconds
    assert needed < rendered.pod["terminationGracePeriodSeconds"]


def test_service_forwards_the_aggregators_port_to_the_pods(rendered):
    """443 to the pods' https port, at a cluster address: the aggregator refuses headless services."""
    service = rendered.one("Service")["spec"]
    assert service["ports"] == [{"name": "https", "port": 443, "targetPort": "https", "protocol": "TCP"}]
    assert service["type"] == "ClusterIP"
    assert service["selector"] == rendered.deployment["spec"]["selector"]["matchLabels"]
    assert (
        service["selector"].items() <= rendered.deployment["spec"]["template"]["metadata"]["labels"].items()
    )


def test_container_serves_the_shipped_rules_on_its_port(rendered):
    """The program of the image with the shipped rules; the address of Prometheus is the overlay's to say."""
    assert rendered.container["command"] == ["/adapter"]
    assert rendered.container["image"] == f"hpa-adapter:{__version__}"
    assert rendered.container["args"][:3] == [
        "--config=@go-runtime",
        "--prometheus-url=$(PROMETHEUS_URL)",
        "--secure-port=6443",
    ]
    assert "data" not in rendered.one("ConfigMap")


def test_policy_is_of_the_pods_and_shuts_both_directions(rendered):
    """In to the HTTPS port; out to names, the API server and Prometheus, by port."""
    policy = rendered.one("NetworkPolicy")["spec"]
    assert policy["podSelector"] == rendered.deployment["spec"]["selector"]
    assert sorted(policy["policyTypes"]) == ["Egress", "Ingress"]
    assert policy["ingress"] == [{"ports": [{"protocol": "TCP", "port": "https"}]}]
    assert [[one["port"] for one in rule["ports"]] for rule in policy["egress"]] == [
        [443, 6443],
        [53, 53],
        [9090],
    ]
