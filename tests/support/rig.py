"""A stand-in backend, a client of it and snapshots on top, with one fake clock: the road of a value without a cluster."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from adapter.prometheus.client import PrometheusClient
from adapter.prometheus.transport import QuestionLimits, Transport
from adapter.rulebook.model import Policy
from adapter.snapshots import values
from adapter.snapshots.source import Snapshots, Taken
from tests.support.clock import FakeClock
from tests.support.fake_prometheus import FakePrometheus

REQUEST_SECONDS = 10.0


@dataclass
class Rig:
    """All of it, connected. `pauses`: seconds that the client slept (the clock moves by them)."""

    clock: FakeClock
    fake: FakePrometheus
    client: PrometheusClient
    snapshots: Snapshots
    pauses: list[float] = field(default_factory=list)

    async def take(
        self, query: str = "up", *, policy: Policy = Policy.DEFAULTS, seconds: float = REQUEST_SECONDS
    ) -> Taken:
        return await self.snapshots.take(query, policy=policy, deadline=self.clock.monotonic() + seconds)

    async def judge(
        self, *names: str, query: str = "up", policy: Policy = Policy.DEFAULTS, namespace: str | None = None
    ) -> values.Judged:
        """The values of pods by their label `pod`, in `namespace` by the label `namespace`."""
        taken = await self.take(query, policy=policy)
        label = None if namespace is None else "namespace"
        asked = values.Asked(names or ("a", "b"), "pod", namespace, label)
        return values.by_object(taken.snapshot.result, asked, policy)


@contextlib.asynccontextmanager
async def rig(*, ttl: float = 5.0, limits: QuestionLimits | None = None) -> AsyncIterator[Rig]:
    """A rig for the length of a test; at its end everything is closed."""
    clock, pauses = FakeClock(), []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        clock.advance(seconds)

    async with FakePrometheus() as fake:
        transport = Transport(sleep=sleep, random=lambda: 0.5, limits=limits or QuestionLimits())
        client = PrometheusClient(fake.url, clock, transport)
        await client.start()
        snapshots = Snapshots(client, clock, ttl_seconds=ttl, random=lambda: 0.5)
        try:
            yield Rig(clock, fake, client, snapshots, pauses)
        finally:
            await snapshots.close()
            await client.close()
