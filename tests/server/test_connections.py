"""When a connection's time is over: states and numbers, no sockets."""

from dataclasses import dataclass, field

import pytest

from adapter.server.connections import (
    FRESH_SECONDS,
    HEADS_BYTES,
    SLOWEST_BYTES,
    Connections,
    Reason,
    Stage,
    Standing,
)
from adapter.settings import Limits

LIMITS = Limits()


def opened(now: float = 0.0) -> Standing:
    """A connection whose handshake ended at this time."""
    standing = Standing(LIMITS, now)
    standing.opened(now)
    return standing


def test_first_request_is_expected_at_once():
    """From the handshake on the head has its 10 s; a byte now and then gains no time."""
    standing = opened()
    for second in range(10):
        assert standing.received(1, second)
        assert standing.overdue(second, 0) is None
    assert standing.overdue(10.1, 0) is Reason.SLOW_HEAD


def test_connection_between_two_requests_may_rest():
    """For two minutes, longer than the aggregator keeps it; then it is closed."""
    standing = opened()
    standing.received(100, 1)
    standing.began()
    assert standing.overdue(1000, 0) is None  # an answer has a deadline of its own
    standing.ended(1000)
    assert standing.overdue(1000 + 119, 0) is None
    assert standing.overdue(1000 + 121, 0) is Reason.IDLE


def test_next_head_has_its_time_from_its_first_byte():
    """However long the connection has rested before."""
    standing = opened()
    standing.began()
    standing.ended(0)
    standing.received(1, 100)
    assert standing.overdue(109, 0) is None
    assert standing.overdue(111, 0) is Reason.SLOW_HEAD


def test_what_comes_during_an_answer_is_the_next_head():
    """A part of a request that was sent ahead does not count as rest."""
    standing = opened()
    standing.began()
    standing.received(5, 1)
    standing.ended(2)
    assert standing.stage is Stage.HEAD
    assert standing.overdue(13, 0) is Reason.SLOW_HEAD


def test_empty_reads_change_nothing():
    """aiohttp reads nothing now and then, to go on with what it has."""
    standing = opened()
    standing.began()
    standing.ended(0)
    standing.received(0, 1)
    assert standing.stage is Stage.IDLE


def test_head_is_bounded_as_a_whole():
    """The bytes since the last whole head are counted, whatever they are."""
    standing = opened()
    assert standing.received(LIMITS.max_head_bytes, 0)
    assert not standing.received(1, 0)
    standing.began()
    assert standing.received(LIMITS.max_head_bytes, 0)


def test_body_that_is_thrown_away_is_not_bounded():
    """After the last answer aiohttp reads on for a moment; that is no head."""
    standing = opened()
    standing.began()
    standing.closing()
    assert standing.received(LIMITS.max_head_bytes + 1, 0)
    standing.ended(1)
    standing.began()
    assert standing.stage is Stage.CLOSING


def test_caller_who_takes_nothing_is_slow_after_ten_seconds():
    """Also if ever more waits for him."""
    standing = opened()
    standing.began()
    unsent = 0
    for second in range(11):
        assert standing.overdue(second, unsent) is None
        unsent += 10_000
    assert standing.overdue(11, unsent) is Reason.SLOW_READER


def test_caller_who_takes_a_byte_at_a_time_is_slow_too():
    """Progress is 64 KiB, or all there is."""
    standing = opened()
    standing.began()
    standing.overdue(0, 0)
    for second in range(1, 11):
        assert standing.overdue(second, 200_000 - second) is None
    assert standing.overdue(10.5, 200_000 - 11) is Reason.SLOW_READER


def test_caller_on_a_poor_line_is_served():
    """7 KiB/s will do, and emptying the buffer once."""
    standing = opened()
    standing.began()
    standing.overdue(0, 0)
    for second in range(60):
        assert standing.overdue(second, max(0, 10 * SLOWEST_BYTES - second * 7 * 1024)) is None
    standing.overdue(60, 0)
    assert standing.overdue(69, 1000) is None


def test_full_buffer_that_was_emptied_meanwhile_is_no_standstill():
    """Seen each second a buffer may be full each time, though megabytes have gone through it."""
    standing = opened()
    standing.began()
    for second in range(60):
        assert standing.overdue(second, 240_000) is None
        standing.moved(second + 0.5)


@dataclass(eq=False)
class Peer:
    """A connection that remembers how it was ended."""

    standing: Standing = field(default_factory=opened)
    waiting: int = 0
    ended: list[str] = field(default_factory=list)

    def unsent(self) -> int:
        return self.waiting

    def end(self, *, politely: bool) -> None:
        self.ended.append("politely" if politely else "abruptly")


