"""A stand-in API server and a client of it, started and closed around each test."""

import base64
import json

import pytest
import yaml

from adapter.kube.client import KubeClient, Limits
from adapter.kube.credentials import Source
from adapter.kube.watch import KubeFeed
from tests.support.clock import FakeClock
from tests.support.fake_kube import FakeKube
from tests.support.fake_kube_tls import Authority

PODS = "/api/v1/pods"

BAD_OBJECTS = [
    None,
    7,
    {},
    {"metadata": None},
    {"metadata": {}},
    {"metadata": {"name": ""}},
    {"metadata": {"name": 7}},
    {"metadata": {"name": "x", "labels": {"a": None}}},
    {"metadata": {"name": "x", "labels": ["a"]}},
]
"""What stands in a list or an event where an object should be."""


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
async def kube():
    async with FakeKube() as found:
        yield found


@pytest.fixture(scope="session")
def authority():
    return Authority()


@pytest.fixture
async def secure_kube(authority, tmp_path):
    """The same over TLS."""
    async with FakeKube(tls=authority.serving(tmp_path)) as found:
        yield found


@pytest.fixture
def kubeconfig(tmp_path):
    """`kubeconfig(url, user={...}, cluster={...})` writes one and gives its path."""

    def write(url, *, user=None, cluster=None, name="config"):
        whole = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "clusters": [{"name": "test", "cluster": {"server": url} | (cluster or {})}],
            "users": [{"name": "test", "user": user or {}}],
        }
        path = tmp_path / name
        path.write_text(yaml.safe_dump(whole))
        return str(path)

    return write


@pytest.fixture
def service_account(tmp_path):
    """`service_account(port, token, ca)` writes what kubelet mounts, and gives a Source for it."""

    def write(port, token, ca):
        place = tmp_path / "serviceaccount"
        place.mkdir(exist_ok=True)
        (place / "token").write_text(token + "\n")
        (place / "ca.crt").write_bytes(ca)
        environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(port)}
        return Source(service_account=str(place), environment=environment)

    return write


@pytest.fixture
def plugin_script(tmp_path):
    """`plugin_script(text)` makes an exec section whose command runs this text; all run in `tmp_path`."""

    def write(text, name="plugin.sh", **section):
        script = tmp_path / name
        script.write_text(f"#!/bin/sh\ncd {tmp_path}\necho $$ >> runs\n{text}\n")
        script.chmod(0o755)
        return {"apiVersion": "client.authentication.k8s.io/v1", "command": str(script)} | section

    return write


@pytest.fixture
def plugin(plugin_script, tmp_path):
    """`plugin(status, code=0)` makes an exec section whose command prints this status."""

    def write(status, *, code=0, noise=""):
        credential = {
            "apiVersion": "client.authentication.k8s.io/v1",
            "kind": "ExecCredential",
            "status": status,
        }
        (tmp_path / "answer.json").write_text(json.dumps(credential))
        return plugin_script(f"cat answer.json\nprintf '{noise}' >&2\nexit {code}")

    return write


@pytest.fixture
def plugin_runs(tmp_path):
    """The process ids of all runs of a plugin."""
    return lambda: [int(line) for line in (tmp_path / "runs").read_text().split()]


@pytest.fixture
async def connect(clock):
    """`connect(source, **limits)` makes a client; all are closed in the end."""
    made = []

    def make(source, **limits):
        made.append(KubeClient(source, clock, Limits(**limits)))
        return made[-1]

    yield make
    for one in made:
        await one.close()


@pytest.fixture
def client(kube, kubeconfig, connect):
    return connect(Source(kubeconfig(kube.url)))


@pytest.fixture
def feed(client):
    return KubeFeed(client)


def embedded(content):
    """As a kubeconfig holds a file."""
    return base64.b64encode(content).decode()


async def closing(source, clock, path=PODS):
    """One request with a client of its own."""
    found = KubeClient(source, clock)
    try:
        return await found.get_bytes(path)
    finally:
        await found.close()
