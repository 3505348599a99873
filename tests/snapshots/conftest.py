"""A backend that answers with a number that grows, and snapshots on top of it, under a fake clock."""

import asyncio

import pytest

from adapter.promql.vector import Result, Sample
from adapter.snapshots.source import Snapshots
from tests.support.clock import FakeClock


class Backend:
    """Answers with a number that grows, or fails; `hold` makes it wait."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock, self.failure = clock, None
        self.warnings: tuple[str, ...] = ()
        self.queries: list[str] = []
        self.deadlines: list[float] = []
        self.open = asyncio.Event()
        self.open.set()

    async def instant(self, promql: str, *, deadline: float) -> Result:
        self.queries.append(promql)
        self.deadlines.append(deadline)
        await self.open.wait()
        if self.failure is not None:
            raise self.failure
        samples = (Sample({}, float(len(self.queries)), self.clock.now()),)
        return Result(kind="vector", samples=samples, warnings=self.warnings, histograms=0)


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
async def backend(clock):
    return Backend(clock)


@pytest.fixture
def counts():
    return []


@pytest.fixture
async def snapshots(backend, clock, counts):
    found = Snapshots(backend, clock, ttl_seconds=5.0, random=lambda: 0.5, count=counts.append)
    yield found
    await found.close()
