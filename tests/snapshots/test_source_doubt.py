"""After a failure the old snapshot answers at once, and one flight behind it tries again."""

import asyncio
from dataclasses import replace

import pytest

from adapter import errors
from adapter.rulebook.model import Policy
from adapter.snapshots.source import Snapshots
from tests.snapshots.taking import take, value
from tests.support import leaks
from tests.support.sleeper import settle

AWAY = errors.BackendUnavailable("x")
SLOW = errors.BackendTimeout("x")


@pytest.fixture
async def doubted(snapshots, backend, clock):
    """Snapshots with an old one that could not be renewed just now; from here on the backend hangs."""
    await take(snapshots, clock)
    clock.advance(6)
    backend.failure = SLOW
    await take(snapshots, clock)
    backend.open.clear()
    return snapshots


async def take_at_once(snapshots, clock):
    """What is had without waiting for anything."""
    task = asyncio.create_task(take(snapshots, clock))
    await settle()
    assert task.done()
    return task.result()


async def test_a_hanging_backend_holds_nobody_after_the_first(doubted, backend, clock, counts):
    """The old snapshot comes before the flight has ended, with its age and the cause of the failure."""
    clock.advance(1)
    taken = await take_at_once(doubted, clock)
    assert (value(taken), taken.stale_seconds, taken.cause) == (1, pytest.approx(7), "BackendTimeout")
    assert counts == ["miss", "stale", "stale"]


async def test_one_flight_tries_again_behind(doubted, backend, clock):
    """However many ask meanwhile."""
    await asyncio.gather(*(take(doubted, clock) for _ in range(100)))
    clock.advance(1)
    await asyncio.gather(*(take(doubted, clock) for _ in range(100)))
    assert len(backend.queries) == 3  # the first, the failed, and one behind
    assert backend.deadlines[-1] == clock.monotonic() - 1 + 5


async def test_the_flight_behind_renews_the_snapshot(doubted, backend, clock):
    """Who asks after it has landed gets its value, fresh."""
    await take(doubted, clock)
    backend.failure = None
    backend.open.set()
    await settle()
    taken = await take(doubted, clock)
    assert (value(taken), taken.cause) == (3, None)
    clock.advance(4.6)
    assert value(await take(doubted, clock)) == 3
    clock.advance(1)  # its life has ended, and no failure is remembered: the answer is a new one
    assert value(await take(doubted, clock)) == 4


async def test_nobody_waits_as_long_as_the_flight_behind_does(doubted, backend, clock):
    """The failure is older than five seconds by now, but its repetition is still on the way."""
    clock.advance(4.9)
    await take_at_once(doubted, clock)
    clock.advance(4.9)
    assert (await take_at_once(doubted, clock)).stale_seconds == pytest.approx(15.8)
    assert len(backend.queries) == 3


async def test_its_failure_is_a_failure(doubted, backend, clock):
    """With the newest cause: five seconds more without waiting."""
    await take(doubted, clock)
    backend.failure = AWAY
    backend.open.set()
    await settle()
    backend.open.clear()
    clock.advance(4.9)
    assert (await take_at_once(doubted, clock)).cause == "BackendUnavailable"


async def test_a_failure_is_soon_forgotten(doubted, backend, clock):
    """After five seconds without a question the next one waits again for a fresh answer."""
    clock.advance(5)
    backend.failure = None
    backend.open.set()
    assert value(await take(doubted, clock)) == 3


async def test_a_refusal_behind_ends_the_old_answers(doubted, backend, clock):
    """What the backend refuses for good is told from the next question on."""
    await take(doubted, clock)
    backend.failure = errors.RuleRejected("x")
    backend.open.set()
    await settle()
    with pytest.raises(errors.RuleRejected):
        await take(doubted, clock)


async def test_without_an_old_snapshot_every_question_tries(snapshots, backend, clock):
    """Nothing could answer in its place, so nothing of the failure is remembered."""
    backend.failure = AWAY
    for _ in range(3):
        with pytest.raises(errors.BackendUnavailable):
            await take(snapshots, clock)
    assert len(backend.queries) == 3


async def test_old_answers_end_while_in_doubt(doubted, backend, clock):
    """At an age of thirty seconds the snapshot is gone, and the failure is told."""
    backend.open.set()
    for _ in range(4):
        clock.advance(4.9)
        assert (await take(doubted, clock)).cause == "BackendTimeout"
        await settle()
    clock.advance(4.9)
    with pytest.raises(errors.BackendTimeout):
        await take(doubted, clock)


async def test_an_overload_counts_as_a_failure(snapshots, backend, clock):
    """Too many questions wait for a slow backend: the old snapshot is better than none."""
    await take(snapshots, clock)
    backend.failure = errors.Overloaded("x")
    clock.advance(6)
    assert (await take(snapshots, clock)).cause == "Overloaded"
    backend.open.clear()
    assert (await take_at_once(snapshots, clock)).cause == "Overloaded"


async def test_a_hurried_caller_is_no_failure_of_the_backend(snapshots, backend, clock):
    """The flight that he leaves goes on, and others wait for it."""
    await take(snapshots, clock)
    clock.advance(6)
    backend.open.clear()
    assert (await take(snapshots, clock, seconds=0.01)).cause == "BackendTimeout"
    patient = asyncio.create_task(take(snapshots, clock))
    await settle()
    assert not patient.done()
    backend.open.set()
    assert value(await patient) == 2


async def test_closing_ends_the_flight_behind(snapshots, backend, clock):
    """At shutdown no task is left."""
    await take(snapshots, clock)
    clock.advance(6)
    backend.failure = SLOW
    await take(snapshots, clock)
    async with leaks.nothing_left():
        backend.open.clear()
        await take(snapshots, clock)
        await settle()
        assert len(backend.queries) == 3
        await snapshots.close()


@pytest.mark.parametrize(
    ("policy", "sharing"),
    [
        (replace(Policy.DEFAULTS, max_stale=0.0), {"ttl_seconds": 5.0}),
        (Policy.DEFAULTS, {"ttl_seconds": 0.0}),
    ],
    ids=["never stale", "no cache"],
)
async def test_who_wants_nothing_stale_gets_nothing_stale(backend, clock, policy, sharing):
    """In doubt or not."""
    snapshots = Snapshots(backend, clock, **sharing)
    await take(snapshots, clock, policy=policy)
    clock.advance(6)
    backend.failure = SLOW
    for _ in range(2):
        with pytest.raises(errors.BackendTimeout):
            await take(snapshots, clock, policy=policy)
    await snapshots.close()
