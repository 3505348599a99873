"""The door itself with real handlers behind it, over real sockets and TLS."""

import asyncio
import contextlib
import json
import resource
import socket
import urllib.parse

import pytest
from aiohttp import web

from adapter.server.listener import Listener
from adapter.settings import Limits, Serving
from tests.support import doors
from tests.support.doors import hello, open_door
from tests.support.eventually import until
from tests.support.kit import PODS, FakeBackend, goroutines

pytestmark = pytest.mark.timeout(20)


@contextlib.asynccontextmanager
async def door(**changes):
    """An open door with the adapter's own handlers."""
    kit = await goroutines(**changes)
    kit.backend.samples = [({"pod": "web-1"}, 1.0)]
    async with open_door(kit.entrance.handle) as opened:
        yield opened


async def spoken(opened, data: bytes) -> tuple[int, dict[str, str], bytes]:
    """(status, headers, body) of the first answer to these bytes on a connection of their own."""
    peer = await opened.connect()
    await peer.send(data)
    answer = await peer.answer()
    await peer.close()
    return answer


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: adapter\r\n\r\n".encode()


async def test_selector_of_nine_kilobytes_is_taken():
    """A long selector of the autoscaler passes: aiohttp's own limit of 8 KiB is raised."""
    selector = ",".join(f"{'long-prefix.' * 10}example.com/label-{n:02}!=value" for n in range(60))
    target = f"{PODS}/*/goroutines?labelSelector={urllib.parse.quote_plus(selector)}"
    assert len(target) > 9000
    async with door() as opened:
        status, _, body = await spoken(opened, get(target))
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
async def test_what_is_no_request_is_answered_in_json_without_an_echo(data, code):
    """A line that is too long, too many headers, bytes that are not HTTP: a Status, the sender's bytes not in it."""
    async with door() as opened:
        status, headers, body = await spoken(opened, data)
        assert status == code
        assert headers["Content-Type"].startswith("application/json")
        assert json.loads(body)["kind"] == "Status"
        assert b"xxxx" not in body[:600].replace(b"x" * 64, b"")
        assert (await spoken(opened, get("/apis")))[0] == 200


async def test_body_is_refused_with_the_method():
    """POST is 405, whatever it brings."""
    async with door() as opened:
        status, _, body = await spoken(
            opened, b"POST /apis HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
        )
        assert (status, json.loads(body)["reason"]) == (405, "MethodNotAllowed")


async def test_user_with_five_hundred_groups_is_served():
    """One X-Remote-Group line per group: aiohttp's own limit of 128 headers is raised."""
    groups = "".join(f"X-Remote-Group: group-{number}\r\n" for number in range(500))
    async with door() as opened:
        data = f"GET /apis HTTP/1.1\r\nHost: a\r\n{groups}\r\n".encode()
        assert (await spoken(opened, data))[0] == 200


class SlowBackend(FakeBackend):
    """This answers nobody before `open` is set."""

    def __init__(self):
        super().__init__()
        self.open = asyncio.Event()

    async def instant(self, promql, *, deadline):
        await self.open.wait()
        return await super().instant(promql, deadline=deadline)


async def test_three_hundred_equal_callers_are_one_question():
    """With a cold cache and a slow backend all get their answer, from one query: none is told to come back."""
    backend = SlowBackend()
    async with door(backend=backend, ttl=5.0) as opened:
        asked = [asyncio.create_task(spoken(opened, get(f"{PODS}/*/goroutines"))) for _ in range(300)]
        first = asyncio.create_task(spoken(opened, get("/apis")))
        await first  # connections are served in their order: the three hundred are at the backend by now
        backend.open.set()
        answers = await asyncio.gather(*asked)
    assert {status for status, _, _ in answers} == {200}
    assert len(backend.queries) == 1


async def test_stopping_listener_waits_for_answers_and_takes_no_more():
    """A request that is being answered gets its answer; connections that rest are closed; the port is."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def handler(_: web.BaseRequest) -> web.Response:
        begun.set()
        await go_on.wait()
        return web.Response(text="late")

    async with open_door(handler) as opened:
        resting, busy = await opened.connect(), await opened.connect()
        opened.pass_time(3)  # too old to be waited for
        await busy.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await begun.wait()
        stopping = asyncio.create_task(opened.listener.stop())
        await until(lambda: refused(opened.port))
        assert not stopping.done()
        go_on.set()
        assert (await busy.answer())[2] == b"late"
        await resting.gone()
        await stopping
        assert opened.count == 0


def refused(port: int) -> bool:
    """Whether nobody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex((doors.LOOPBACK, port)) != 0


async def test_stopping_listener_gives_up_on_who_never_ends():
    """After its time a request that hangs is cut off, and so is a caller who says nothing."""

    async def handler(_: web.BaseRequest) -> web.Response:
        await asyncio.Event().wait()
        return web.Response()

    async with open_door(handler, Limits(shutdown_seconds=0)) as opened:
        busy, silent = await opened.connect(), await opened.connect_plainly()
        await busy.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await until(lambda: opened.listener.connections.states()["busy"] == 1)
        await until(lambda: opened.count == 2)
        await opened.listener.stop()
        assert opened.count == 0
        await busy.gone()
        await silent.gone()


async def test_port_in_use_is_named():
    """The failure says which address it was, and leaves nothing open."""
    async with open_door() as opened:
        second = Listener(hello, Serving(address=doors.LOOPBACK, port=opened.port), Limits())
        with pytest.raises(OSError, match=f"{doors.LOOPBACK}:{opened.port}"):
            await second.start(doors.contexts())
        await second.stop()


async def test_unspecified_address_takes_ipv4_too():
    """`::` as Go's listener has it; where the system has no IPv6 there is only 0.0.0.0."""
    async with open_door(address="::" if socket.has_dualstack_ipv6() else "0.0.0.0") as opened:
        peer = await opened.connect()  # to 127.0.0.1
        assert (await peer.get())[0] == 200


async def test_room_for_all_connections_is_made():
    """Many container runtimes start a process with 1,024 descriptors; the limit is raised, never lowered."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (300, hard))
        async with open_door(limits=Limits(connections=1000)):
            assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= 1000
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_sweeps_go_on_for_ever():
    """Once a second, by the sleep that was given."""
    slept = []

    async def sleep(seconds):
        slept.append(seconds)
        if len(slept) == 3:
            raise asyncio.CancelledError

    listener = Listener(hello, Serving(), Limits(), sleep=sleep)
    with pytest.raises(asyncio.CancelledError):
        await listener.for_ever()
    assert slept == [1, 1, 1]


async def test_probe_s_connection_ends_with_its_answer():
    """Whoever is answered without access control takes no place from others; who was let in keeps the connection."""
    async with door() as opened:
        assert (await spoken(opened, get("/livez")))[1]["Connection"] == "close"
        assert "Connection" not in (await spoken(opened, get("/apis")))[1]
