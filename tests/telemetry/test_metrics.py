"""The adapter's own metrics."""

from adapter.telemetry.metrics import Metrics


def test_numbers_are_asked_for_at_each_scrape():
    """A gauge and a family show what their source says now; registering asks for nothing."""
    asked: list[int] = []
    metrics = Metrics()

    def numbers():
        asked.append(1)
        return {("pods", "Gone"): float(len(asked))}

    metrics.family("watch_restarts_total", "Watches begun anew.", ("resource", "reason"), numbers)
    metrics.gauge("catalog_metrics", "Metrics on offer.", lambda: 7)
    assert asked == []
    for expected in ("1.0", "2.0"):
        text = metrics.exposition().decode()
        assert f'adapter_watch_restarts_total{{reason="Gone",resource="pods"}} {expected}' in text
    assert "# TYPE adapter_watch_restarts_total counter" in text
    assert "adapter_catalog_metrics 7.0" in text


def test_two_processes_worth_of_metrics_never_meet():
    """Each has a registry of its own."""
    one, other = Metrics(), Metrics()
    one.answers.labels("ok").inc()
    assert b'cause="ok"' in one.exposition()
    assert b'cause="ok"' not in other.exposition()
