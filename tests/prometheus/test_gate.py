"""The gate: so many at once, so many waiting, the rest refused."""

import asyncio

import pytest

from adapter import errors
from adapter.prometheus.gate import Gate


class Crowd:
    """Tasks that enter a gate and stay until let go."""

    def __init__(self, gate: Gate) -> None:
        self.gate, self.inside, self.most = gate, 0, 0
        self.leave = asyncio.Event()

    async def visit(self) -> None:
        async with self.gate:
            self.inside += 1
            self.most = max(self.most, self.inside)
            await self.leave.wait()
            self.inside -= 1


async def _settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_only_so_many_pass_at_once_and_all_pass_in_the_end():
    """Eight are inside at a time; those who wait follow."""
    crowd = Crowd(Gate(at_once=8, waiting=64))
    tasks = [asyncio.create_task(crowd.visit()) for _ in range(72)]
    await _settle()
    assert crowd.inside == 8
    crowd.leave.set()
    await asyncio.gather(*tasks)
    assert crowd.most == 8


async def test_who_would_be_one_too_many_to_wait_is_refused_at_once():
    """The 73rd is told Overloaded without waiting; after one has left there is room again."""
    crowd = Crowd(Gate(at_once=8, waiting=64))
    tasks = [asyncio.create_task(crowd.visit()) for _ in range(72)]
    await _settle()
    with pytest.raises(errors.Overloaded):
        await crowd.visit()
    crowd.leave.set()
    await asyncio.gather(*tasks)
    await crowd.visit()


async def test_a_cancelled_waiter_gives_its_place_back():
    """Cancelling who waits, and who is inside, leaves no trace."""
    crowd = Crowd(Gate(at_once=1, waiting=1))
    inside, waiter = asyncio.create_task(crowd.visit()), asyncio.create_task(crowd.visit())
    await _settle()
    waiter.cancel()
    await asyncio.wait([waiter])
    other = asyncio.create_task(crowd.visit())
    await _settle()
    inside.cancel()
    crowd.leave.set()
    await asyncio.wait([inside, other])
    assert other.exception() is None
