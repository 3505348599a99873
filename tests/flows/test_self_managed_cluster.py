"""Two replicas that manage their own certificate, over sockets, against a stand-in API server."""

import asyncio

import pytest
import yaml

from adapter.flows.self_managed import Places, SelfManaged
from adapter.kube.client import KubeClient
from adapter.kube.credentials import Source
from adapter.kube.registration import KubeRegistrations
from adapter.kube.secrets import KubeSecret
from adapter.server import issuing
from adapter.wire import apis, registration
from adapter.wire.registration import Service
from tests.support.clock import FakeClock
from tests.support.fake_kube import FakeKube

SERVICE = Service("adapter", "metrics")
NAMES = registration.names((apis.CUSTOM,))
KIND = "apiservices.apiregistration.k8s.io"
DAY = 86400.0


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
async def kube():
    async with FakeKube() as found:
        for document in registration.documents((apis.CUSTOM,), SERVICE, b""):
            found.world.put(found.world.kind(KIND), document)
        found.put("secrets", "serving", "metrics")
        yield found


@pytest.fixture
async def replicas(kube, clock, tmp_path):
    """Two (flow, pairs that it delivered), each with connections of its own."""
    config = {
        "current-context": "x",
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
        "clusters": [{"name": "x", "cluster": {"server": kube.url}}],
        "users": [{"name": "x", "user": {}}],
    }
    (tmp_path / "config").write_text(yaml.safe_dump(config))
    clients = [KubeClient(Source(str(tmp_path / "config")), clock) for _ in range(2)]
    yield [_replica(client, clock) for client in clients]
    for client in clients:
        await client.close()


def _replica(client, clock):
    delivered = []
    secret = KubeSecret(client, namespace="metrics", name="serving")
    flow = SelfManaged(
        Places(secret, KubeRegistrations(client), NAMES, SERVICE),
        issuing.Issuer(issuing.dns_names(SERVICE.name, SERVICE.namespace)),
        lambda *pair: delivered.append(pair),
        clock,
    )
    return flow, delivered


async def test_they_agree_and_the_api_server_is_told(kube, replicas, clock):
    """At the start, at a renewal, and through a whole change of the CA."""
    for days in (0, 61, 183, 1, 1, 1):
        clock.advance(days * DAY)
        for _ in range(2):
            await asyncio.gather(*(flow.once() for flow, _ in replicas))
        (_, one), (_, other) = replicas
        assert one[-1] == other[-1]
        held = kube.world.objects[kube.world.kind("secrets")]["metrics", "serving"]["data"]
        for name in NAMES:
            assert kube.world.objects[kube.world.kind(KIND)]["", name]["spec"]["caBundle"] == held["ca.crt"]
    assert len(replicas[0][1]) == 4


async def test_rights_that_it_needs(kube, replicas):
    """get and update on one Secret and on the two APIServices, by name; the Secret of the manifests is empty."""
    for _ in range(2):
        for flow, _ in replicas:
            await flow.once()
    asked = {(one.verb, one.path) for one in kube.asked}
    objects = [
        "/api/v1/namespaces/metrics/secrets/serving",
        *(f"/apis/apiregistration.k8s.io/v1/apiservices/{name}" for name in NAMES),
    ]
    assert asked == {(verb, path) for verb in ("get", "put") for path in objects}


async def test_outage_of_the_api_server_changes_nothing(kube, replicas, clock):
    """What is served is served on; afterwards all goes on."""
    ((flow, delivered), _) = replicas
    assert await flow.once()
    await kube.stop()
    clock.advance(61 * DAY)
    assert not await flow.once()
    assert len(delivered) == 1
    assert flow.ready() is None
    await kube.start()
    assert await flow.once()
    assert len(delivered) == 2
