"""The port: opened, looked after, drained and closed."""

import asyncio
import errno
import resource
import socket
from collections.abc import Awaitable, Callable
from typing import Final

from adapter.server.connections import Connections
from adapter.server.door import Door, Handler
from adapter.server.gate import CurrentContext, Gates
from adapter.settings import Limits, Serving
from adapter.telemetry import logs
from adapter.telemetry.clock import Clock, SystemClock

SWEEP_SECONDS: Final = 1.0
"""How often the limits of all connections are looked at: so much longer than its limit one may last."""

POLL_SECONDS: Final = 0.01
"""How often a stopping listener looks whether the last answers are out."""

FAREWELL_SECONDS: Final = 0.5
"""How long connections may take to close when nothing is left to be said."""

BACKLOG: Final = 512
"""Connections that the system holds until we take them: those of a second in which we do something else."""

SPARE_DESCRIPTORS: Final = 256
"""Files and connections of our own. Many container runtimes start a process with 1,024 in all."""

log = logs.get("listener")


class Listener:
    """This opens the port and closes it again. `connections` tells who is there, and who was sent away."""

    def __init__(
        self,
        handler: Handler,
        serving: Serving,
        limits: Limits,
        *,
        clock: Clock | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        compat: bool = False,
    ) -> None:
        self._serving, self._limits = serving, limits
        self._now, self._sleep = (clock or SystemClock()).monotonic, sleep
        self._door = Door(handler, limits, compat=compat)
        self._gates = Gates(self._door, limits, self._now)
        self._server: asyncio.Server | None = None

    @property
    def connections(self) -> Connections:
        """All connections."""
        return self._gates.connections

    async def start(self, contexts: CurrentContext) -> int:
        """The port that is open now. Raises OSError where it cannot be."""
        self._gates.contexts = contexts
        _allow_descriptors(self._limits.connections)
        listening = _socket(self._serving.address, self._serving.port)
        # Every connection inherits it. The system would let it grow to megabytes, for each who does not read, and we
        # would not see for that long whether any of it is taken.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self._limits.buffer_bytes // 2)
        try:
            self._server = await asyncio.get_running_loop().create_server(
                self._gates, sock=listening, backlog=BACKLOG
            )
        except BaseException:
            listening.close()
            raise
        port: int = listening.getsockname()[1]
        return port

    async def for_ever(self) -> None:
        """Keep the limits of connections."""
        while True:
            await self._sleep(SWEEP_SECONDS)
            self.sweep()

    def sweep(self) -> None:
        """End every connection whose time is over."""
        self.connections.sweep(self._now())

    def drain(self) -> None:
        """From now on each answer is the last of its connection; new ones are still taken."""
        self._door.draining = True

    async def stop(self) -> None:
        """No new connection; requests in flight end, up to the limit."""
        self.drain()
        if self._server is not None:
            self._server.close()
        await self._until(lambda: not self.connections.engaged(self._now()), self._limits.shutdown_seconds)
        self._door.pre_shutdown()
        await self._door.shutdown(FAREWELL_SECONDS)
        await self._until(lambda: not self.connections, FAREWELL_SECONDS)
        self.connections.end_all()
        await self._until(lambda: not self.connections, FAREWELL_SECONDS)

    async def _until(self, condition: Callable[[], bool], seconds: float) -> None:
        for _ in range(round(seconds / POLL_SECONDS)):
            if condition():
                return
            self.sweep()
            await self._sleep(POLL_SECONDS)


def _allow_descriptors(connections: int) -> None:
    """Room for all connections. Without it accepting would fail, and with it every request of our own."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections + SPARE_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < needed:
        possible = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (possible, hard))
        if possible < needed:
            log.warning("few_descriptors", extra={"have": possible, "needed": needed})


def _socket(address: str, port: int) -> socket.socket:
    """A bound socket. `::` takes IPv4 too, as it does in Go. Raises OSError that names the address."""
    try:
        family, _, _, _, target = socket.getaddrinfo(
            address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        both = family == socket.AF_INET6 and target[0] == "::" and socket.has_dualstack_ipv6()
        return socket.create_server(target, family=family, dualstack_ipv6=both)
    except OSError as error:
        raise OSError(error.errno or errno.EINVAL, f"{address}:{port}: {error.strerror}") from error
