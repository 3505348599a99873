"""A stand-in backend and a client of it, started and closed around each test."""

import pytest

from adapter.prometheus.client import PrometheusClient
from adapter.prometheus.transport import Transport
from tests.support.clock import FakeClock
from tests.support.fake_prometheus import FakePrometheus


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
async def fake():
    async with FakePrometheus() as found:
        yield found


@pytest.fixture
def pauses():
    """Seconds that the client slept."""
    return []


@pytest.fixture
async def client(fake, clock, pauses):
    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        clock.advance(seconds)

    found = PrometheusClient(fake.url, clock, Transport(sleep=sleep, random=lambda: 0.5))
    await found.start()
    yield found
    await found.close()
