r"""A door over real sockets and TLS whose clock only the test moves, and callers who speak byte by byte.

async with open_door(handler, Limits(connections=2)) as door:
peer = await door.connect()
await peer.send(b"GET / HTTP/1.1\r\n")
door.pass_time(11)
await peer.gone()
"""

import asyncio
import contextlib
import functools
import socket
import ssl
from collections.abc import AsyncIterator

from aiohttp import web

from adapter.server import suites
from adapter.server.door import Handler
from adapter.server.listener import Listener
from adapter.server.pair import Pair
from adapter.server.tls import Contexts
from adapter.settings import Limits, Serving
from tests.support.certificates import SERVERS, Issuer, Leaf
from tests.support.clock import FakeClock
from tests.support.eventually import PATIENCE_SECONDS

LOOPBACK = "127.0.0.1"


@functools.cache
def authority() -> Issuer:
    """The CA of serving certificates in these tests."""
    return Issuer("serving")


def serving_leaf(**changes) -> Leaf:
    """A certificate for this machine."""
    return authority().leaf("adapter", usages=SERVERS, hosts=("localhost", LOOPBACK), **changes)


def pair_of(leaf: Leaf) -> Pair:
    return Pair(leaf.pem.encode(), leaf.key_pem.encode())


@functools.cache
def usual_pair() -> Pair:
    return pair_of(serving_leaf())


def contexts(serving: Serving | None = None) -> Contexts:
    return Contexts(usual_pair(), suites.of(serving or Serving()))


def trust() -> ssl.SSLContext:
    """What a client needs to accept those certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=authority().pem)
    return context


async def hello(_: web.BaseRequest) -> web.Response:
    return web.Response(text="hello")


class Peer:
    """A caller: what it has sent, it has sent; it reads only when told to."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def get(self, path: str = "/", headers: str = "") -> tuple[int, dict[str, str], bytes]:
        await self.send(f"GET {path} HTTP/1.1\r\nHost: adapter\r\n{headers}\r\n".encode())
        return await self.answer()

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        """(status, headers, body) of the next answer."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
            first, *rest = head.rstrip().split("\r\n")
            headers = dict(line.split(": ", 1) for line in rest)
            body = await self.reader.readexactly(int(headers.get("Content-Length", 0)))
        return int(first.split()[1]), headers, body

    async def rest(self) -> bytes:
        """All that comes until the connection ends, politely or by a reset."""
        found = b""
        async with asyncio.timeout(PATIENCE_SECONDS):
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                while data := await self.reader.read(65536):
                    found += data
        return found

    async def gone(self) -> None:
        """This returns when the other end has closed, without a further word."""
        assert await self.rest() == b""

    async def close(self) -> None:
        self.writer.transport.abort()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


class OpenDoor:
    def __init__(self, listener: Listener, clock: FakeClock, port: int) -> None:
        self.listener, self.clock, self.port = listener, clock, port
        self.peers: list[Peer] = []

    async def connect(
        self, client: ssl.SSLContext | None = None, *, name: str = LOOPBACK, receive_bytes: int = 0
    ) -> Peer:
        """A caller whose handshake is done. `receive_bytes`: what its system takes before it reads."""
        plain = socket.socket()
        if receive_bytes:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        plain.setblocking(False)
        await asyncio.get_running_loop().sock_connect(plain, (LOOPBACK, self.port))
        return self._kept(
            await asyncio.open_connection(sock=plain, ssl=client or trust(), server_hostname=name, limit=1024)
        )

    async def connect_plainly(self) -> Peer:
        """A caller that has said nothing yet, not even hello."""
        return self._kept(await asyncio.open_connection(LOOPBACK, self.port))

    def _kept(self, streams: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> Peer:
        peer = Peer(*streams)
        self.peers.append(peer)
        return peer

    def pass_time(self, seconds: float) -> None:
        """Move the clock in one step, and look after the connections as the listener does each second."""
        self.listener.sweep()
        self.clock.advance(seconds)
        self.listener.sweep()

    @property
    def closed(self) -> dict[str, int]:
        """How many connections were closed, by reason; reasons that did not occur left out."""
        return {str(reason): count for reason, count in self.listener.connections.closed.items() if count}

    @property
    def count(self) -> int:
        return len(self.listener.connections)


@contextlib.asynccontextmanager
async def open_door(
    handler: Handler = hello,
    limits: Limits | None = None,
    *,
    tls: Contexts | None = None,
    compat: bool = False,
    address: str = LOOPBACK,
) -> AsyncIterator[OpenDoor]:
    """An open door; at its end everybody is gone."""
    clock = FakeClock()
    serving = Serving(port=0, address=address)
    listener = Listener(handler, serving, limits or Limits(), clock=clock, compat=compat)
    door = OpenDoor(listener, clock, await listener.start(tls or contexts()))
    try:
        yield door
    finally:
        for peer in door.peers:
            await peer.close()
        await listener.stop()
