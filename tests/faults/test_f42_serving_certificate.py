"""F42: the serving certificate changes, is broken for a while, ends: nobody loses a request."""

import asyncio
import contextlib

import pytest

from adapter.server import suites
from adapter.server.pair import PairFiles
from adapter.server.rotation import LOOK_SECONDS, Rotation
from adapter.server.tls import Contexts
from adapter.settings import Serving
from tests.support import doors
from tests.support.certificates import NOW
from tests.support.clock import FakeClock
from tests.support.doors import open_door

SWAPS = 10
pytestmark = pytest.mark.timeout(60)


class Rotating:
    """An open door whose pair lies in a directory that the test writes."""

    def __init__(self, directory):
        self._directory = directory
        self.clock = FakeClock(NOW.timestamp())
        cert, key = doors.serving_leaf().write(directory, "tls")
        files = PairFiles(Serving(cert_file=cert, key_file=key))
        self.contexts = Contexts(files.read(NOW), suites.of(Serving()))
        self.rotation = Rotation(files, self.contexts, self.clock)

    def write(self, leaf):
        leaf.write(self._directory, "tls")

    def half_write(self, leaf):
        """The certificate is there, its key not yet."""
        (self._directory / "tls.crt").write_text(leaf.pem)


async def shown(door) -> bytes:
    """The certificate that a new caller sees, with a request answered."""
    peer = await door.connect()
    assert (await peer.get())[0] == 200
    certificate = peer.writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    await peer.close()
    return certificate


async def test_f42_changes_under_load_lose_no_request(tmp_path):
    """Every second one is seen half-written first; old connections live on, new ones see the new certificate."""
    rotating = Rotating(tmp_path)
    async with open_door(tls=rotating.contexts) as door:
        kept, answered = await door.connect(), 0

        async def load():
            nonlocal answered
            while True:
                assert (await kept.get())[0] == 200
                await shown(door)
                answered += 1

        loading = asyncio.create_task(load())
        for number in range(SWAPS):
            leaf, before = doors.serving_leaf(), rotating.contexts.pair
            if number % 2:
                rotating.half_write(leaf)
                rotating.rotation.look()
                assert rotating.contexts.pair == before
            rotating.write(leaf)
            rotating.rotation.look()
            assert await shown(door) == leaf.der
        assert not loading.done(), loading.exception()
        loading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await loading
        assert answered
        assert door.closed == {}


async def test_f42_broken_pair_is_told_once_and_the_old_one_served(tmp_path, caplog):
    """`certificate_rejected`, and `certificate_reloaded` when it is whole."""
    caplog.set_level("INFO")
    rotating = Rotating(tmp_path)
    before, leaf = rotating.contexts.pair, doors.serving_leaf()
    async with open_door(tls=rotating.contexts) as door:
        rotating.half_write(leaf)
        for _ in range(3):
            rotating.rotation.look()
        assert rotating.contexts.pair == before
        await shown(door)
        rotating.write(leaf)
        rotating.rotation.look()
        assert await shown(door) == leaf.der
    assert [one.message for one in caplog.records if one.name == "adapter.tls"] == [
        "certificate_rejected",
        "certificate_reloaded",
    ]


async def test_f42_expired_certificate_is_served_and_told(tmp_path, caplog):
    """A certificate that has ended may still be taken by a caller who does not look; no door helps nobody."""
    rotating = Rotating(tmp_path)
    end = rotating.contexts.not_after.timestamp()
    async with open_door(tls=rotating.contexts) as door:
        rotating.clock.advance(end - rotating.clock.now() + 3600)
        rotating.rotation.look()
        await shown(door)
    assert rotating.contexts.describe(rotating.clock.now()) == "EXPIRED 1:00:00 ago"
    assert [one.message for one in caplog.records if one.name == "adapter.tls"] == ["certificate_expires"]


def test_f42_pair_is_looked_at_often_enough():
    """Two looks fit into the minute in which a change must be served."""
    assert LOOK_SECONDS <= 30
