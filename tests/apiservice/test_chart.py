"""What Helm makes of apiservice/chart, checked as data."""

import base64

import helm_python
import pytest
import yaml

from adapter import __version__
from adapter.rulebook import files
from tests.support import manifests
from tests.support.manifests import APISERVICE, CHART, GROUP, NAME, PROMETHEUS

URL = {"prometheus": {"url": PROMETHEUS}}
RULE = {
    "seriesQuery": "jobs_waiting{}",
    "resources": {"overrides": {"namespace": {"resource": "namespace"}, "pod": {"resource": "pod"}}},
    "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)",
}
PAIR = {"enable": True, "ca": "the CA", "certificate": "the certificate", "key": "the key"}


@pytest.fixture(scope="module")
def rendered():
    return manifests.helm(URL)


def arguments(values):
    return manifests.helm(URL | values).container["args"]


# -- what a user must say, and what is refused


def test_address_of_prometheus_is_required():
    """There is no default that fits almost nobody: the refusal says what to write."""
    with pytest.raises(
        helm_python.HelmError, match=r"prometheus\.url is required.*--set prometheus\.url=http"
    ):
        manifests.helm({})


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"rules": {"external": [RULE]}}, r"rules\.external: this version does not serve external"),
        (
            {"rules": {"resource": {"cpu": {}}}},
            r"rules\.resource: this version does not serve metrics\.k8s\.io",
        ),
        ({"rules": {"existing": "mine", "custom": [RULE]}}, r"rules\.existing: .* not from both"),
        ({"rules": {"shipped": []}}, "rules: there are none"),
        ({"prometheus": {"url": "prometheus:9090"}}, "begins neither with http"),
        ({"tls": {"enable": True}}, r"tls\.enable: tls\.ca, tls\.certificate and tls\.key are needed"),
        ({"tls": {"existingSecret": "mine"}}, r"tls\.existingSecret: give tls\.ca"),
        ({"tls": PAIR, "certManager": {"enabled": True}}, "certManager.enabled and tls.enable: choose one"),
        ({"rbac": {"create": False}}, "rbac.create=false: without rights to its Secret"),
        ({"podDisruptionBudget": {"minAvailable": 1}}, "minAvailable or maxUnavailable"),
        ({"networkPolicy": {"ingressFrom": [{}]}}, "the API server would be locked out"),
        ({"serviceAccount": {"create": False}}, r"serviceAccount\.name: name the account"),
        ({"replica": 3}, "additional properties 'replica' not allowed"),
        ({"logLevel": "4"}, "logLevel"),
    ],
)
def test_what_cannot_be_installed_is_refused_with_the_reason(values, words):
    """Before anything is installed, and by the name of the value."""
    with pytest.raises(helm_python.HelmError, match=words):
        manifests.helm(URL | values)


def test_chart_passes_lint():
    """Helm itself finds nothing to warn of."""
    report = helm_python.lint(CHART, URL, strict=True)
    assert not report["errors"]
    assert not [one for one in report["messages"] if one["severity"] > 1]


