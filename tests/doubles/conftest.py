"""An aggregator that does nothing by itself, before an extension API server that only looks."""

import ssl
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
import yarl

from tests.support.aggregator import Aggregator
from tests.support.aggregator_pki import MadeFiles
from tests.support.certificates import Pki
from tests.support.extension import Extension, contexts

GROUP = "custom.metrics.k8s.io"
NAME, NAMESPACE = "prometheus-adapter", "monitoring"
HOST = f"{NAME}.{NAMESPACE}.svc"
V1BETA2 = f"v1beta2.{GROUP}"
ADMIN, MALLORY = "admin-token", "mallory-token"


@pytest.fixture(scope="session")
def pki():
    return Pki()


@pytest.fixture
def files(tmp_path, pki):
    return MadeFiles(tmp_path, pki)


@pytest.fixture
async def cluster(files):
    """Before any APIService: two users, and no loops."""
    async with Aggregator(files, automatic=False) as found:
        found.reviews.know(ADMIN, "lab-admin", ["system:masters"])
        found.reviews.know(MALLORY, "mallory")
        yield found


@pytest.fixture
async def extension(files):
    """What stands behind the Service: it asks for certificates of the front proxy's CA."""
    _, certificate, key = files.serving(HOST)
    async with Extension(contexts(certificate, key, files.pki.proxy.pem)) as found:
        yield found


@pytest.fixture
async def joined(cluster, extension, files):
    """`cluster` with v1beta2 served by `extension`, and available."""
    issuer, certificate, key = files.serving(HOST)
    extension.context.load_cert_chain(certificate, key)
    cluster.service(NAME, NAMESPACE, extension.place)
    cluster.register(GROUP, "v1beta2", NAME, NAMESPACE, ca=issuer.pem)
    await cluster.check(V1BETA2)
    extension.seen.clear()
    cluster.proxy.sent.clear()
    return cluster


@dataclass(frozen=True)
class Got:
    status: int
    headers: list[tuple[str, str]]
    text: str
    body: Any

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]


@pytest.fixture
async def ask(cluster):
    """`ask(path, token=..., method=..., headers=...)` as kubectl would: the path is sent as it is written."""
    trust = ssl.create_default_context(cadata=cluster.files.pki.cluster.pem)
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=trust),
        skip_auto_headers=("Accept", "User-Agent", "Accept-Encoding"),
    ) as session:

        async def send(path, *, token=ADMIN, method="GET", headers=(), json=None):
            named = [*headers, *([("Authorization", f"Bearer {token}")] if token else [])]
            url = yarl.URL(cluster.url + path, encoded=True)
            async with session.request(
                method, url, headers=named, json=json, allow_redirects=False
            ) as response:
                text = await response.text()
                body = await response.json() if response.content_type == "application/json" and text else None
                found = [(key.decode(), value.decode()) for key, value in response.raw_headers]
                return Got(response.status, found, text, body)

        yield send
