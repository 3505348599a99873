"""What /metrics and /readyz?verbose show of the running parts: looked at only when somebody asks."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from adapter.flows.mirror import Mirror
from adapter.flows.relist import Relist
from adapter.rulebook.model import Rulebook
from adapter.telemetry.metrics import Metrics


class BackendState(Protocol):
    """What is known of the backend."""

    up: bool
    skew_seconds: float


@dataclass(frozen=True, slots=True)
class Facts:
    """The parts that are shown. `skipped`: objects and events that could not be read, by (resource, what)."""

    book: Rulebook
    relist: Relist
    mirror: Mirror
    backend: BackendState
    skipped: Callable[[], Mapping[Any, float]]

    def measure(self, metrics: Metrics) -> None:
        """This registers them with /metrics."""
        relist, mirror = self.relist, self.mirror
        gauges: tuple[tuple[str, str, Callable[[], float]], ...] = (
            ("catalog_metrics", "Metrics on offer.", lambda: len(relist.catalog.entries)),
            ("catalog_age_seconds", "Age of the oldest listing in use.", self._catalog_age),
            ("backend_up", "Whether the backend answers.", lambda: self.backend.up),
            (
                "backend_clock_skew_seconds",
                "The backend's clock less ours.",
                lambda: self.backend.skew_seconds,
            ),
        )
        for name, text, number in gauges:
            metrics.gauge(name, text, number)
        by_resource = (
            ("objects", "Objects held.", mirror.sizes),
            ("objects_age_seconds", "Since the objects were known to be the cluster's.", mirror.ages),
        )
        for name, text, numbers in by_resource:
            metrics.family(name, text, ("resource",), functools.partial(_by_one, numbers))
        metrics.family(
            "watch_restarts_total", "Watches begun anew.", ("resource", "reason"), mirror.restart_counts
        )
        metrics.family(
            "watch_skipped_total", "What no object could be made of.", ("resource", "what"), self.skipped
        )
        metrics.family("rules", "Rules by state.", ("state",), self._rules)

    def words(self) -> Mapping[str, Callable[[], str]]:
        """The lines of /readyz?verbose that block nothing."""
        return {
            "catalog": self._catalog,
            "rules": lambda: f"{len(self.book.rules)} in force, {len(self.book.findings)} findings",
            "backend": lambda: "up" if self.backend.up else "down",
        }

    def _catalog(self) -> str:
        return f"{len(self.relist.catalog.entries)} metrics" if self.relist.complete else "no listing yet"

    def _catalog_age(self) -> float:
        return max(self.relist.ages().values(), default=0.0)

    def _rules(self) -> dict[tuple[str, ...], float]:
        refused = {one.rule for one in self.book.findings if one.severity == "error" and one.rule}
        inactive = {one.rule for one in self.relist.findings}
        active = len(self.book.rules) - len(inactive)
        return {("active",): active, ("inactive",): len(inactive), ("refused",): len(refused)}


def _by_one(numbers: Callable[[], Mapping[str, float]]) -> dict[tuple[str, ...], float]:
    return {(name,): number for name, number in numbers().items()}
