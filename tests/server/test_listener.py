"""The door itself, over real sockets and TLS."""

import asyncio
import contextlib
import datetime
import json
import ssl
import urllib.parse

import pytest

from adapter.server import tls
from adapter.server.listener import Listener
from adapter.settings import Limits, Serving
from tests.support.kit import PODS, FakeBackend, goroutines


@contextlib.asynccontextmanager
async def door(tmp_path, **changes):
    """(port, TLS context of a client that trusts it) of a listening adapter."""
    serving = Serving(port=0, cert_dir=str(tmp_path))
    kit = await goroutines(**changes)
    kit.backend.samples = [({"pod": "web-1"}, 1.0)]
    listener = Listener(kit.handlers.handle, serving, Limits())
    context = tls.context(serving, now=datetime.datetime.now(datetime.UTC))
    port = await listener.start(context)
    client = ssl.create_default_context(cafile=tmp_path / tls.CERT_NAME)
    try:
        yield port, client
    finally:
        await listener.stop()


async def spoken(port, client, data: bytes) -> tuple[int, dict[str, str], bytes]:
    """(status, headers, body) of the first answer to these bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client)
    try:
        writer.write(data)
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:] if line)
        body = await reader.readexactly(int(headers.get("Content-Length", 0)))
        return int(lines[0].split()[1]), headers, body
    finally:
        writer.close()
        with contextlib.suppress(OSError, ssl.SSLError):
            await writer.wait_closed()


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: adapter\r\n\r\n".encode()


async def test_selector_of_nine_kilobytes_is_taken(tmp_path):
    """A long selector of the autoscaler passes: aiohttp's own limit of 8 KiB is raised."""
    selector = ",".join(f"{'long-prefix.' * 10}example.com/label-{n:02}!=value" for n in range(60))
    target = f"{PODS}/*/goroutines?labelSelector={urllib.parse.quote_plus(selector)}"
    assert len(target) > 9000
    async with door(tmp_path) as (port, client):
        status, _, body = await spoken(port, client, get(target))
        assert (status, json.loads(body)["kind"]) == (200, "MetricValueList")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (get(f"{PODS}/*/goroutines?labelSelector=" + "x" * 70_000), 400),
        (get("/" + "x" * 300_000), 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(1100)) + b"\r\n", 400),
        (b"\x16\x03\x01nonsense\r\n\r\n", 400),
        (b"GET /apis HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400),
        (b"GET /apis HTTP/9.9\r\nHost: a\r\n\r\n", 400),
        (get("/apis/%zz"), 404),
    ],
)
async def test_what_is_no_request_is_answered_in_json_without_an_echo(tmp_path, data, code):
    """A line that is too long, too many headers, bytes that are not HTTP: a Status, the sender's bytes not in it."""
    async with door(tmp_path) as (port, client):
        status, headers, body = await spoken(port, client, data)
        assert status == code
        assert headers["Content-Type"].startswith("application/json")
        assert json.loads(body)["kind"] == "Status"
        assert b"xxxx" not in body[:600].replace(b"x" * 64, b"")
        assert (await spoken(port, client, get("/apis")))[0] == 200


async def test_body_is_refused_with_the_method(tmp_path):
    """POST is 405, whatever it brings."""
    async with door(tmp_path) as (port, client):
        status, _, body = await spoken(
            port, client, b"POST /apis HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
        )
        assert (status, json.loads(body)["reason"]) == (405, "MethodNotAllowed")


async def test_user_with_five_hundred_groups_is_served(tmp_path):
    """One X-Remote-Group line per group: aiohttp's own limit of 128 headers is raised."""
    groups = "".join(f"X-Remote-Group: group-{number}\r\n" for number in range(500))
    async with door(tmp_path) as (port, client):
        data = f"GET /apis HTTP/1.1\r\nHost: a\r\n{groups}\r\n".encode()
        assert (await spoken(port, client, data))[0] == 200


class SlowBackend(FakeBackend):
    """This answers nobody before `open` is set."""

    def __init__(self):
        super().__init__()
        self.open = asyncio.Event()

    async def instant(self, promql, *, deadline):
        await self.open.wait()
        return await super().instant(promql, deadline=deadline)


async def test_three_hundred_equal_callers_are_one_question(tmp_path):
    """With a cold cache and a slow backend all get their answer, from one query: none is told to come back."""
    backend = SlowBackend()
    async with door(tmp_path, backend=backend, ttl=5.0) as (port, client):
        asked = [asyncio.create_task(spoken(port, client, get(f"{PODS}/*/goroutines"))) for _ in range(300)]
        first = asyncio.create_task(spoken(port, client, get("/apis")))
        await first  # connections are served in their order: the three hundred are at the backend by now
        backend.open.set()
        answers = await asyncio.gather(*asked)
    assert {status for status, _, _ in answers} == {200}
    assert len(backend.queries) == 1
