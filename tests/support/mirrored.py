"""A mirror of a stand-in API server: real client, real sockets, time by hand."""

import asyncio
from pathlib import Path
from typing import Self

import yaml

from adapter.flows.mirror import Mirror
from adapter.kube.client import KubeClient, Limits
from adapter.kube.cluster import Cluster
from adapter.kube.credentials import Source
from adapter.wire import selectors
from adapter.wire.resources import Resource
from tests.support.clock import FakeClock
from tests.support.eventually import PATIENCE_SECONDS, until
from tests.support.fake_kube import FakeKube
from tests.support.sleeper import Sleeper

PODS = Resource("", "v1", "pods", "pod", "Pod", namespaced=True)
NAMESPACES = Resource("", "v1", "namespaces", "namespace", "Namespace", namespaced=False)


class Mirrored:
    """`async with Mirrored(tmp_path) as cluster:` starts all but the API server with `serving=False`."""

    def __init__(self, place: Path, *, serving: bool = True, silence_seconds: float = 300.0) -> None:
        self.kube, self.clock = FakeKube(), FakeClock()
        self.sleeper = Sleeper(self.clock)
        self._path, self._serving, self._limits = (
            place / "config",
            serving,
            Limits(silence_seconds=silence_seconds),
        )

    async def __aenter__(self) -> Self:
        await self.kube.start()
        self._path.write_text(_kubeconfig(self.kube.url))
        if not self._serving:
            await self.kube.stop()
        self.cluster = Cluster(KubeClient(Source(str(self._path)), self.clock, self._limits))
        self.mirror = Mirror(self.cluster, self.clock, sleep=self.sleeper.sleep, random=lambda: 1.0)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.mirror.stop()
        await self.cluster.close()
        await self.kube.stop()

    async def names(self, resource: Resource = PODS, namespace: str | None = None) -> list[str]:
        """The names that the mirror gives at once. Raises errors.AdapterError."""
        store = await self.mirror.objects(resource, deadline=self.clock.monotonic())
        return [one.name for one in store.select(namespace, selectors.EVERYTHING)]

    async def shows(self, *names: str) -> None:
        """This returns once the mirror has exactly these pods."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await self.names() != sorted(names):
                await asyncio.sleep(0.001)

    async def watching(self, times: int = 1) -> None:
        """This returns once pods are being watched for the `times`-th time."""
        await until(lambda: self.kube.count("watch", "pods") >= times and self.kube.streams)


def _kubeconfig(url: str) -> str:
    return yaml.safe_dump(
        {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c"}}],
            "clusters": [{"name": "c", "cluster": {"server": url}}],
        }
    )
