"""Haproxy as an aggregator: what arrives behind it."""

import asyncio
import urllib.error
import urllib.request

import pytest

from adapter.cli.process import Part
from tests.doubles.conftest import HOST
from tests.support.extension import Extension, contexts
from tests.support.fake_kube_rbac import User
from tests.support.haproxy import Behind, Haproxy

USER = User(
    "system:serviceaccount:kube-system:horizontal-pod-autoscaler",
    ("system:serviceaccounts", "a,b", "it's 100%"),
    "7",
    {"authentication.kubernetes.io/credential-id": ("JTI=1",)},
)


@pytest.fixture
async def replicas(files):
    """Two, with one certificate."""
    issuer, certificate, key = files.serving(HOST)
    (files.directory / "adapter-ca.crt").write_text(issuer.pem)
    tls = contexts(certificate, key, files.pki.proxy.pem)
    async with Extension(tls) as one, Extension(tls) as two:
        yield one, two


@pytest.fixture
async def proxy(files, replicas):
    """Started outside the loop, in which its replicas live."""
    behind = Behind([one.place for one in replicas], HOST, files.directory / "adapter-ca.crt")
    made = Haproxy(behind, files.front_proxy, USER, directory=files.directory)
    await asyncio.to_thread(made.start)
    yield made
    await asyncio.to_thread(made.stop)


async def fetch(url, **headers):
    def send():
        request = urllib.request.Request(url, headers=headers)
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status

    return await asyncio.to_thread(send)


async def test_the_user_arrives_with_the_front_proxy_s_certificate(proxy, replicas):
    """One line for each group; what the caller claims or shows is gone."""
    wanted = f"{proxy.url}/apis/g/v/namespaces/a/pods/%2A/m?labelSelector=a%3Db"
    claims = {"X-Remote-User": "root", "X-Remote-Extra-A": "b", "Authorization": "Bearer x"}
    assert await fetch(wanted, **claims) == 200
    seen = next(one for replica in replicas for one in replica.seen if one.path != "/readyz")
    assert seen.target == "/apis/g/v/namespaces/a/pods/%2A/m?labelSelector=a%3Db"
    assert seen.certificate == "front-proxy-client"
    assert seen.all("X-Remote-User") == [USER.name]
    assert seen.all("X-Remote-Group") == list(USER.groups)
    assert seen.all("X-Remote-Extra-Authentication.kubernetes.io%2fcredential-Id") == ["JTI=1"]
    assert seen.all("Authorization") == seen.all("X-Remote-Extra-A") == []


async def test_replicas_take_turns_and_one_that_is_not_ready_is_left_out(proxy, replicas):
    """By /readyz, as kubelet's probe takes it out of the Service."""
    one, two = replicas
    for _ in range(4):
        await fetch(f"{proxy.url}/both")
    assert one.count("/both") == two.count("/both") == 2
    one.answer("/readyz", "no", 503)
    probes = one.count("/readyz")
    while one.count("/readyz") < probes + 2:  # the first of them may have been on its way
        await asyncio.sleep(0.01)
    for _ in range(4):
        await fetch(f"{proxy.url}/single")
    assert (one.count("/single"), two.count("/single")) == (0, 4)


async def test_a_replica_without_the_name_is_no_replica(files, replicas):
    """The certificate must bear it, whatever address is dialled: 503, and the replicas were asked nothing."""
    behind = Behind([one.place for one in replicas], "other.svc", files.directory / "adapter-ca.crt")
    made = Haproxy(behind, files.front_proxy, USER, directory=files.directory)
    try:
        await asyncio.to_thread(Part.start, made)
        with pytest.raises(urllib.error.HTTPError, match="503"):
            await asyncio.to_thread(_answered, made)
    finally:
        await asyncio.to_thread(made.stop)
    assert [one.seen for one in replicas] == [[], []]


def _answered(proxy):
    """The first answer of a proxy that has just been started."""

    def ask():
        try:
            with urllib.request.urlopen(f"{proxy.url}/a", timeout=10) as response:
                return response.status
        except urllib.error.HTTPError:
            raise
        except OSError:
            return None  # it does not listen yet

    return proxy.wait("answer", ask)
