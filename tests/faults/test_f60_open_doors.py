"""F60: pod, rights, network and registration give away no more than the work takes.

Held against everything that can be installed: the base, each overlay, each component, and the chart with each way to a
certificate. Every guard was taken out once and seen to fail here.
"""

import pytest

from tests.support import manifests
from tests.support.manifests import APISERVICE, CHART, GROUP, NAME, ROOT

FORBIDDEN = (
    "insecureSkipTLSVerify",
    "InsecureSkipVerify",
    "insecure-skip-tls-verify",
    "insecure-allow-everyone",
    "privileged",
    "hostPID",
    "hostIPC",
    "hostPath",
    "cluster-admin",
    "cluster_admin",
)
"""Words that have no business in any file, not even in a comment."""

FOLLOWED = {
    ("ClusterRole", "", resource, verb, "")
    for resource in ("namespaces", "pods")
    for verb in ("list", "watch")
}
OWN_CERTIFICATE = {
    ("ClusterRole", "apiregistration.k8s.io", "apiservices", verb, f"{version}.{GROUP}")
    for version in ("v1beta1", "v1beta2")
    for verb in ("get", "update")
}
METRICS = {("ClusterRole", "", "/metrics", "get", "")}

URL = {"prometheus": {"url": manifests.PROMETHEUS}}
MONITORED = {"monitoring": {"serviceMonitor": {"enabled": True}, "alerts": {"enabled": True}}}
PAIR = {"tls": {"enable": True, "ca": "a", "certificate": "b", "key": "c"}}
CHARTS = {
    "default": {},
    "cert-manager": {"certManager": {"enabled": True}},
    "pair": PAIR,
    "monitored": MONITORED,
    "catch-all": {"rules": {"default": True}},
}


@pytest.fixture(
    params=[
        "base",
        *(f"overlays/{one}" for one in manifests.OVERLAYS),
        *(f"components/{one}" for one in manifests.COMPONENTS if one != "own-rules"),
        *(f"chart/{one}" for one in CHARTS),
    ]
)
def rendered(request, tmp_path):
    """All that one of the ways to install has in it."""
    where, _, what = request.param.partition("/")
    if where == "chart":
        return manifests.helm(URL | CHARTS[what])
    if where == "components":
        return manifests.overlay(tmp_path, what)
    return manifests.kustomize(APISERVICE / request.param)


@pytest.mark.parametrize("word", FORBIDDEN)
def test_no_file_has_a_word_that_opens_a_door(word):
    """Neither a skipped check of a certificate, nor a privilege: nobody can switch on what is not there."""
    files = [path for path in (*APISERVICE.rglob("*"), ROOT / "Dockerfile") if path.is_file()]
    assert len(files) > 30
    assert not [str(path) for path in files if word.lower() in path.read_text().lower()]


def test_pod_has_the_restricted_profile(rendered):
    """No root, no capability, nothing written to the image, the default filter of system calls, its own network."""
    pod, container = rendered.pod, rendered.container
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "runAsGroup": 65532,
        "fsGroup": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "hostNetwork" not in pod
    assert not [one for one in container["ports"] if "hostPort" in one]
    assert {next(iter(one.keys() - {"name"})) for one in pod["volumes"]} <= {
        "secret",
        "configMap",
        "emptyDir",
    }
    assert container["resources"]["limits"]["memory"]


def test_namespace_admits_no_other_pod():
    """Where kustomize makes the namespace, the API server holds every pod in it to the restricted profile."""
    labels = manifests.kustomize(APISERVICE / "base").one("Namespace")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_rights_are_the_listed_ones_and_no_other(rendered):
    """Exact verbs on exact resources; the only Secret is the adapter's own, and only where it keeps its certificate."""
    rights = rendered.rights()
    own = {one for one in rights if one[2] == "secrets"}
    assert rights - own <= FOLLOWED | OWN_CERTIFICATE | METRICS
    assert rights >= FOLLOWED
    secrets = [one["metadata"]["name"] for one in rendered["Secret"]]
    for kind, _, _, verb, name in own:
        assert kind == "Role"
        assert verb in ("get", "update")
        assert name in secrets
    assert bool(own) == ("--self-managed-tls" in rendered.container["args"])
    assert not [one for one in rights if "*" in one]


def test_bindings_reach_no_other_role(rendered):
    """The two built-in roles are those that every extension API server needs; all subjects are our accounts."""
    ours = {one["metadata"]["name"] for kind in ("Role", "ClusterRole") for one in rendered[kind]}
    accounts = {one["metadata"]["name"] for one in rendered["ServiceAccount"]}
    for one in (*rendered["RoleBinding"], *rendered["ClusterRoleBinding"]):
        role = one["roleRef"]["name"]
        assert role in ours | {"system:auth-delegator", "extension-apiserver-authentication-reader"}
        for subject in one["subjects"]:
            assert (subject["kind"], subject["namespace"]) == ("ServiceAccount", NAME)
            assert subject["name"] in accounts


def test_token_is_given_to_the_pod_and_to_no_other(rendered):
    """An account whose token any pod gets by naming it would pass its rights on."""
    assert rendered.pod["automountServiceAccountToken"] is True
    for one in rendered["ServiceAccount"]:
        assert one["automountServiceAccountToken"] is False


def test_registration_is_checked_against_a_certificate(rendered):
    """Each says nothing beyond group, version, priorities, the Service, and perhaps the CA."""
    known = {"group", "version", "groupPriorityMinimum", "versionPriority", "service", "caBundle"}
    assert len(rendered["APIService"]) == 2
    for one in rendered["APIService"]:
        assert one["spec"].keys() <= known


def test_network_is_shut_both_ways_but_for_what_the_work_takes(rendered):
    """In: the HTTPS port. Out: API server, names, Prometheus. Never all ports, in either direction."""
    policy = rendered.named("NetworkPolicy", NAME)["spec"]
    assert sorted(policy["policyTypes"]) == ["Egress", "Ingress"]
    assert policy["podSelector"] == rendered.deployment["spec"]["selector"]
    for one in rendered["NetworkPolicy"]:
        for rule in one["spec"]["ingress"]:
            assert rule["ports"] == [{"protocol": "TCP", "port": "https"}]
    out = {(one["protocol"], one["port"]) for rule in policy["egress"] for one in rule["ports"]}
    assert out == {("TCP", 443), ("TCP", 6443), ("UDP", 53), ("TCP", 53), ("TCP", 9090)}


def test_one_replica_always_stays(rendered):
    """A budget, an update that first adds, and replicas that are spread where there is room."""
    assert rendered.one("PodDisruptionBudget")["spec"]["maxUnavailable"] == 1
    assert rendered.deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert rendered.pod["topologySpreadConstraints"]


def test_chart_has_no_rights_of_its_own_to_give_away():
    """No template builds a verb or a resource from a value but the two lists that the user gives whole."""
    text = (CHART / "templates" / "rbac.yaml").read_text()
    rules = [line for line in text.splitlines() if line.strip().startswith(("verbs:", "resources: ["))]
    assert rules
    assert not [line for line in rules if "{{" in line or "*" in line]
