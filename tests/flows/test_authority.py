"""Whom to believe, read again and again."""

import asyncio
import contextlib
import logging
import ssl

import pytest

from adapter import errors
from adapter.access.authority import Authority
from adapter.flows import authority as flow
from adapter.flows.authority import AuthorityFlow
from tests.support.certificates import Pki
from tests.support.clock import FakeClock
from tests.support.sleeper import Sleeper, settle


class Source:
    """Gives `data`, or raises it."""

    def __init__(self, data):
        self.data, self.reads = data, 0

    async def read(self):
        self.reads += 1
        if isinstance(self.data, Exception):
            raise self.data
        return self.data


@pytest.fixture(scope="module")
def pki():
    return Pki()


@pytest.fixture
def source(pki):
    return Source(pki.data())


@pytest.fixture
def told():
    return []


@pytest.fixture
def found(source, told):
    return AuthorityFlow(source, changed=told.append)


@contextlib.asynccontextmanager
async def running(source, random=lambda: 0.0):
    """The flow under a fake clock: (flow, sleeper)."""
    sleeper = Sleeper(FakeClock())
    kept = AuthorityFlow(source, sleep=sleeper.sleep, random=random)
    task = asyncio.create_task(kept.for_ever())
    await settle()
    yield kept, sleeper
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_before_the_first_reading_nobody_is_believed(found):
    """Not even while it is under way."""
    assert not found.current.known


async def test_a_reading_puts_the_authority_in_force(found, told, pki):
    """And tells of it."""
    assert await found.once()
    assert found.current == pki.authority()
    assert told == [pki.authority()]


async def test_the_same_again_is_no_news(found, told):
    """A context is rebuilt for a change only."""
    for _ in range(3):
        assert await found.once()
    assert len(told) == 1


async def test_a_change_is_told_before_it_is_in_force(source, pki):
    """Connections that show a new CA's certificates are let in first."""
    seen = []
    found = AuthorityFlow(source, changed=lambda new: seen.append((new.known, found.current.known)))
    await found.once()
    assert seen == [(True, False)]


async def test_a_new_ca_replaces_the_old(found, source, told, pki):
    """The next question meets it."""
    await found.once()
    source.data = pki.data(requestheader_client_ca_file=pki.other.pem)
    await found.once()
    assert found.current.proxy_ca == (pki.other.certificate,)
    assert len(told) == 2


@pytest.mark.parametrize(
    "data",
    [
        errors.AccessUnknown("down"),
        {"requestheader-client-ca-file": "x"},
        {"requestheader-allowed-names": "x"},
    ],
)
async def test_a_failure_leaves_the_old_in_force(found, source, told, pki, data):
    """The API server is away, or what it says is broken."""
    await found.once()
    source.data = data
    assert not await found.once()
    assert found.current == pki.authority()
    assert len(told) == 1


@pytest.mark.parametrize("error", [ssl.SSLError("bad"), ValueError("bad")])
async def test_what_a_tls_context_does_not_take_is_not_taken(source, pki, error):
    """Bundle and context belong together; it is tried again."""
    failing = [error]

    def changed(_):
        if failing:
            raise failing.pop()

    found = AuthorityFlow(source, changed=changed)
    assert not await found.once()
    assert not found.current.known
    assert await found.once()
    assert found.current.known


@pytest.mark.parametrize("change", ["missing", "no front proxy"])
async def test_what_is_gone_does_not_take_the_last_good_one_with_it(found, source, told, pki, change):
    """A ConfigMap that is deleted, or empty for a moment, is no rotation: the adapter stays on the air."""
    await found.once()
    source.data = None if change == "missing" else pki.data(requestheader_client_ca_file=None)
    assert not await found.once()
    assert found.current.known
    assert len(told) == 1
    source.data = pki.data()
    assert await found.once()
    assert found.current.known


@pytest.mark.parametrize("change", ["missing", "no front proxy"])
async def test_nobody_is_believed_before_there_is_one(source, pki, change):
    """At the start nothing is kept, because there is nothing."""
    source.data = None if change == "missing" else pki.data(requestheader_client_ca_file=None)
    found = AuthorityFlow(source)
    assert not await found.once()
    assert not found.current.known


async def test_it_is_read_every_quarter_minute(source):
    """For ever, each time a little later by chance."""
    async with running(source) as (_, sleeper):
        await sleeper.pass_time(flow.READ_SECONDS * 4)
        assert source.reads == 5
    async with running(source, random=lambda: 1.0) as (_, sleeper):
        await sleeper.pass_time(1)
        assert sleeper.slept == [flow.READ_SECONDS * 1.1]


async def test_after_a_failure_it_is_read_sooner(source):
    """From half a second, doubling, up to half a minute; and as before once it came."""
    data, source.data = source.data, errors.AccessUnknown("down")
    async with running(source, random=lambda: 1.0) as (kept, sleeper):
        await sleeper.pass_time(200)
        assert sleeper.slept[:8] == [0.5, 1, 2, 4, 8, 16, 30, 30]
        source.data = data
        await sleeper.pass_time(30)
        assert kept.current.known
        assert sleeper.slept[-1] == flow.READ_SECONDS * 1.1
        source.data = errors.AccessUnknown("down")
        before = len(sleeper.slept)
        await sleeper.pass_time(17)
        assert sleeper.slept[before] == 0.5


async def test_the_log_has_a_line_per_change(found, source, pki, caplog):
    """And none per reading."""
    caplog.set_level(logging.INFO, "adapter.authority")
    for data in (errors.AccessUnknown("down"), None, {"client-ca-file": "x"}, pki.data()):
        source.data = data
        for _ in range(3):
            await found.once()
    assert [one.getMessage() for one in caplog.records] == [
        "authority_unreadable",
        "authority_missing",
        "authority_broken",
        "authority_changed",
        "authority_recovered",
    ]


async def test_a_flow_without_listeners_works(source, pki):
    """Nobody needs to be told."""
    found = AuthorityFlow(source)
    assert await found.once()
    assert found.current == pki.authority()
    assert found.current != Authority()
