"""The client without a socket: what aiohttp, ssl and the system may raise, one by one, by aioresponses."""

import errno
import socket
import ssl
from types import SimpleNamespace

import aiohttp
import pytest
from aioresponses import aioresponses
from yarl import URL

from adapter.kube import failures
from adapter.kube.client import KubeClient
from adapter.kube.credentials import Source

BASE = "http://kube.test"
KEY = SimpleNamespace(host="kube.test", port=443, is_ssl=True, ssl=True)


@pytest.fixture
def exchange():
    with aioresponses() as found:
        yield found


@pytest.fixture
async def client(kubeconfig, clock):
    found = KubeClient(Source(kubeconfig(BASE, user={"token": "t"})), clock)
    yield found
    await found.close()


async def test_one_exchange(client, exchange):
    """The token is sent, the body comes back."""
    exchange.get(f"{BASE}/version?a=b%3D", body=b"{}")
    assert await client.get_bytes("/version", {"a": "b="}) == b"{}"
    ((_, url), (call,)) = next(iter(exchange.requests.items()))
    assert url == URL(f"{BASE}/version?a=b%3D")
    assert call.kwargs["headers"]["Authorization"] == "Bearer t"


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (TimeoutError(), "Timeout"),
        (aiohttp.SocketTimeoutError(), "Timeout"),
        (aiohttp.ConnectionTimeoutError(), "Timeout"),
        (aiohttp.ClientConnectorDNSError(KEY, socket.gaierror()), "DNS"),
        (aiohttp.ClientConnectorError(KEY, OSError(errno.ECONNREFUSED, "refused")), "Connect"),
        (aiohttp.ClientProxyConnectionError(KEY, OSError(errno.ECONNREFUSED, "refused")), "Connect"),
        (aiohttp.ClientConnectorSSLError(KEY, ssl.SSLError()), "TLS"),
        (aiohttp.ClientConnectorCertificateError(KEY, ssl.SSLCertVerificationError()), "TLS"),
        (ssl.SSLError(), "TLS"),
        (ssl.SSLCertVerificationError(), "TLS"),
        (aiohttp.ServerDisconnectedError(), "Broken"),
        (aiohttp.ClientOSError(errno.ECONNRESET, "reset"), "Broken"),
        (aiohttp.ClientPayloadError("cut"), "Broken"),
        (aiohttp.ClientError(), "Broken"),
        (aiohttp.InvalidURL("x"), "Broken"),
        (ConnectionResetError(), "Broken"),
        (OSError(errno.EMFILE, "too many open files"), "Broken"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value,
)
async def test_every_failure_is_ours(client, exchange, error, cause):
    """Whatever happens below, one family comes out, with a stable word."""
    exchange.get(f"{BASE}/version", exception=error)
    with pytest.raises(failures.Unreachable) as caught:
        await client.get_bytes("/version")
    assert caught.value.cause == cause


def test_every_exception_of_aiohttps_client_is_covered():
    """A new one in a later release must be a ClientError or an OSError, which are mapped."""
    names = [
        name
        for name in aiohttp.__all__
        if name.startswith(("Client", "Server", "Content", "Invalid", "Socket"))
    ]
    found = [getattr(aiohttp, name) for name in names]
    raised = [one for one in found if isinstance(one, type) and issubclass(one, Exception)]
    assert len(raised) > 10
    assert [one for one in raised if not issubclass(one, aiohttp.ClientError | OSError)] == []
