"""F35: the event loop is blocked. (That a large listing is read in steps: test_f07 and tests/prometheus.)"""

import pytest

from adapter.server.health import Health
from adapter.server.heartbeat import Heartbeat
from tests.support.clock import FakeClock


class Loop:
    """A loop whose beats the test gives, late or not, and the probe behind /livez."""

    def __init__(self):
        self.clock = FakeClock()
        self.heart = Heartbeat(self.clock)
        self._health = Health(live={"loop_is_alive": self.heart.probe}, ready={})

    def beat(self, *, late: float) -> None:
        """The next beat, so much late."""
        self.clock.advance(1 + late)
        self.heart.beat()

    @property
    def livez(self) -> int:
        return self._health.livez(None, verbose=False)[0]


@pytest.mark.parametrize("late", [0, 0.25, 9.9])
def test_f35_busy_loop_is_alive(late):
    """Lag that a request survives is no reason for a restart, however long it goes on."""
    loop = Loop()
    for _ in range(100):
        loop.beat(late=late)
        assert loop.livez == 200


def test_f35_one_long_block_is_alive():
    """A single step of 29 s is bad, and over."""
    loop = Loop()
    loop.beat(late=29)
    assert loop.livez == 200
    loop.beat(late=0)
    assert loop.livez == 200


def test_f35_loop_that_stays_late_is_not_alive():
    """More than 10 s late for more than 30 s: the kubelet shall restart the process; if it recovers, it is alive."""
    loop = Loop()
    states = []
    for _ in range(4):
        loop.beat(late=11)
        states.append(loop.livez)
    assert states == [200, 200, 503, 503]
    loop.beat(late=1)
    assert loop.livez == 200


def test_f35_heart_that_has_stopped_is_not_alive():
    """Should the beat itself be lost, the probe sees that too."""
    loop = Loop()
    loop.beat(late=0)
    loop.clock.advance(31)
    assert loop.livez == 200
    loop.clock.advance(1)
    assert loop.livez == 503
