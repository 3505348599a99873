"""F32: other methods, bodies, upgrades: 405 with Allow: GET; and nothing leads anywhere else."""

import re

import pytest

from adapter.server import routes
from tests.support.doors import open_door
from tests.support.kit import goroutines

METHODS = ("HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND")
SEGMENTS = {
    "version": "v1beta2",
    "namespace": "default",
    "resource": "pods",
    "name": "web-1",
    "metric": "goroutines",
    "check": "ping",
}
PATHS = sorted(
    {re.sub(r"{(\w+)}", lambda found: SEGMENTS.get(found[1], "x"), row.pattern) for row in routes.TABLE}
)

pytestmark = pytest.mark.timeout(20)


@pytest.mark.parametrize("path", PATHS)
async def test_f32_only_get_is_allowed_on_any_route(path):
    """Every other method on every row of the table is 405, says what is allowed, and costs nothing."""
    kit = await goroutines()
    for method in METHODS:
        reply = await kit.ask(path, method=method)
        assert (reply.status, reply.headers["Allow"]) == (405, "GET"), method
        assert (reply.body == "") == (method == "HEAD")
    assert kit.backend.queries == []


@pytest.mark.parametrize("path", PATHS)
async def test_f32_no_route_redirects(path):
    """With one slash more or less, doubled or not: an aggregated API that redirects was CVE-2022-3172."""
    kit = await goroutines()
    for variant in (path, path + "/", "/" + path, path.rstrip("/") + "?x=//other.example/", path + "/../"):
        reply = await kit.ask(variant)
        assert not 300 <= reply.status < 400, variant
        assert "Location" not in reply.headers


@pytest.mark.parametrize(
    "more",
    [
        "Content-Length: 6\r\n\r\nsecret",
        "Transfer-Encoding: chunked\r\n\r\n6\r\nsecret\r\n0\r\n\r\n",
        "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ],
    ids=["body", "chunks", "upgrade"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_f32_after_a_body_or_an_upgrade_the_connection_ends(method, more):
    """405, and no byte behind it is read as a request."""
    kit = await goroutines()
    async with open_door(kit.entrance.handle) as door:
        peer = await door.connect()
        await peer.send(
            f"{method} /apis HTTP/1.1\r\nHost: a\r\n{more}GET /livez HTTP/1.1\r\nHost: a\r\n\r\n".encode()
        )
        status, headers, _ = await peer.answer()
        assert (status, headers["Allow"], headers["Connection"]) == (405, "GET", "close")
        await peer.gone()
