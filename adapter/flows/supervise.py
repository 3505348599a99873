"""What runs for ever: restarted with back-off when it fails, given up when it fails too often (docs/faults.md F37)."""

import asyncio
import random as randomness
from collections.abc import Awaitable, Callable
from typing import Final

from adapter.flows.backoff import Backoff
from adapter.telemetry import logs
from adapter.telemetry.clock import Clock

RESTARTS: Final = 5
"""So many failures within WINDOW_SECONDS are no bad luck: the process ends, and its supervisor starts it clean."""

WINDOW_SECONDS: Final = 60.0

log = logs.get("supervise")


class GaveUp(Exception):
    """A flow failed RESTARTS times within WINDOW_SECONDS."""


async def for_ever(
    name: str,
    flow: Callable[[], Awaitable[None]],
    clock: Clock,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    random: Callable[[], float] = randomness.random,
) -> None:
    """This runs `flow` again and again. Raises GaveUp; otherwise ends only by cancellation."""
    failures: list[float] = []
    pauses = Backoff(random)
    while True:
        try:
            await flow()
        except Exception:  # one of the two outermost loops: a fault in one flow must not end the others
            log.exception("flow_failed", extra={"flow": name})
        else:
            log.error("flow_ended", extra={"flow": name})
        now = clock.monotonic()
        failures = [at for at in failures if now - at < WINDOW_SECONDS] + [now]
        if len(failures) == RESTARTS:
            raise GaveUp(f"{name} failed {RESTARTS} times within {WINDOW_SECONDS:.0f} s")
        if len(failures) == 1:
            pauses.reset()
        await sleep(pauses.next())