def test_versions_are_those_of_the_program():
    """The chart installs the program that it was released with."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["version"] == chart["appVersion"] == __version__


# -- by default the same as the kustomize release


def test_default_installation_is_the_kustomize_release(rendered):
    """Two ways, one installation: the same rights, pod, policy and registration."""
    other = manifests.kustomize(APISERVICE / "overlays" / "release")
    assert {kind: len(objects) for kind, objects in rendered.items()} == {
        kind: len(objects) for kind, objects in other.items() if kind not in ("Namespace", "ConfigMap")
    }
    secret = "hpa-adapter-serving-cert"
    assert rendered.rights() == {
        (kind, group, what, verb, "hpa-adapter-cert" if name == secret else name)
        for kind, group, what, verb, name in other.rights()
    }
    for field in ("securityContext", "terminationGracePeriodSeconds", "volumes"):
        assert rendered.pod[field] == other.pod[field]
    for field in ("securityContext", "resources", "startupProbe", "livenessProbe", "readinessProbe", "ports"):
        assert rendered.container[field] == other.container[field]
    for version in ("v1beta1", "v1beta2"):
        name = f"{version}.{GROUP}"
        assert rendered.named("APIService", name)["spec"] == other.named("APIService", name)["spec"]
    assert rendered.deployment["spec"]["replicas"] == other.deployment["spec"]["replicas"]
    assert rendered.one("PodDisruptionBudget")["spec"]["maxUnavailable"] == 1


def test_default_policy_is_shut_but_for_four_ports(rendered):
    """In to the HTTPS port; out to the API server, names, and the port of the address of Prometheus."""
    policy = rendered.one("NetworkPolicy")["spec"]
    assert sorted(policy["policyTypes"]) == ["Egress", "Ingress"]
    assert policy["ingress"] == [{"ports": [{"protocol": "TCP", "port": "https"}]}]
    assert [[one["port"] for one in rule["ports"]] for rule in policy["egress"]] == [
        [443, 6443],
        [53, 53],
        [9090],
    ]


def test_every_field_is_one_that_the_api_has():
    """A misspelt field would be dropped by the API server without a word."""
    everything = URL | {
        "image": {"pullSecrets": ["registry"]},
        "rules": {"custom": [RULE]},
        "tls": PAIR,
        "env": [{"name": "A", "value": "b"}],
        "rbac": {"customMetrics": {"resources": ["pods/*"]}, "useAuthReaderClusterRole": True},
        "service": {"clusterIP": "10.0.0.10", "ipDualStack": {"enabled": True}, "annotations": {"a": "b"}},
        "revisionHistoryLimit": 0,
        "priorityClassName": "system-cluster-critical",
        "nodeSelector": {"a": "b"},
        "tolerations": [{"operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "hostNetwork": {"enabled": True},
        "dnsConfig": {"searches": ["a"]},
        "networkPolicy": {"apiServer": ["10.0.0.1/32"], "ingressFrom": [{"podSelector": {}}]},
        "podDisruptionBudget": {"minAvailable": 1, "maxUnavailable": None},
        "customLabels": {"team": "a"},
        "customAnnotations": {"team": "a"},
    }
    rendered = manifests.helm(everything)
    assert not [wrong for one in rendered.all() for wrong in manifests.unknown_fields(one)]


# -- the values, one by one


@pytest.mark.parametrize(
    ("prometheus", "address"),
    [
        ({"url": "http://p.monitoring.svc"}, "http://p.monitoring.svc:9090"),
        (
            {"url": "http://p.monitoring.svc/", "port": 8080, "path": "/prom"},
            "http://p.monitoring.svc:8080/prom",
        ),
        ({"url": "http://p.monitoring.svc:1234"}, "http://p.monitoring.svc:1234"),
        ({"url": "https://p.example.com", "port": 0, "path": "/a"}, "https://p.example.com/a"),
        ({"url": "http://{{ .Release.Name }}-prom.svc"}, f"http://{NAME}-prom.svc:9090"),
        ({"url": "$(ADDRESS)"}, "$(ADDRESS)"),
    ],
)
def test_address_is_made_of_url_port_and_path(prometheus, address):
    """As prometheus-adapter's chart does, but that a port in the URL is not doubled."""
    assert f"--prometheus-url={address}" in manifests.helm({"prometheus": prometheus}).container["args"]


def test_rules_of_the_values_are_a_file_of_the_pod():
    """They are mounted where the chart of prometheus-adapter has them, beside the shipped ones; new rules, new pods."""
    rendered = manifests.helm(URL | {"rules": {"custom": [RULE]}})
    text = rendered.one("ConfigMap")["data"]["config.yaml"]
    assert yaml.safe_load(text) == {"rules": [RULE]}
    assert rendered.container["args"][:2] == ["--config=@go-runtime", "--config=/etc/adapter/config.yaml"]
    assert {"name": "rules", "configMap": {"name": "hpa-adapter-rules"}} in rendered.pod["volumes"]
    other = manifests.helm(URL | {"rules": {"custom": [RULE | {"seriesQuery": "other{}"}]}})
    checksums = [one.deployment["spec"]["template"]["metadata"]["annotations"] for one in (rendered, other)]
    assert checksums[0] != checksums[1]


def test_catch_all_rules_are_off_and_can_be_had(rendered, tmp_path):
    """Without being asked the chart makes no metric of every series; asked, its six rules are sound."""
    assert not rendered["ConfigMap"]
    asked = manifests.helm(URL | {"rules": {"default": True, "custom": [RULE]}})
    path = tmp_path / "config.yaml"
    path.write_text(asked.one("ConfigMap")["data"]["config.yaml"])
    book = files.load([str(path)], compat=False)
    assert not book.findings
    assert len(book.rules) == 7
    names = [one.metric_name("container_cpu_usage_seconds_total") for one in book.rules]
    assert names[0] == "cpu_usage"


def test_existing_config_map_is_taken_as_it_is():
    """Its rules are the user's: no ConfigMap of ours, and only its file is named."""
    rendered = manifests.helm(URL | {"rules": {"existing": "mine", "shipped": []}})
    assert not rendered["ConfigMap"]
    assert rendered.container["args"][0] == "--config=/etc/adapter/config.yaml"
    assert {"name": "rules", "configMap": {"name": "mine"}} in rendered.pod["volumes"]


