"""What /metrics shows of the door."""

from adapter.server.connections import Connections, Reason
from adapter.server.door_facts import DoorFacts
from adapter.server.heartbeat import Heartbeat
from adapter.settings import Limits
from adapter.telemetry.metrics import Metrics
from tests.support import doors
from tests.support.clock import FakeClock


def test_door_is_measured():
    """Connections by state and by reason of their end, with all labels from the start; lag; the certificate's end."""
    clock, connections, contexts = FakeClock(), Connections(Limits()), doors.contexts()
    metrics = Metrics()
    DoorFacts(connections, contexts, Heartbeat(clock), clock).measure(metrics)
    connections.closed[Reason.IDLE] += 2
    clock.advance(contexts.expires_in(clock.now()) - 60)
    lines = metrics.exposition().decode().splitlines()
    for line in (
        'adapter_connections{state="busy"} 0.0',
        'adapter_connections_closed_total{reason="idle"} 2.0',
        'adapter_connections_closed_total{reason="slow_head"} 0.0',
        'adapter_certificate_expiry_seconds{use="serving"} 60.0',
    ):
        assert line in lines
    assert any(line.startswith("adapter_loop_lag_seconds ") for line in lines)
