"""What the tests of this room share: a cluster's certificates, a clock, and who reviews."""

import pytest

from tests.support.certificates import Pki
from tests.support.clock import FakeClock
from tests.support.reviewing import Reviewing


@pytest.fixture(scope="session")
def pki():
    return Pki()


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def reviews():
    return Reviewing()
