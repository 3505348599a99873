"""From a TCP connection to HTTP: refused if there are too many, else led through its TLS handshake.

The handshake is begun here (`loop.start_tls`) and not by the listening socket. So a connection too many costs no
cryptography, a failed handshake is known and counted, what waits unsent in the socket's own buffer can be seen, and
each connection gets the TLS context of this moment. An SNI callback could change the context too, but Python prints
a trace to stderr for each hello whose server name is not ASCII, before any callback of ours could prevent it.
"""

import asyncio
import ssl
from collections.abc import Callable
from typing import Final, Protocol, cast

from adapter.server.connections import Connections, Reason, Standing
from adapter.server.door import Connection, Door
from adapter.settings import Limits

CLOSE_SECONDS: Final = 5.0
"""How long a caller may take for its half of a TLS farewell. asyncio's own limit is 30 s."""


class CurrentContext(Protocol):
    """What knows the TLS context of new connections (tls.Contexts)."""

    def current(self) -> ssl.SSLContext:
        """The context of this moment."""
        ...


class Gates:
    """This makes the gate of each new connection: the loop asks for it."""

    def __init__(self, door: Door, limits: Limits, now: Callable[[], float]) -> None:
        self.door, self.limits, self.now = door, limits, now
        self.connections = Connections(limits)
        self.contexts: CurrentContext | None = None

    def __call__(self) -> "Gate":
        """One connection's gate."""
        return Gate(self)


class Gate(asyncio.Protocol):
    """This is one connection, from its beginning to its end."""

    def __init__(self, gates: Gates) -> None:
        self._gates = gates
        self.standing = Standing(gates.limits, gates.now())
        self._raw: asyncio.Transport | None = None
        self._tls: asyncio.Transport | None = None
        self._connection: Connection | None = None
        self._early = b""
        self._handshake: asyncio.Task[None] | None = None

    # -- what the loop calls: the socket's events, and those of TLS until HTTP takes over

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A TCP connection. Nothing is read before TLS reads it."""
        raw = cast("asyncio.Transport", transport)
        if not self._gates.connections.enter(self, self._gates.now()):
            raw.abort()
            return
        raw.pause_reading()
        raw.set_write_buffer_limits(high=self._gates.limits.buffer_bytes // 8)
        self._raw = raw
        self._handshake = asyncio.get_running_loop().create_task(self._shake_hands(raw))

    def data_received(self, data: bytes) -> None:
        """A request that came in one piece with the end of the handshake."""
        self._early += data

    async def _shake_hands(self, raw: asyncio.Transport) -> None:
        try:
            self._tls = await self._started(raw)
        except ConnectionAbortedError:  # asyncio's word for its limit
            self._gates.connections.closed[Reason.HANDSHAKE_TIMEOUT] += 1
        except OSError:  # all of ssl's errors too
            self._gates.connections.closed[Reason.HANDSHAKE_FAILED] += 1
        finally:
            if self._tls is None or self._tls.is_closing():  # None: it was lost in the moment of its success
                raw.abort()
                self.lost()
            else:
                self._speak_http(self._tls)

    async def _started(self, raw: asyncio.Transport) -> asyncio.Transport | None:
        if self._gates.contexts is None:
            return None
        return await asyncio.get_running_loop().start_tls(
            raw,
            self,
            self._gates.contexts.current(),
            server_side=True,
            ssl_handshake_timeout=self._gates.limits.handshake_seconds,
            ssl_shutdown_timeout=CLOSE_SECONDS,
        )

    def _speak_http(self, tls: asyncio.Transport) -> None:
        self.standing.opened(self._gates.now())
        tls.set_write_buffer_limits(high=self._gates.limits.buffer_bytes // 4)
        self._connection = self._gates.door.connection(self)
        tls.set_protocol(self._connection)
        self._connection.connection_made(tls)
        if self._early:
            self._connection.data_received(self._early)
            self._early = b""

    # -- what the HTTP connection tells and asks

    def received(self, size: int) -> bool:
        """So many bytes came. Whether they may still be the head of a request; else the connection is to end."""
        few = self.standing.received(size, self._gates.now())
        self._gates.connections.weigh(self)
        return few

    def answered(self) -> None:
        """A request has its answer."""
        self.standing.ended(self._gates.now())
        self._gates.connections.weigh(self)

    def moved(self) -> None:
        """The caller has taken so much that there is room for more."""
        self.standing.moved(self._gates.now())

    def over(self, reason: Reason) -> None:
        """The connection ends after the answer that is being written, for this reason."""
        self._gates.connections.closed[reason] += 1
        self.standing.closing()

    def lost(self) -> None:
        """The connection is closed."""
        self._gates.connections.leave(self)
        self._raw = self._tls = self._connection = (
            None  # they know each other: no work for the garbage collector
        )

    # -- what Connections asks

    def unsent(self) -> int:
        """Bytes that wait for the caller to take them: before and after encryption."""
        return sum(one.get_write_buffer_size() for one in (self._raw, self._tls) if one is not None)

    def end(self, *, politely: bool) -> None:
        """Close the connection: politely, or without another word."""
        if politely and self._connection is not None:
            self._connection.force_close()
        elif self._raw is not None:
            self._raw.abort()