def test_one_too_many_is_refused_and_room_comes_back():
    """Where all were let in the newest goes; who leaves, even twice, makes room for one."""
    connections = Connections(Limits(connections=2))
    first, second, third = Peer(), Peer(), Peer()
    for peer in (first, second):
        assert connections.enter(peer, 0)
        peer.standing.let_in()
    assert not connections.enter(third, 0)
    assert connections.closed[Reason.TOO_MANY] == 1
    connections.leave(first)
    connections.leave(first)
    connections.leave(third)
    assert connections.enter(third, 0)
    assert len(connections) == 2


def test_stranger_makes_room_and_whoever_was_let_in_stays():
    """First a stranger who has had its time, then the oldest of all; an answered probe makes nobody known."""
    connections = Connections(Limits(connections=3))
    known, young, old = Peer(), Peer(opened(FRESH_SECONDS)), Peer()
    known.standing.let_in()
    old.standing.began()
    old.standing.ended(0)
    for peer in (known, young, old):
        assert connections.enter(peer, 0)
    assert connections.enter(Peer(opened(FRESH_SECONDS)), FRESH_SECONDS)
    assert [one.ended for one in (known, young, old)] == [[], [], ["abruptly"]]
    assert connections.enter(Peer(opened(FRESH_SECONDS)), FRESH_SECONDS)
    assert [one.ended for one in (known, young)] == [[], ["abruptly"]]
    assert (len(connections), connections.closed[Reason.TOO_MANY]) == (3, 2)


def test_unfinished_heads_of_all_are_bounded_together():
    """Where they hold too much the largest goes; what becomes a request, or leaves, counts no more."""
    connections = Connections(Limits(max_head_bytes=HEADS_BYTES))
    small, large, other = Peer(), Peer(), Peer()
    for peer in (small, large, other):
        connections.enter(peer, 0)
        peer.standing.opened(0)
    for peer, part in ((small, 0.2), (large, 0.5), (other, 0.3)):
        peer.standing.received(int(HEADS_BYTES * part), 0)
        connections.weigh(peer)
    assert large.ended == []
    small.standing.received(10, 0)
    connections.weigh(small)
    assert [one.ended for one in (small, large, other)] == [[], ["abruptly"], []]
    assert connections.closed[Reason.LARGE_HEAD] == 1
    other.standing.began()
    connections.weigh(other)
    small.standing.received(int(HEADS_BYTES * 0.7), 0)
    connections.weigh(small)
    assert small.ended == []
    connections.leave(small)
    other.standing.received(HEADS_BYTES, 0)
    connections.weigh(other)
    assert other.ended == []


def test_sweep_ends_those_whose_time_is_over_and_counts_each_once():
    """An idle one politely, the others without another word."""
    connections = Connections(LIMITS)
    idle, slow, stuck, fine = Peer(), Peer(), Peer(waiting=5), Peer(opened(200))
    idle.standing.began()
    idle.standing.ended(0)
    stuck.standing.began()
    for peer in (idle, slow, stuck, fine):
        connections.enter(peer, 0)
    connections.sweep(200)
    connections.sweep(201)
    assert [one.ended for one in (idle, slow, stuck, fine)] == [["politely"], ["abruptly"], ["abruptly"], []]
    assert {reason: count for reason, count in connections.closed.items() if count} == {
        Reason.IDLE: 1,
        Reason.SLOW_HEAD: 1,
        Reason.SLOW_READER: 1,
    }


def test_all_can_be_ended():
    """When the process stops, nobody is counted."""
    connections = Connections(LIMITS)
    peers = [Peer(), Peer()]
    for peer in peers:
        connections.enter(peer, 0)
    connections.end_all()
    assert [one.ended for one in peers] == [["abruptly"]] * 2
    assert not sum(connections.closed.values())


@pytest.mark.parametrize(
    ("stage", "age", "unsent", "engaged"),
    [
        (Stage.HANDSHAKE, 3, 0, True),
        (Stage.HEAD, 0, 0, True),
        (Stage.HEAD, FRESH_SECONDS, 0, False),
        (Stage.HEAD, FRESH_SECONDS, 1, True),
        (Stage.BUSY, 9, 0, True),
        (Stage.IDLE, 9, 0, False),
        (Stage.IDLE, 9, 1, True),
        (Stage.CLOSING, 9, 0, False),
        (Stage.CLOSING, 9, 1, True),
    ],
)
def test_who_would_miss_an_answer_is_waited_for(stage, age, unsent, engaged):
    """A handshake, a request, unsent bytes, and a connection that has just begun; not those that rest."""
    standing = opened()
    standing.stage = stage
    assert standing.engaged(age, unsent) is engaged


def test_stages_are_counted():
    """Every stage is there, also those of nobody: fixed labels."""
    connections = Connections(LIMITS)
    connections.enter(Peer(), 0)
    assert connections.states() == {"handshake": 0, "head": 1, "busy": 0, "idle": 0, "closing": 0}