def test_objects_of_other_kinds_are_added_to_the_role():
    """What `hpa-adapter rbac` prints beyond pods and namespaces."""
    more = {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["list", "watch"]}
    rendered = manifests.helm(URL | {"rbac": {"objects": [more]}})
    assert rendered.named("ClusterRole", "hpa-adapter-objects")["rules"] == [
        {"apiGroups": [""], "resources": ["namespaces", "pods"], "verbs": ["list", "watch"]},
        more,
    ]


def test_certificate_of_the_values_is_stored_and_registered():
    """The API server is told of the CA, and all replicas serve the pair."""
    rendered = manifests.helm(URL | {"tls": PAIR})
    secret = rendered.one("Secret")
    assert {key: base64.b64decode(value).decode() for key, value in secret["data"].items()} == {
        "ca.crt": "the CA",
        "tls.crt": "the certificate",
        "tls.key": "the key",
    }
    for one in rendered["APIService"]:
        assert base64.b64decode(one["spec"]["caBundle"]).decode() == "the CA"
    assert "--tls-cert-file=/var/run/serving-cert/tls.crt" in rendered.container["args"]
    assert "--self-managed-tls" not in rendered.container["args"]
    assert not rendered["Role"]


def test_secret_of_the_user_is_mounted():
    """Nothing is made; the CA comes from the values, or is injected."""
    rendered = manifests.helm(URL | {"tls": {"existingSecret": "mine", "ca": "the CA"}})
    assert not rendered["Secret"]
    (mounted,) = [one["secret"]["secretName"] for one in rendered.pod["volumes"] if "secret" in one]
    assert mounted == "mine"
    annotations = {"cert-manager.io/inject-ca-from": "pki/mine"}
    injected = manifests.helm(
        URL | {"tls": {"existingSecret": "mine"}, "apiService": {"annotations": annotations}}
    )
    for one in injected["APIService"]:
        assert one["metadata"]["annotations"] == annotations
        assert "caBundle" not in one["spec"]


def test_cert_manager_makes_what_is_mounted_and_injects_its_ca():
    """With the durations of the values, for the Service's name."""
    rendered = manifests.helm(
        URL | {"certManager": {"enabled": True, "certDuration": "48h", "certRevisionHistoryLimit": 3}}
    )
    serving = rendered.named("Certificate", "hpa-adapter-cert")["spec"]
    assert serving["duration"] == "48h"
    assert serving["revisionHistoryLimit"] == 3
    assert serving["dnsNames"][0] == f"{NAME}.{NAME}.svc"
    (mounted,) = [one["secret"]["secretName"] for one in rendered.pod["volumes"] if "secret" in one]
    assert mounted == serving["secretName"]
    for one in rendered["APIService"]:
        assert one["metadata"]["annotations"]["cert-manager.io/inject-ca-from"] == f"{NAME}/hpa-adapter-cert"


def test_names_follow_release_and_namespace():
    """The certificate is for the name under which the API server will ask."""
    rendered = manifests.helm(
        URL | {"certManager": {"enabled": True}, "namespaceOverride": "metrics"}, name="blue"
    )
    assert rendered.one("Service")["metadata"]["name"] == "blue-hpa-adapter"
    serving = rendered.named("Certificate", "blue-hpa-adapter-cert")["spec"]
    assert serving["dnsNames"][0] == "blue-hpa-adapter.metrics.svc"
    for one in rendered["APIService"]:
        assert one["spec"]["service"] == {"name": "blue-hpa-adapter", "namespace": "metrics", "port": 443}
    subjects = {subject["namespace"] for one in rendered["ClusterRoleBinding"] for subject in one["subjects"]}
    assert subjects == {"metrics"}


def test_network_policy_can_name_the_api_server():
    """Then nobody else gets in but whom the values name, and nothing goes out but there, to names and to Prometheus."""
    prometheus = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}
    rendered = manifests.helm(
        URL
        | {
            "networkPolicy": {
                "apiServer": ["10.0.0.1/32", "10.0.0.2/32"],
                "ingressFrom": [prometheus],
                "prometheus": [prometheus],
                "prometheusPorts": [9091],
            }
        }
    )
    policy = rendered.one("NetworkPolicy")["spec"]
    blocks = [{"ipBlock": {"cidr": f"10.0.0.{last}/32"}} for last in (1, 2)]
    (ingress,) = policy["ingress"]
    assert ingress["from"][:2] == blocks
    assert prometheus in ingress["from"]
    assert policy["egress"][0]["to"] == blocks
    assert policy["egress"][2] == {"ports": [{"protocol": "TCP", "port": 9091}], "to": [prometheus]}


