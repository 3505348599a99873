"""Snapshots: from the cache, from a flight, or the old one for a failing backend."""

import asyncio
from dataclasses import replace

import pytest

from adapter import errors
from adapter.rulebook.model import Policy
from adapter.settings import Prometheus
from adapter.snapshots.source import Snapshots
from tests.snapshots.taking import take, value
from tests.support import leaks

DEFAULTS = Policy.DEFAULTS


async def test_a_fresh_snapshot_answers_again(snapshots, backend, clock, counts):
    """Within its life the backend is not asked; afterwards it is."""
    assert [value(await take(snapshots, clock)) for _ in range(3)] == [1, 1, 1]
    clock.advance(5)
    taken = await take(snapshots, clock)
    assert value(taken) == 2
    assert (taken.stale_seconds, taken.cause) == (0.0, None)
    assert counts == ["miss", "hit", "hit", "miss"]


async def test_different_queries_are_different_snapshots(snapshots, backend, clock):
    """The text of the query decides."""
    await take(snapshots, clock, query="a")
    await take(snapshots, clock, query="b")
    assert backend.queries == ["a", "b"]


async def test_equal_questions_at_once_are_one_query(snapshots, backend, clock, counts):
    """A thousand autoscalers cost one query."""
    await asyncio.gather(*(take(snapshots, clock) for _ in range(1000)))
    assert len(backend.queries) == 1
    assert (counts.count("miss"), counts.count("shared")) == (1, 999)


async def test_the_flight_has_its_own_deadline(snapshots, backend, clock):
    """A hurried first caller gets his time-out; the flight goes on and serves the others."""
    backend.open.clear()
    hurried = asyncio.create_task(take(snapshots, clock, seconds=0.01))
    patient = asyncio.create_task(take(snapshots, clock))
    with pytest.raises(errors.BackendTimeout):
        await hurried
    backend.open.set()
    assert value(await patient) == 1
    assert backend.deadlines == [clock.monotonic() + Prometheus.query_seconds]


async def test_a_flight_that_nobody_waits_for_fills_the_cache(snapshots, backend, clock):
    """Who comes after the time-out of the others gets its result."""
    async with leaks.nothing_left():
        backend.open.clear()
        with pytest.raises(errors.BackendTimeout):
            await take(snapshots, clock, seconds=0.01)
        backend.open.set()
        assert value(await take(snapshots, clock)) == 1
    assert value(await take(snapshots, clock)) == 1
    assert len(backend.queries) == 1


FAILURES = [
    errors.BackendUnavailable("x"),
    errors.BackendPartial("x"),
    errors.BackendBadAnswer("x"),
    errors.BackendTimeout("x"),
    errors.Overloaded("x"),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda one: one.cause)
async def test_the_old_snapshot_answers_for_a_failing_backend(snapshots, backend, clock, counts, failure):
    """It says how old it is, and why it stands in."""
    await take(snapshots, clock)
    backend.failure = failure
    clock.advance(23)
    taken = await take(snapshots, clock)
    assert (value(taken), taken.stale_seconds, taken.cause) == (1, pytest.approx(23), failure.cause)
    assert counts[-1] == "stale"


async def test_stale_answers_end(snapshots, backend, clock, counts):
    """At an age of thirty seconds the old snapshot is too old: the failure is told."""
    await take(snapshots, clock)
    backend.failure = FAILURES[0]
    clock.advance(29.9)
    await take(snapshots, clock)
    clock.advance(0.2)
    with pytest.raises(errors.BackendUnavailable):
        await take(snapshots, clock)
    assert counts == ["miss", "stale", "refused"]


async def test_the_rule_says_how_stale(snapshots, backend, clock):
    """maxStale: 0 never serves an old snapshot."""
    policy = replace(DEFAULTS, max_stale=0.0)
    await take(snapshots, clock, policy=policy)
    backend.failure = FAILURES[0]
    clock.advance(6)
    with pytest.raises(errors.BackendUnavailable):
        await take(snapshots, clock, policy=policy)


@pytest.mark.parametrize("seconds", [0.01, 0.0, -1.0])
async def test_the_waiting_time_of_a_caller_is_a_failure_too(snapshots, backend, clock, counts, seconds):
    """Who cannot wait any longer gets the old snapshot."""
    await take(snapshots, clock)
    backend.open.clear()
    clock.advance(6)
    taken = await take(snapshots, clock, seconds=seconds)
    assert (value(taken), taken.stale_seconds, taken.cause) == (1, pytest.approx(6), "BackendTimeout")
    assert counts == ["miss", "stale"]
    await snapshots.close()


async def test_other_failures_are_not_papered_over(snapshots, backend, clock):
    """A query that the backend refuses stays refused, whatever was known before."""
    await take(snapshots, clock)
    backend.failure = errors.RuleRejected("x")
    clock.advance(6)
    for _ in range(2):
        with pytest.raises(errors.RuleRejected):
            await take(snapshots, clock)


async def test_failures_are_not_kept(snapshots, backend, clock):
    """The first question after an outage is answered fresh."""
    backend.failure = FAILURES[0]
    with pytest.raises(errors.BackendUnavailable):
        await take(snapshots, clock)
    backend.failure = None
    assert value(await take(snapshots, clock)) == 2


async def test_equal_questions_share_a_failing_flight(snapshots, backend, clock):
    """An outage does not multiply the load."""
    backend.failure = FAILURES[0]
    results = await asyncio.gather(*(take(snapshots, clock) for _ in range(100)), return_exceptions=True)
    assert [type(one) for one in results] == [errors.BackendUnavailable] * 100
    assert len(backend.queries) == 1


async def test_warnings_are_refused_and_not_kept(snapshots, backend, clock):
    """A partial answer is none: the last whole one stands in, and is not overwritten."""
    await take(snapshots, clock)
    backend.warnings = ("a store is away",)
    clock.advance(6)
    taken = await take(snapshots, clock)
    assert (value(taken), taken.cause) == (1, "BackendPartial")
    clock.advance(60)
    with pytest.raises(errors.BackendPartial):
        await take(snapshots, clock)


async def test_a_rule_may_accept_warnings(snapshots, backend, clock):
    """onWarnings: accept takes the answer as it is; a rule that does not never sees it."""
    backend.warnings = ("a store is away",)
    accepting = replace(DEFAULTS, on_warnings="accept")
    assert value(await take(snapshots, clock, policy=accepting)) == 1
    with pytest.raises(errors.BackendPartial):
        await take(snapshots, clock)


async def test_no_life_means_neither_cache_nor_stale_answers(backend, clock):
    """--cache-ttl=0 asks each time; equal questions at the same moment still share."""
    snapshots = Snapshots(backend, clock, ttl_seconds=0.0)
    await take(snapshots, clock)
    await asyncio.gather(*(take(snapshots, clock) for _ in range(10)))
    assert len(backend.queries) == 2
    backend.failure = FAILURES[0]
    with pytest.raises(errors.BackendUnavailable):
        await take(snapshots, clock)


async def test_without_sharing_each_question_is_its_own_query(backend, clock):
    """Compatibility mode: no flight, no cache, nothing stale, the caller's own deadline."""
    snapshots = Snapshots(backend, clock, ttl_seconds=5.0, share=False)
    await asyncio.gather(*(take(snapshots, clock, policy=Policy.UPSTREAM) for _ in range(10)))
    assert len(backend.queries) == 10
    assert set(backend.deadlines) == {clock.monotonic() + 10}
    backend.failure = FAILURES[0]
    with pytest.raises(errors.BackendUnavailable):
        await take(snapshots, clock, policy=replace(Policy.UPSTREAM, max_stale=30.0))
