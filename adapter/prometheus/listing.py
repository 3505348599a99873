"""Reading a large listing without stopping everything else: the one long computation of the process."""

import asyncio

from adapter.promql import vector
from adapter.promql.vector import SeriesShape


async def shapes(body: bytes) -> tuple[SeriesShape, ...]:
    """The shapes of a series listing. After each step of it the loop has its turn.

    Raises vector.NotAnAnswer, vector.Refused.
    """
    steps = vector.decode_series(body)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: tuple[SeriesShape, ...] = end.value
            return found
        await asyncio.sleep(0)
