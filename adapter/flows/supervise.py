"""What runs for ever: restarted with back-off when it fails, and given up when it fails too often (fault row F37)."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from adapter.telemetry import logs
from adapter.telemetry.clock import Clock

RESTARTS: Final = 5
"""So many failures within WINDOW_SECONDS are no bad luck: the process ends, and its supervisor starts it clean."""

WINDOW_SECONDS: Final = 60.0

FIRST_PAUSE_SECONDS: Final = 0.5

log = logs.get("supervise")


class GaveUp(Exception):
    """A flow failed RESTARTS times within WINDOW_SECONDS."""


async def for_ever(
    name: str,
    flow: Callable[[], Awaitable[None]],
    clock: Clock,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """This runs `flow` again and again. Raises GaveUp; otherwise ends only by cancellation."""
    failures: deque[float] = deque(maxlen=RESTARTS)
    while True:
        try:
            await flow()
        except Exception:  # one of the two outermost loops: a fault in one flow must not end the others
            log.exception("flow_failed", extra={"flow": name})
        else:
            log.error("flow_ended", extra={"flow": name})
        now = clock.monotonic()
        failures.append(now)
        if len(failures) == RESTARTS and now - failures[0] < WINDOW_SECONDS:
            raise GaveUp(f"{name} failed {RESTARTS} times within {WINDOW_SECONDS:.0f} s")
        await sleep(FIRST_PAUSE_SECONDS * 2 ** (len(failures) - 1))
