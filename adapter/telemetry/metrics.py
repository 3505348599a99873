"""The adapter's own metrics: fixed label sets, nothing that a user could name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Numbers = Callable[[], Mapping[Any, float]]
"""Label values (a tuple of texts, one per label) to a number."""

DURATIONS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds. From a cached answer to the whole budget of a request."""

AGES: Final = (1.0, 2.5, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0)
"""Seconds. From a fresh sample to Prometheus's look-back."""


class _Family(Collector):
    """Numbers whose label values are known only at the time of a scrape; counters if the name ends in _total."""

    def __init__(self, name: str, text: str, labels: Sequence[str], numbers: Numbers) -> None:
        self._name, self._text, self._labels, self._numbers = name, text, labels, numbers

    def collect(self) -> Iterable[Metric]:
        """One family, with a sample per set of label values."""
        family = self._family()
        for values, number in self._numbers().items():
            family.add_metric(values, number)
        yield family

    def describe(self) -> Iterable[Metric]:
        """The family without samples: registering must not ask for numbers yet."""
        yield self._family()

    def _family(self) -> GaugeMetricFamily | CounterMetricFamily:
        kind = CounterMetricFamily if self._name.endswith("_total") else GaugeMetricFamily
        return kind(self._name, self._text, labels=self._labels)


class Metrics:
    """All of them, in a registry of their own, so that two of these never meet."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = self._counter("http_requests", "Requests by route and status.", "route", "code")
        self.answers = self._counter("answers", "Questions by cause word; ok: answered.", "cause")
        self.dropped = self._counter("values_dropped", "Samples that became no value.", "reason")
        self.snapshots = self._counter("snapshot_requests", "Snapshots by how they were had.", "result")
        self.decisions = self._counter(
            "access_decisions", "Tokens and permissions by outcome.", "kind", "outcome"
        )
        self.seconds = Histogram(
            "adapter_http_request_duration_seconds",
            "Time to answer, by route.",
            ("route",),
            buckets=DURATIONS,
            registry=self.registry,
        )
        self.ages = Histogram(
            "adapter_answer_sample_age_seconds",
            "Age of the oldest value of an answer.",
            buckets=AGES,
            registry=self.registry,
        )

    def gauge(self, name: str, text: str, value: Callable[[], float]) -> None:
        """This shows `value()` under adapter_NAME at each scrape."""
        Gauge(f"adapter_{name}", text, registry=self.registry).set_function(value)

    def family(self, name: str, text: str, labels: Sequence[str], numbers: Numbers) -> None:
        """This shows `numbers()` under adapter_NAME at each scrape, by the values of `labels`."""
        self.registry.register(_Family(f"adapter_{name}", text, labels, numbers))

    def exposition(self) -> bytes:
        """The Prometheus text format."""
        return generate_latest(self.registry)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"adapter_{name}", text, labels, registry=self.registry)
