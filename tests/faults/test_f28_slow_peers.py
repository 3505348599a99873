"""F28: no hello, a head that never ends, connections that rest, too many of them; healthy callers do not notice."""

import pytest

from adapter.settings import Limits
from tests.support.doors import open_door
from tests.support.eventually import until

pytestmark = pytest.mark.timeout(20)


async def test_f28_caller_without_hello_is_gone_after_the_handshakes_time():
    """aiohttp would wait 60 s for it. (The limit is asyncio's, in real time: here a moment.)"""
    async with open_door(limits=Limits(handshake_seconds=0.05)) as door:
        await (await door.connect_plainly()).gone()
        await until(lambda: door.count == 0)
        assert door.closed == {"handshake_timeout": 1}
    assert Limits().handshake_seconds == 5


async def test_f28_caller_who_says_nothing_after_the_handshake_is_gone_after_ten_seconds():
    """aiohttp has no limit for it."""
    async with open_door() as door:
        peer = await door.connect()
        await until(lambda: door.listener.connections.states()["head"] == 1)
        door.pass_time(9)
        assert door.count == 1
        door.pass_time(2)
        await peer.gone()
        assert door.closed == {"slow_head": 1}


async def test_f28_head_that_comes_byte_by_byte_is_gone_after_ten_seconds():
    """Also when it comes on a connection that has been used and has rested."""
    async with open_door() as door:
        fresh, used = await door.connect(), await door.connect()
        await used.get()
        await until(lambda: door.listener.connections.states()["idle"] == 1)
        door.pass_time(1)
        states = door.listener.connections.states
        for peer in (fresh, used):
            await peer.send(b"GET / HT")
        await until(lambda: states()["head"] == 2)
        for _ in range(3):
            door.pass_time(4)
            for peer in (fresh, used):
                await peer.send(b"T")
        await fresh.gone()
        await used.gone()
        assert door.closed == {"slow_head": 2}


async def test_f28_resting_connection_outlives_the_aggregators_patience():
    """The aggregator drops idle connections after 90 s: it must never meet one that we have just closed."""
    async with open_door() as door:
        peer = await door.connect()
        await peer.get()
        await until(lambda: door.listener.connections.states()["idle"] == 1)
        door.pass_time(95)
        assert (await peer.get())[0] == 200
        await until(lambda: door.listener.connections.states()["idle"] == 1)
        door.pass_time(121)
        await peer.gone()
        assert door.closed == {"idle": 1}


async def test_f28_stranger_makes_room_and_who_was_let_in_is_served_on():
    """Twenty slow callers fill the door: a new one takes the place of the oldest of them, at once."""
    async with open_door(limits=Limits(connections=21)) as door:
        healthy = await door.connect()
        await healthy.get()
        slow = [await door.connect() for _ in range(20)]
        for peer in slow:
            await peer.send(b"GET /")
        newcomer = await door.connect()
        assert (await newcomer.get())[0] == 200
        await slow[0].gone()
        for _ in range(10):
            assert (await healthy.get())[0] == 200
        assert door.closed == {"too_many": 1}
        door.pass_time(11)
        for peer in slow[1:]:
            await peer.gone()
        assert door.closed == {"too_many": 1, "slow_head": 19}
    assert Limits().connections == 1000


async def test_f28_slow_callers_keep_nobody_out():
    """A new caller takes the place of one that has sent no request for two seconds; no place of a healthy one."""
    async with open_door(limits=Limits(connections=6)) as door:
        healthy = await door.connect()
        await healthy.get()
        slow = [await door.connect_plainly() for _ in range(5)]
        await until(lambda: door.count == 6)
        door.pass_time(2)
        for _ in range(3):
            assert (await (await door.connect()).get())[0] == 200
        for peer in slow[:3]:
            await peer.gone()
        assert (await healthy.get())[0] == 200
        assert door.closed == {"too_many": 3}
