"""What is done with every request, whatever it asks."""

import asyncio
import json

import pytest
from aiohttp import web

from adapter.server.door import PIECE_BYTES
from adapter.settings import Limits
from tests.support import leaks
from tests.support.doors import hello, open_door
from tests.support.eventually import until

pytestmark = pytest.mark.timeout(20)


async def test_connection_is_used_again():
    """Two requests, one connection; it rests between them."""
    async with open_door() as door:
        peer = await door.connect()
        for _ in range(2):
            status, headers, body = await peer.get()
            assert (status, body) == (200, b"hello")
            assert "Connection" not in headers
        await until(lambda: door.listener.connections.states()["idle"] == 1)


async def test_software_is_named_without_versions():
    """aiohttp's default would tell what to look up in a list of vulnerabilities."""
    async with open_door() as door:
        _, headers, _ = await (await door.connect()).get()
        assert headers["Server"] == "hpa-adapter"
        peer = await door.connect()
        await peer.send(b"rubbish\r\n\r\n")
        assert (await peer.answer())[1]["Server"] == "hpa-adapter"


@pytest.mark.parametrize(
    "more",
    [
        "Content-Length: 2\r\n\r\n{}",
        "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        "Upgrade: h2c\r\n\r\n",
    ],
)
async def test_get_with_a_body_or_an_upgrade_is_refused_and_the_connection_ends(more):
    """405 in JSON with Allow: GET, and nothing after it: what follows a body could be read as a request."""
    async with open_door() as door:
        peer = await door.connect()
        await peer.send(f"GET / HTTP/1.1\r\nHost: a\r\n{more}".encode())
        status, headers, body = await peer.answer()
        assert (status, headers["Allow"], headers["Connection"]) == (405, "GET", "close")
        assert json.loads(body)["details"]["causes"][0]["reason"] == "OnlyReading"
        await peer.gone()


async def test_compat_passes_over_a_body():
    """As Go's server does; the connection ends all the same."""
    async with open_door(compat=True) as door:
        peer = await door.connect()
        status, headers, body = await peer.get(headers="Content-Length: 2\r\n")
        assert (status, body, headers["Connection"]) == (200, b"hello", "close")
        await peer.send(b"{}")
        await peer.gone()


async def test_draining_door_answers_and_ends_each_connection():
    """The caller gets its answer, and opens the next connection elsewhere."""
    async with open_door() as door:
        peer, late = await door.connect(), None
        assert "Connection" not in (await peer.get())[1]
        door.listener.drain()
        late = await door.connect()
        for one in (peer, late):
            status, headers, _ = await one.get()
            assert (status, headers["Connection"]) == (200, "close")
            await one.gone()


@pytest.mark.parametrize("size", [PIECE_BYTES, PIECE_BYTES + 1, 3_000_000])
async def test_large_answer_comes_whole_and_the_connection_lives(size):
    """Written in pieces or at once, the bytes, the length, the type and other headers are the same."""
    body = bytes(range(256)) * (size // 256) + b"x" * (size % 256)

    async def handler(_: web.BaseRequest) -> web.Response:
        return web.Response(body=body, content_type="application/json", headers={"Warning": "299 - old"})

    async with open_door(handler) as door:
        peer = await door.connect()
        for _ in range(2):
            status, headers, received = await peer.get()
            assert (status, received) == (200, body)
            assert (headers["Content-Type"], headers["Warning"]) == ("application/json", "299 - old")
        door.listener.drain()
        assert (await peer.get())[1]["Connection"] == "close"


async def test_caller_who_leaves_during_a_large_answer_leaves_no_trace(caplog):
    """No error line, no task: it is nobody's fault."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def handler(_: web.BaseRequest) -> web.Response:
        begun.set()
        await go_on.wait()
        return web.Response(body=b"x" * 3_000_000)

    async with open_door(handler) as door, leaks.nothing_left():
        peer = await door.connect()
        await peer.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await begun.wait()
        await peer.close()
        await until(lambda: door.count == 0)
        go_on.set()
        for _ in range(20):
            await asyncio.sleep(0)
    assert [one for one in caplog.records if one.levelname not in {"DEBUG", "INFO"}] == []


async def test_fault_of_ours_is_a_status():
    """Nothing that a handler raises reaches the caller."""

    async def handler(_: web.BaseRequest) -> web.Response:
        raise ZeroDivisionError("secret")

    async with open_door(handler) as door:
        status, _, body = await (await door.connect()).get()
        assert (status, json.loads(body)["reason"]) == (500, "InternalError")
        assert b"secret" not in body
        assert door.closed == {}


async def test_head_without_end_is_told_so():
    """A mebibyte of headers and no empty line: 400 in JSON, and the end."""
    async with open_door(hello, Limits(max_head_bytes=10_000)) as door:
        peer = await door.connect()
        await peer.send(
            b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: %s\r\n" % (n, b"y" * 99) for n in range(200))
        )
        status, headers, body = await peer.answer()
        assert (status, headers["Connection"], json.loads(body)["reason"]) == (400, "close", "BadRequest")
        await peer.gone()
        assert door.closed == {"large_head": 1}
