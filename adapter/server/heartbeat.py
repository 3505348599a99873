"""Whether the event loop keeps up: a beat each second, and how late it came (docs/faults.md F35)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from adapter.telemetry.clock import Clock

BEAT_SECONDS: Final = 1.0

LATE_SECONDS: Final = 10.0
"""A whole request's time. Less than that is a busy process, which a restart would only make busier."""

PATIENCE_SECONDS: Final = 30.0
"""So long it must go on: no single step of ours, however large, takes a loop's time like that."""


class Heartbeat:
    """This beats in the loop. Late for a long time, it says that the process is better started anew."""

    def __init__(self, clock: Clock, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._clock, self._sleep = clock, sleep
        self._due = clock.monotonic() + BEAT_SECONDS
        self._lag = 0.0
        self._late_since: float | None = None

    async def for_ever(self) -> None:
        """Beat, and beat again."""
        self._due = self._clock.monotonic() + BEAT_SECONDS
        while True:
            await self._sleep(BEAT_SECONDS)
            self.beat()

    def beat(self) -> None:
        """This moment is the beat that was due."""
        now = self._clock.monotonic()
        self._lag = max(0.0, now - self._due)
        if self._lag <= LATE_SECONDS:
            self._late_since = None
        elif self._late_since is None:
            self._late_since = self._due
        self._due = now + BEAT_SECONDS

    def lag_seconds(self) -> float:
        """How late the last beat came, or the next one is already."""
        return max(self._lag, self._clock.monotonic() - self._due)

    def probe(self) -> str | None:
        """Why the loop is not alive; None while it is."""
        since = self._late_since
        if since is None and self._clock.monotonic() - self._due > LATE_SECONDS:
            since = self._due
        late_for = 0.0 if since is None else self._clock.monotonic() - since
        if late_for <= PATIENCE_SECONDS:
            return None
        return f"the event loop has been more than {LATE_SECONDS:.0f} s late for {late_for:.0f} s"
