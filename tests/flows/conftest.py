"""What tests of the mirror share: a scripted feed instead of a cluster, and time that only moves when told."""

import pytest

from adapter.flows.mirror import Mirror
from tests.support.clock import FakeClock
from tests.support.scripted_feed import ScriptedFeed
from tests.support.sleeper import Sleeper


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def sleeper(clock):
    return Sleeper(clock)


@pytest.fixture
def feed():
    return ScriptedFeed()


@pytest.fixture
async def mirror(feed, clock, sleeper):
    found = Mirror(feed, clock, sleep=sleeper.sleep, random=lambda: 1.0)
    yield found
    await found.stop()
