"""F29: a caller who does not read what it asked for."""

import asyncio

import pytest
from aiohttp import web

from adapter.settings import Limits
from tests.support.doors import open_door
from tests.support.eventually import until

LARGE = 8_000_000
pytestmark = pytest.mark.timeout(20)


async def large(_: web.BaseRequest) -> web.Response:
    return web.Response(body=b"x" * LARGE)


def unsent(door) -> int:
    """Bytes that wait in all connections."""
    return sum(peer.unsent() for peer in door.listener.connections._peers)


async def stuck(door):
    """A caller who has asked for much and reads nothing; what could be sent has been."""
    peer = await door.connect(receive_bytes=4096)
    await peer.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 3)
    before = -1
    while unsent(door) == 0 or unsent(door) != before:
        before = unsent(door)
        await asyncio.sleep(0.02)  # the systems buffers fill at their own pace
    return peer


async def test_f29_what_waits_for_a_caller_is_bounded():
    """An answer of 8 MB is not copied into the connection's buffer: it is written as there is room."""
    async with open_door(large) as door:
        await stuck(door)
        assert 0 < unsent(door) <= Limits().buffer_bytes


async def test_f29_caller_who_takes_nothing_for_ten_seconds_is_gone():
    """With it goes what waited, and the handler that wrote it."""
    async with open_door(large) as door:
        await stuck(door)
        door.pass_time(9)
        assert door.count == 1
        door.pass_time(2)
        await until(lambda: door.count == 0)
        assert door.closed == {"slow_reader": 1}


async def test_f29_caller_who_leaves_a_small_answer_unread_is_gone_too():
    """What is left after the system's buffers is enough to tell, though no write had to wait."""

    async def handler(_: web.BaseRequest) -> web.Response:
        return web.Response(body=b"x" * 40_000)

    async with open_door(handler) as door:
        peer = await door.connect(receive_bytes=4096)
        while unsent(door) == 0:
            await peer.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            await asyncio.sleep(0)
        door.pass_time(11)
        await until(lambda: door.count == 0)
        assert door.closed == {"slow_reader": 1}


async def test_f29_slow_but_steady_caller_gets_all_of_it():
    """Each time some of it was taken the ten seconds begin anew."""
    async with open_door(large) as door:
        peer = await door.connect(receive_bytes=65536)
        await peer.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await peer.reader.readuntil(b"\r\n\r\n")
        received = 0
        while received < LARGE:
            received += len(await peer.reader.readexactly(min(500_000, LARGE - received)))
            door.pass_time(9)
        assert door.closed == {}
