"""The shipped alerts, run by promtool on made-up series."""

import re
import subprocess

import pytest
import yaml

from adapter.cli import process
from tests.support import manifests

ALERTS = manifests.APISERVICE / "components" / "monitoring" / "alerts.yaml"
ON_APIS = 'name="v1beta2.custom.metrics.k8s.io"'
HPA = 'namespace="shop",horizontalpodautoscaler="web"'

CASES = {
    "MetricsApiUnavailable": {
        f"aggregator_unavailable_apiservice{{{ON_APIS}}}": ("1", "0"),
    },
    "MetricsAdapterAbsent": {"adapter_backend_up": (None, "1")},
    "MetricsAdapterBackendDown": {"adapter_backend_up": ("0", "1")},
    "MetricsAdapterRulesRefused": {'adapter_rules{state="refused"}': ("2", "0")},
    "MetricsAdapterCatalogOld": {"adapter_catalog_age_seconds": ("700", "20")},
    "MetricsAdapterObjectsOld": {'adapter_objects_age_seconds{resource="pods"}': ("700", "20")},
    "MetricsAdapterCertificateEnds": {
        'adapter_certificate_expiry_seconds{use="serving"}': ("86400", "8640000"),
    },
    "AutoscalerHasNoMetric": {
        f'kube_horizontalpodautoscaler_status_condition{{{HPA},condition="ScalingActive",status="false"}}': (
            "1",
            "0",
        ),
        f"kube_horizontalpodautoscaler_status_current_replicas{{{HPA}}}": ("3", "3"),
    },
    "AutoscalerAtMaximum": {
        f"kube_horizontalpodautoscaler_status_desired_replicas{{{HPA}}}": ("10", "4"),
        f"kube_horizontalpodautoscaler_spec_max_replicas{{{HPA}}}": ("10", "10"),
        f"kube_horizontalpodautoscaler_spec_min_replicas{{{HPA}}}": ("2", "2"),
    },
}
MINUTES = 120


@pytest.fixture(scope="module")
def groups():
    return yaml.safe_load(ALERTS.read_text())["spec"]["groups"]


@pytest.fixture(scope="module")
def run(groups, tmp_path_factory):
    """promtool's word on whether `alert` fires at the end of two hours of these series."""
    place = tmp_path_factory.mktemp("alerts")
    (place / "alerts.yaml").write_text(yaml.safe_dump({"groups": groups}))

    def fires(alert: str, series: dict[str, str]) -> bool:
        test = {
            "interval": "1m",
            "input_series": [
                {"series": name, "values": f"{value}x{MINUTES}"} for name, value in series.items()
            ],
            "promql_expr_test": [
                {
                    "expr": f'count(ALERTS{{alertname="{alert}",alertstate="firing"}})',
                    "eval_time": f"{MINUTES}m",
                    "exp_samples": [{"labels": "{}", "value": 1}],
                }
            ],
        }
        path = place / "test.yaml"
        path.write_text(
            yaml.safe_dump({"rule_files": ["alerts.yaml"], "evaluation_interval": "1m", "tests": [test]})
        )
        promtool = process.tool("promtool", "on Debian: apt-get install prometheus")
        return subprocess.run([promtool, "test", "rules", str(path)], capture_output=True).returncode == 0

    return fires


@pytest.mark.parametrize("alert", CASES)
def test_alert_fires_on_trouble_and_not_without(run, alert):
    """Two hours of the one, two hours of the other."""
    trouble = {name: bad for name, (bad, _) in CASES[alert].items() if bad is not None}
    assert run(alert, trouble)
    assert not run(alert, {name: good for name, (_, good) in CASES[alert].items()})


def test_every_alert_is_tried(groups):
    """None is shipped that nobody has seen firing."""
    assert {rule["alert"] for group in groups for rule in group["rules"]} == set(CASES)


def test_every_metric_of_ours_in_an_alert_is_shown_by_the_adapter(groups):
    """An alert on a name that nobody exposes would be silent for ever."""
    named = {
        name
        for group in groups
        for rule in group["rules"]
        for name in re.findall(r"adapter_[a-z_]+", rule["expr"])
    }
    sources = "".join(path.read_text() for path in (manifests.ROOT / "adapter").rglob("*.py"))
    assert named
    assert not [name for name in named if f'"{name.removeprefix("adapter_")}"' not in sources]


def test_every_alert_has_a_place_to_begin_in_the_guide(groups):
    """docs/operations.md says of each where to look."""
    guide = (manifests.ROOT / "docs" / "operations.md").read_text()
    assert not [
        rule["alert"] for group in groups for rule in group["rules"] if f"`{rule['alert']}`" not in guide
    ]


def test_an_autoscaler_without_replicas_is_no_trouble(run):
    """Scaled to nothing by hand, it is inactive on purpose."""
    series = {name: bad for name, (bad, _) in CASES["AutoscalerHasNoMetric"].items()}
    series[f"kube_horizontalpodautoscaler_status_current_replicas{{{HPA}}}"] = "0"
    assert not run("AutoscalerHasNoMetric", series)


def test_an_autoscaler_of_fixed_size_is_no_trouble(run):
    """With minReplicas equal to maxReplicas it is always at its maximum."""
    series = {name: bad for name, (bad, _) in CASES["AutoscalerAtMaximum"].items()}
    series[f"kube_horizontalpodautoscaler_spec_min_replicas{{{HPA}}}"] = "10"
    assert not run("AutoscalerAtMaximum", series)
