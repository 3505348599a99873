"""Waiting for what real sockets bring: as short as can be, and never for ever."""

import asyncio
from collections.abc import Callable

PATIENCE_SECONDS = 5.0
"""Only a broken test waits so long."""


async def until(condition: Callable[[], object]) -> None:
    """This returns once `condition()` is true; the loop goes on meanwhile."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():
            await asyncio.sleep(0.001)
