"""F30: more questions at once than there are places."""

import asyncio

import pytest

from adapter.settings import Limits
from tests.support.kit import PODS, FakeBackend, goroutines


class SlowBackend(FakeBackend):
    """This answers nobody before `open` is set."""

    def __init__(self):
        super().__init__()
        self.open = asyncio.Event()

    async def instant(self, promql, *, deadline):
        result = await super().instant(promql, deadline=deadline)
        await self.open.wait()
        return result


@pytest.fixture
async def full():
    """(kit, backend, tasks): two places, both taken by questions that the backend has not answered."""
    backend = SlowBackend()
    kit = await goroutines("web-1", "web-2", "web-3", limits=Limits(in_flight=2), backend=backend)
    backend.samples = [({"pod": f"web-{number}"}, 1.0) for number in (1, 2, 3)]
    tasks = [asyncio.create_task(kit.ask(f"{PODS}/web-{number}/goroutines")) for number in (1, 2)]
    while len(backend.queries) < 2:
        await asyncio.sleep(0)
    yield kit, backend, tasks
    backend.open.set()
    await asyncio.gather(*tasks)


async def test_f30_who_finds_no_place_is_told_at_once(full):
    """429 in JSON, never with Retry-After: the autoscaler would hold a worker for it. The others get their answers."""
    kit, backend, tasks = full
    reply = await kit.ask(f"{PODS}/web-3/goroutines")
    assert (reply.status, reply.body["reason"], reply.cause) == (429, "TooManyRequests", "Overloaded")
    assert "Retry-After" not in reply.headers
    assert "retryAfterSeconds" not in reply.body["details"]
    backend.open.set()
    assert [one.status for one in await asyncio.gather(*tasks)] == [200, 200]
    assert (await kit.ask(f"{PODS}/web-3/goroutines")).status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/livez",
        "/readyz",
        "/healthz",
        "/apis",
        "/apis/custom.metrics.k8s.io",
        "/apis/custom.metrics.k8s.io/v1beta1",
        "/apis/custom.metrics.k8s.io/v1beta2",
        "/openapi/v2",
        "/openapi/v3",
        "/version",
        "/metrics",
    ],
)
async def test_f30_probes_and_discovery_need_no_place(full, path):
    """The cluster depends on them, and they cost nothing."""
    kit, _, _ = full
    assert (await kit.ask(path)).status == 200
