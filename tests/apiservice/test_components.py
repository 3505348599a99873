"""The components of apiservice/, each added to the base by an overlay as a user writes it."""

import pytest
import yaml
from click.testing import CliRunner

from adapter.cli import main
from tests.support import manifests
from tests.support.manifests import APISERVICE, GROUP, NAME

ADDRESS = {"ipBlock": {"cidr": "192.0.2.1/32"}}
RULES = """\
configMapGenerator:
- name: hpa-adapter-rules
  namespace: hpa-adapter
  files: [rules.yaml]
"""


@pytest.mark.parametrize("component", manifests.COMPONENTS)
def test_component_keeps_what_the_base_has(tmp_path, component):
    """A component adds and narrows; no object of the base is lost."""
    more = RULES if component == "own-rules" else ""
    rendered = manifests.overlay(tmp_path, component, more=more, rules="rules: []")
    base = manifests.kustomize(APISERVICE / "base")
    have = {(one["kind"], one["metadata"]["name"]) for one in rendered.all()}
    assert {(one["kind"], one["metadata"]["name"]) for one in base.all()} <= have


def test_self_managed_certificate_needs_two_rights_on_named_objects(tmp_path):
    """To read and replace one Secret and two registrations; nothing is created, listed or deleted."""
    base = manifests.kustomize(APISERVICE / "base").rights()
    rendered = manifests.overlay(tmp_path, "self-managed-tls")
    assert rendered.rights() - base == {
        (kind, group, resource, verb, name)
        for kind, group, resource, name in (
            ("Role", "", "secrets", "hpa-adapter-serving-cert"),
            ("ClusterRole", "apiregistration.k8s.io", "apiservices", f"v1beta1.{GROUP}"),
            ("ClusterRole", "apiregistration.k8s.io", "apiservices", f"v1beta2.{GROUP}"),
        )
        for verb in ("get", "update")
    }


def test_self_managed_certificate_is_in_no_manifest(tmp_path):
    """Neither the Secret's content nor a caBundle is said, so that GitOps puts nothing back; the pair is not mounted."""
    rendered = manifests.overlay(tmp_path, "self-managed-tls")
    assert rendered.one("Secret").keys() == {"apiVersion", "kind", "metadata", "type"}
    assert not [one for one in rendered["APIService"] if "caBundle" in one["spec"]]
    assert [one["name"] for one in rendered.pod["volumes"]] == ["tmp"]
    assert [one["name"] for one in rendered.container["volumeMounts"]] == ["tmp"]
    flags = {
        "--self-managed-tls",
        "--tls-secret=hpa-adapter-serving-cert",
        f"--service={NAME}",
        f"--namespace={NAME}",
    }
    assert flags <= set(rendered.container["args"])
    assert not [one for one in rendered.container["args"] if one.startswith(("--tls-cert", "--tls-private"))]


def test_cert_manager_makes_the_secret_that_is_mounted_and_injects_its_ca(tmp_path):
    """The certificate is for the name that the API server asks for, from a CA that outlives it by years."""
    rendered = manifests.overlay(tmp_path, "cert-manager")
    serving = rendered.named("Certificate", "hpa-adapter-serving-cert")["spec"]
    (mounted,) = [one["secret"]["secretName"] for one in rendered.pod["volumes"] if "secret" in one]
    assert serving["secretName"] == mounted
    assert f"{NAME}.{NAME}.svc" in serving["dnsNames"]
    assert "server auth" in serving["usages"]
    authority = rendered.named("Certificate", "hpa-adapter-ca")["spec"]
    issuer = rendered.named("Issuer", serving["issuerRef"]["name"])["spec"]
    assert issuer["ca"]["secretName"] == authority["secretName"]
    for one in rendered["APIService"]:
        assert one["metadata"]["annotations"] == {
            "cert-manager.io/inject-ca-from": f"{NAME}/hpa-adapter-serving-cert"
        }
    assert rendered.rights() == manifests.kustomize(APISERVICE / "base").rights()


def test_high_availability_is_three_replicas_kept_apart(tmp_path):
    """Evenly on nodes, where it must, and on zones, where it can; and no other pod pushes them aside."""
    rendered = manifests.overlay(tmp_path, "high-availability")
    assert rendered.deployment["spec"]["replicas"] == 3
    assert rendered.pod["priorityClassName"] == "system-cluster-critical"
    assert {
        (one["topologyKey"], one["whenUnsatisfiable"]) for one in rendered.pod["topologySpreadConstraints"]
    } == {
        ("kubernetes.io/hostname", "DoNotSchedule"),
        ("topology.kubernetes.io/zone", "ScheduleAnyway"),
    }


