"""From the first signal to the end: not ready at once, some seconds more of service, then the port closes (F36).

The seconds are for the nodes: until all of them have heard that this replica is not ready, new connections still
come here. Each answer of these seconds is the last of its connection, so that callers move on by themselves.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Final

from adapter.telemetry import logs

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

EXIT_AT_ONCE: Final = 1
"""As Go's API servers do at a second signal."""

log = logs.get("drain")


class Drain:
    """This waits for the wish to stop, and then until the port may be closed."""

    def __init__(self, seconds: float, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._seconds, self._sleep = seconds, sleep
        self._wished = asyncio.Event()

    def listen(self) -> None:
        """Take SIGTERM and SIGINT as that wish. The second of them ends the process, whatever it is doing."""
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._signalled)

    def begin(self) -> None:
        """It is wished now."""
        if not self._wished.is_set():
            log.info("draining", extra={"seconds": self._seconds})
            self._wished.set()

    async def begun(self) -> None:
        """This returns as soon as it is wished."""
        await self._wished.wait()

    async def over(self) -> None:
        """This returns when, after that, the port may be closed."""
        await self._wished.wait()
        await self._sleep(self._seconds)

    def probe(self) -> str | None:
        """Why this replica is not ready; None while nobody wants it to stop."""
        return "the process was told to stop" if self._wished.is_set() else None

    def _signalled(self) -> None:
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.remove_signal_handler(number)
            # Not left to the system: for the first process of a container it does nothing. And not to the loop,
            # which may be what hangs.
            signal.signal(number, _end_at_once)
        self.begin()


def _end_at_once(*_: object) -> None:
    os._exit(EXIT_AT_ONCE)
