"""From a TCP connection to HTTP, over real sockets."""

import asyncio
import contextlib
import socket
import ssl
import time

import pytest
from aiohttp import web

from adapter.server import tls
from adapter.server.door import Door
from adapter.server.gate import Gate, Gates
from adapter.settings import Limits
from tests.support import doors, leaks
from tests.support.certificates import Pki
from tests.support.doors import open_door, trust
from tests.support.eventually import until

pytestmark = pytest.mark.timeout(20)


async def test_request_in_one_flight_with_the_handshake_is_answered():
    """TLS 1.3 lets a caller send its request with the last bytes of the handshake: nothing of it is lost."""
    async with open_door() as door:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = trust().wrap_bio(incoming, outgoing, server_hostname="localhost")
        peer = await door.connect_plainly()
        while True:
            try:
                client.do_handshake()
                break
            except ssl.SSLWantReadError:
                await peer.send(outgoing.read())
                incoming.write(await peer.reader.read(65536))
        client.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await peer.send(outgoing.read())  # the caller's Finished and its request, together
        answer = b""
        while not answer.endswith(b"hello"):
            incoming.write(await peer.reader.read(65536))
            with contextlib.suppress(ssl.SSLWantReadError):
                answer += client.read(65536)
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")


async def test_one_connection_too_many_costs_no_handshake():
    """It is closed before it has said hello; when another one leaves there is room."""
    async with open_door(limits=Limits(connections=1)) as door, leaks.nothing_left():
        first = await door.connect()
        assert (await first.get())[0] == 200
        second = await door.connect_plainly()
        await second.gone()
        assert door.closed == {"too_many": 1}
        await first.close()
        await until(lambda: door.count == 0)
        third = await door.connect()
        assert (await third.get())[0] == 200
        await third.close()
        await second.close()


@pytest.mark.parametrize("words", [b"GET / HTTP/1.1\r\n\r\n", b"\x00" * 100, b""])
async def test_who_does_not_speak_tls_is_counted_and_gone(words):
    """Plain HTTP, rubbish, or a hang-up: the place is free at once."""
    async with open_door() as door:
        peer = await door.connect_plainly()
        await until(lambda: door.count == 1)
        await peer.send(words)
        if not words:
            await peer.close()
        await peer.rest()
        await until(lambda: door.count == 0)
        assert door.closed == {"handshake_failed": 1}


async def test_handshake_that_does_not_end_is_ended():
    """asyncio keeps this limit, in real time: here it is a moment."""
    async with open_door(limits=Limits(handshake_seconds=0.05)) as door:
        peer = await door.connect_plainly()
        await peer.gone()
        await until(lambda: door.count == 0)
        assert door.closed == {"handshake_timeout": 1}


async def test_each_connection_gets_the_context_of_its_moment():
    """A changed certificate shows in the next connection, and disturbs none that is open."""
    contexts = doors.contexts()
    async with open_door(tls=contexts) as door:
        before = await door.connect()
        leaf = doors.serving_leaf()
        contexts.update_pair(leaf.pem.encode(), leaf.key_pem.encode())
        after = await door.connect()
        assert (await before.get())[0] == (await after.get())[0] == 200
        shown = [
            one.writer.get_extra_info("ssl_object").getpeercert(binary_form=True) for one in (before, after)
        ]
        assert shown[0] != shown[1] == leaf.der


async def test_callers_certificate_is_at_hand(tmp_path):
    """In DER, for who decides what it says; None for who shows none, or is not asked."""
    pki, seen = Pki(), []

    async def handler(request: web.BaseRequest) -> web.Response:
        seen.append(tls.peer_certificate(request.transport))
        return web.Response()

    contexts = doors.contexts()
    async with open_door(handler, tls=contexts) as door:
        leaf = pki.proxy.leaf("front-proxy-client")
        client = trust()
        client.load_cert_chain(*leaf.write(tmp_path, "client"))
        await (await door.connect(client)).get()
        contexts.update(pki.proxy.pem + pki.cluster.pem)
        await (await door.connect(client)).get()
        await (await door.connect()).get()
        assert seen == [None, leaf.der, None]
        assert tls.peer_certificate(None) is None


async def test_end_before_the_handshake_leaves_nothing():
    """The door closes while somebody is about to shake hands."""
    async with leaks.nothing_left():
        async with open_door() as door:
            plain = socket.create_connection(("127.0.0.1", door.port))
            await until(lambda: door.count == 1)
            door.listener.connections.end_all()
            await until(lambda: door.count == 0)
        plain.close()


class Lost(Gate):
    """A gate whose connection ends between its acceptance and the first step of its handshake."""

    made = 0

    def connection_made(self, transport):
        super().connection_made(transport)
        transport.abort()
        Lost.made += 1


async def test_gate_that_is_lost_at_once_gives_its_place_back():
    """The handshake of a connection that has ended already ends too, and at once."""
    gates = Gates(Door(doors.hello, Limits()), Limits(), time.monotonic)
    gates.contexts = doors.contexts()
    async with leaks.nothing_left():
        server = await asyncio.get_running_loop().create_server(lambda: Lost(gates), doors.LOOPBACK, 0)
        try:
            with socket.create_connection(server.sockets[0].getsockname()[:2]):
                await until(lambda: Lost.made == 1)
                await until(lambda: len(gates.connections) == 0)
        finally:
            server.close()


def hello_for(name: bytes) -> bytes:
    """A ClientHello of TLS 1.2 with this server name, made by hand: Python's own would refuse it."""

    def sized(data: bytes, size: int = 2) -> bytes:
        return len(data).to_bytes(size, "big") + data

    extensions = b"".join(
        number + sized(data)
        for number, data in (
            (b"\x00\x00", sized(b"\x00" + sized(name))),
            (b"\x00\x0a", sized(b"\x00\x17")),
            (b"\x00\x0d", sized(b"\x04\x03")),
        )
    )
    body = b"\x03\x03" + bytes(32) + b"\x00" + sized(b"\xc0\x2b") + b"\x01\x00" + sized(extensions)
    return b"\x16\x03\x01" + sized(b"\x01" + sized(body, 3))


async def test_server_name_that_is_no_text_makes_no_trace(capfd):
    """The hello is answered like any other; with an SNI callback Python would write a trace to stderr."""
    async with open_door() as door:
        peer = await door.connect_plainly()
        await peer.send(hello_for(b"\xff\xfe\xe9"))
        assert (await peer.reader.readexactly(1)) == b"\x16"
        await peer.close()
        await until(lambda: door.count == 0)
    assert capfd.readouterr().err == ""