def test_restricted_network_names_the_api_server_in_and_out(tmp_path):
    """Nobody else gets in; out to 443 and 6443 of that address only. What is not edited belongs to no machine."""
    policy = manifests.overlay(tmp_path, "restricted-network").one("NetworkPolicy")["spec"]
    (ingress,) = policy["ingress"]
    assert ingress["ports"] == [{"protocol": "TCP", "port": "https"}]
    assert ADDRESS in ingress["from"]
    assert all(one == ADDRESS or one["podSelector"]["matchLabels"] for one in ingress["from"])
    assert all(rule["to"] for rule in policy["egress"])
    assert policy["egress"][0]["to"] == [ADDRESS]


def test_monitoring_has_an_account_with_one_right(tmp_path):
    """Prometheus shows the token of an account that may read /metrics, and checks our certificate."""
    rendered = manifests.overlay(tmp_path, "self-managed-tls", "monitoring")
    without = manifests.overlay(tmp_path, "self-managed-tls")
    assert rendered.rights() - without.rights() == {("ClusterRole", "", "/metrics", "get", "")}
    binding = rendered.named("ClusterRoleBinding", "hpa-adapter-metrics-reader")
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": "hpa-adapter-metrics-reader", "namespace": NAME}
    ]
    (endpoint,) = rendered.one("ServiceMonitor")["spec"]["endpoints"]
    token = rendered.named("Secret", endpoint["authorization"]["credentials"]["name"])
    assert token["metadata"]["annotations"] == {
        "kubernetes.io/service-account.name": "hpa-adapter-metrics-reader"
    }
    assert endpoint["tlsConfig"] == {
        "serverName": f"{NAME}.{NAME}.svc",
        "ca": {"secret": {"name": "hpa-adapter-serving-cert", "key": "ca.crt"}},
    }
    assert endpoint["scheme"] == "https"


def test_prometheus_gets_in_where_the_network_is_restricted(tmp_path):
    """A second policy opens the HTTPS port to the namespace of Prometheus."""
    rendered = manifests.overlay(tmp_path, "restricted-network", "monitoring")
    policy = rendered.named("NetworkPolicy", "hpa-adapter-monitoring")["spec"]
    assert policy["podSelector"] == rendered.deployment["spec"]["selector"]
    assert policy["policyTypes"] == ["Ingress"]
    (ingress,) = policy["ingress"]
    assert ingress["from"] == [
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}
    ]
    assert ingress["ports"] == [{"protocol": "TCP", "port": "https"}]


def test_own_rules_are_mounted_and_named_by_their_text(tmp_path):
    """The ConfigMap's name changes with the rules, and so the pods are replaced."""
    one = manifests.overlay(tmp_path, "own-rules", more=RULES, rules="rules: []")
    (volume,) = [each for each in one.pod["volumes"] if each["name"] == "rules"]
    assert one.named("ConfigMap", volume["configMap"]["name"])["data"] == {"rules.yaml": "rules: []"}
    assert one.container["args"][0] == "--config=/etc/adapter"
    assert {"name": "rules", "mountPath": "/etc/adapter", "readOnly": True} in one.container["volumeMounts"]
    other = manifests.overlay(tmp_path, "own-rules", more=RULES, rules="externalRules: []")
    assert other.pod["volumes"] != one.pod["volumes"]


def test_rights_for_own_rules_are_what_the_command_prints(tmp_path):
    """`hpa-adapter rbac` prints a patch for the base: the role then has exactly the kinds that the rules name."""
    rules = tmp_path / "rules.yaml"
    rules.write_text(
        yaml.safe_dump(
            {
                "rules": [
                    {
                        "seriesQuery": "jobs_waiting{}",
                        "resources": {
                            "overrides": {
                                "namespace": {"resource": "namespace"},
                                "app": {"group": "apps", "resource": "deployment"},
                            }
                        },
                        "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)",
                    }
                ]
            }
        )
    )
    printed = CliRunner().invoke(main.cli, ["rbac", "--config", str(rules)])
    assert printed.exit_code == 0, printed.output
    rendered = manifests.overlay(
        tmp_path, "own-rules", more=RULES + "patches:\n- path: objects.yaml\n", objects=printed.stdout
    )
    assert rendered.named("ClusterRole", "hpa-adapter-objects")["rules"] == [
        {"apiGroups": [""], "resources": ["namespaces", "pods"], "verbs": ["list", "watch"]},
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["list", "watch"]},
    ]
    assert len(rendered["ClusterRoleBinding"]) == 2
    assert len(rendered["RoleBinding"]) == 1
