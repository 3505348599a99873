"""What /metrics shows of the door: connections, certificate, loop."""

from dataclasses import dataclass

from adapter.server.connections import Connections
from adapter.server.heartbeat import Heartbeat
from adapter.server.tls import Contexts
from adapter.telemetry.clock import Clock
from adapter.telemetry.metrics import Metrics


@dataclass(frozen=True, slots=True)
class DoorFacts:
    """The parts that are shown."""

    connections: Connections
    contexts: Contexts
    heartbeat: Heartbeat
    clock: Clock

    def measure(self, metrics: Metrics) -> None:
        """This registers them with /metrics."""
        metrics.gauge("loop_lag_seconds", "How late the loop's last beat came.", self.heartbeat.lag_seconds)
        metrics.family("connections", "Open connections.", ("state",), self._connections)
        metrics.family(
            "connections_closed_total", "Connections that we closed.", ("reason",), self._closed_connections
        )
        metrics.family(
            "certificate_expiry_seconds",
            "Until the certificate ends.",
            ("use",),
            lambda: {("serving",): self.contexts.expires_in(self.clock.now())},
        )

    def _connections(self) -> dict[tuple[str, ...], float]:
        return {(state,): number for state, number in self.connections.states().items()}

    def _closed_connections(self) -> dict[tuple[str, ...], float]:
        return {(reason.value,): number for reason, number in self.connections.closed.items()}