def test_process_settings_become_arguments():
    """Level, interval, port and further arguments reach the command line in the order given."""
    args = arguments(
        {
            "logLevel": 6,
            "metricsRelistInterval": "1m",
            "listenPort": 7443,
            "extraArguments": ["--cache-ttl=10s"],
        }
    )
    assert {"--v=6", "--metrics-relist-interval=1m", "--secure-port=7443"} <= set(args)
    assert args[-1] == "--cache-ttl=10s"


def test_pod_takes_what_the_values_add():
    """Containers, volumes, environment, labels, annotations, image: each in its place."""
    rendered = manifests.helm(
        URL
        | {
            "image": {"repository": "example.com/hpa-adapter", "tag": "1.2.3", "pullSecrets": ["pull"]},
            "extraContainers": [{"name": "side"}],
            "extraVolumes": [{"name": "more"}],
            "extraVolumeMounts": [{"name": "more", "mountPath": "/more"}],
            "env": [{"name": "A", "value": "b"}],
            "podLabels": {"a": "b"},
            "podAnnotations": {"c": "d"},
            "deploymentAnnotations": {"e": "f"},
            "customLabels": {"team": "x"},
            "hostNetwork": {"enabled": True},
            "replicas": 5,
        }
    )
    first, second = rendered.pod["containers"]
    assert first["image"] == "example.com/hpa-adapter:1.2.3"
    assert second == {"name": "side"}
    assert first["env"] == [{"name": "A", "value": "b"}]
    assert {"name": "more"} in rendered.pod["volumes"]
    assert {"name": "more", "mountPath": "/more"} in first["volumeMounts"]
    template = rendered.deployment["spec"]["template"]["metadata"]
    assert {"a": "b", "team": "x"}.items() <= template["labels"].items()
    assert template["annotations"] == {"c": "d"}
    assert rendered.deployment["metadata"]["annotations"] == {"e": "f"}
    assert rendered.pod["imagePullSecrets"] == [{"name": "pull"}]
    assert rendered.pod["hostNetwork"] is True
    assert rendered.pod["dnsPolicy"] == "ClusterFirstWithHostNet"
    assert rendered.deployment["spec"]["replicas"] == 5


def test_autoscaler_gets_a_role_only_if_asked_for(rendered):
    """Its built-in role covers the group; a smaller one can be given."""
    assert "hpa-adapter-autoscaler" not in [one["metadata"]["name"] for one in rendered["ClusterRole"]]
    asked = manifests.helm(URL | {"rbac": {"customMetrics": {"resources": ["pods/goroutines"]}}})
    assert asked.named("ClusterRole", "hpa-adapter-autoscaler")["rules"] == [
        {"apiGroups": [GROUP], "resources": ["pods/goroutines"], "verbs": ["get", "list"]}
    ]
    (subject,) = asked.named("ClusterRoleBinding", "hpa-adapter-autoscaler")["subjects"]
    assert subject["name"] == "horizontal-pod-autoscaler"


def test_monitoring_is_that_of_the_component(tmp_path):
    """The same alerts, word for word, and the same right; labels choose the Prometheus."""
    rendered = manifests.helm(
        URL
        | {
            "monitoring": {
                "serviceMonitor": {"enabled": True, "labels": {"release": "prom"}},
                "alerts": {"enabled": True},
            }
        }
    )
    other = manifests.overlay(tmp_path, "monitoring")
    assert rendered.one("PrometheusRule")["spec"] == other.one("PrometheusRule")["spec"]
    monitor = rendered.one("ServiceMonitor")
    assert monitor["metadata"]["labels"]["release"] == "prom"
    assert ("ClusterRole", "", "/metrics", "get", "") in rendered.rights()
    (endpoint,) = monitor["spec"]["endpoints"]
    assert endpoint["tlsConfig"]["ca"]["secret"] == {"name": "hpa-adapter-cert", "key": "ca.crt"}


def test_further_manifests_are_rendered_as_templates():
    """Objects and text alike."""
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "{{ .Release.Name }}-more"}}
    rendered = manifests.helm(URL | {"extraManifests": [config, yaml.safe_dump(config | {"kind": "Secret"})]})
    assert rendered.one("ConfigMap")["metadata"]["name"] == f"{NAME}-more"
    assert f"{NAME}-more" in [one["metadata"]["name"] for one in rendered["Secret"]]


def test_guide_tells_of_every_value():
    """The chart's README names each top-level value."""
    guide = (CHART / "README.md").read_text()
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert not [name for name in values if f"`{name}" not in guide]
