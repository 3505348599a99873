"""The example autoscalers fit the rules that come with the program, and hold to the advice in them."""

from pathlib import Path

import pytest
import yaml

from adapter.wire import quantity

ROOT = Path(__file__).resolve().parents[2]
AUTOSCALERS = sorted((ROOT / "examples").glob("hpa-*.yaml"))


def offered(*files: str) -> set[str]:
    return {
        rule["name"]["as"] for file in files for rule in yaml.safe_load((ROOT / file).read_text())["rules"]
    }


@pytest.fixture(params=AUTOSCALERS, ids=lambda path: path.stem)
def autoscaler(request):
    return yaml.safe_load(request.param.read_text())


def test_there_are_two():
    """One autoscaler on goroutines alone, one with latency beside them."""
    assert [path.stem for path in AUTOSCALERS] == ["hpa-goroutines-and-latency", "hpa-goroutines"]


def test_autoscaler_reads_pods_metrics_that_the_shipped_rules_offer(autoscaler):
    """Every metric is of type Pods, an average over the pods, by a name of @go-runtime; goroutines come first."""
    assert autoscaler["apiVersion"] == "autoscaling/v2"
    metrics = autoscaler["spec"]["metrics"]
    names = [one["pods"]["metric"]["name"] for one in metrics]
    assert names[0] == "goroutines"
    assert set(names) <= offered("rules/go-runtime.yaml")
    for one in metrics:
        assert one["type"] == "Pods"
        assert one["pods"]["target"]["type"] == "AverageValue"
        assert quantity.parse(str(one["pods"]["target"]["averageValue"])) > 0


def test_autoscaler_limits_both_directions(autoscaler):
    """It never shrinks on one round's news, and both directions have a limit per minute."""
    behavior = autoscaler["spec"]["behavior"]
    assert behavior["scaleDown"]["stabilizationWindowSeconds"] >= 300
    assert behavior["scaleDown"]["policies"]
    assert behavior["scaleUp"]["policies"]
    assert 2 <= autoscaler["spec"]["minReplicas"] < autoscaler["spec"]["maxReplicas"]


def test_latency_target_is_far_above_what_is_normal():
    """Latency is an alarm: its target is ten times a healthy pod's few milliseconds, and below the 117 ms that
    client_golang's buckets can show at most.
    """
    spec = yaml.safe_load((ROOT / "examples" / "hpa-goroutines-and-latency.yaml").read_text())["spec"]
    latency = next(
        one["pods"] for one in spec["metrics"] if one["pods"]["metric"]["name"] == "scheduler_latency"
    )
    assert 30 <= quantity.parse(latency["target"]["averageValue"]) <= 100


def test_application_rule_is_the_one_that_everybody_quotes():
    """The example rule file holds this one rule, and nothing else."""
    assert yaml.safe_load((ROOT / "examples" / "rules-my-go-app.yaml").read_text()) == {
        "rules": [
            {
                "seriesQuery": 'go_goroutines{job="my-go-app"}',
                "resources": {
                    "overrides": {"namespace": {"resource": "namespace"}, "pod": {"resource": "pod"}},
                },
                "name": {"matches": "go_goroutines", "as": "goroutines"},
                "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)",
            }
        ]
    }
