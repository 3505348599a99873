"""Reading a large listing lets everything else go on."""

import asyncio

import pytest

from adapter.prometheus import listing
from adapter.promql import vector
from tests.promql import listings


@pytest.fixture
async def turns():
    """How often the loop came round, in a list of one number."""
    count = [0]

    async def spin() -> None:
        while True:
            count[0] += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(spin())
    await asyncio.sleep(0)
    yield count
    task.cancel()


async def test_the_loop_has_a_turn_between_steps(turns):
    """A request that comes meanwhile waits for one step, not for the whole listing."""
    body = listings.listing(*({"__name__": "up", "pod": f"{number:0100}"} for number in range(10_000)))
    before = turns[0]
    [shape] = await listing.shapes(body)
    assert shape.name == "up"
    assert turns[0] - before >= len(body) // vector.STEP_BYTES > 3


async def test_a_small_listing_is_read_at_once(turns):
    """Nothing is put off without need."""
    before = turns[0]
    await listing.shapes(listings.listing({"__name__": "up"}))
    assert turns[0] == before


@pytest.mark.parametrize("body", [b"<html>", b'{"status":"success"}'])
async def test_what_is_no_listing_is_said_so(body):
    """As with any other answer."""
    with pytest.raises(vector.NotAnAnswer):
        await listing.shapes(body)
