"""The one place that tells the time."""

import time
from typing import Protocol


class Clock(Protocol):
    """What the rooms may know of time."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that only ever grow: for ages and deadlines."""
        ...


class SystemClock:
    """This machine's clock."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that only ever grow."""
        return time.monotonic()
