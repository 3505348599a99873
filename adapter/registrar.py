"""What `hpa-adapter register` and `unregister` are made of: their app.py, in which a cluster is connected."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from adapter.flows.registering import Registrations
from adapter.kube.client import KubeClient
from adapter.kube.credentials import Source
from adapter.kube.registration import KubeRegistrations
from adapter.telemetry.clock import SystemClock


@asynccontextmanager
async def registrations(kubeconfig: str) -> AsyncIterator[Registrations]:
    """The cluster's, by a kubeconfig; without one by the pod's service account."""
    kube = KubeClient(Source(kubeconfig=kubeconfig), SystemClock())
    try:
        yield KubeRegistrations(kube)
    finally:
        await kube.close()
