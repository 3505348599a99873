"""The shipped rules for Go programs."""

from pathlib import Path

import pytest

from adapter.rulebook import files, parse

ROOT = Path(__file__).resolve().parents[2]
SOURCE = (ROOT / "rules" / "go-runtime.yaml").read_text()
SERIES = {"go_goroutines": "goroutines", "go_sched_latencies_seconds_bucket": "scheduler_latency"}


@pytest.fixture
def rules():
    book = parse.parse(SOURCE, "rules/go-runtime.yaml", compat=False)
    assert book.findings == ()
    return {rule.name_as: rule for rule in book.rules}


def test_name_of_the_shipped_set_is_the_file():
    """--config @go-runtime puts exactly this file's rules in force, without a finding."""
    book = files.load(["@go-runtime"], compat=False)
    assert [rule.name_as for rule in book.rules] == list(SERIES.values())
    assert book.findings == ()


def test_file_means_the_same_to_prometheus_adapter():
    """It holds nothing that prometheus-adapter would refuse."""
    assert parse.parse(SOURCE, "rules/go-runtime.yaml", compat=True).findings == ()


@pytest.mark.parametrize(("series", "metric"), SERIES.items())
def test_rule_gives_its_series_its_name_and_no_other(rules, series, metric):
    """Each rule names one series, and demands the labels without which a value belongs to no pod."""
    rule = rules[metric]
    assert rule.metric_name(series) == metric
    assert rule.metric_name(f"{series}_total") is None
    assert rule.series_query == f'{series}{{namespace!="",pod!=""}}'


def test_latency_is_a_percentile_over_a_short_window(rules):
    """The window is one minute at most: the percentile must not tell of a time before the last pods came."""
    assert "histogram_quantile(0.99" in rules["scheduler_latency"].metrics_query.source
    assert "[1m]" in rules["scheduler_latency"].metrics_query.source


@pytest.mark.parametrize(
    "words",
    [
        "collectors.WithGoCollectorRuntimeMetrics(collectors.MetricsScheduler)",
        "DO NOT SCALE ON IT ALONE",
        "four times",
        "NaN",
    ],
)
def test_file_says_what_its_reader_must_know(words):
    """How to switch the histogram on, the caution on its buckets, the choice of the window, what NaN means."""
    assert words in SOURCE
