"""Every connection: where it stands, since when, and whether its time is over. No sockets, no clock.

aiohttp has no limit for a request's head, for a handshake that never begins, or for a caller who does not read
(docs/faults.md F28, F29); all limits of a connection are kept here, and looked at about once a second.
"""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Protocol

from adapter.settings import Limits

SLOWEST_BYTES: Final = 64 * 1024
"""A caller takes so much within `slow_reader_seconds`, or all there is: 6 KiB/s, a modem. Without this lower bound
one byte in time would hold a connection and its buffer for ever."""

HEADS_BYTES: Final = 16 * 1024 * 1024
"""What unfinished heads of all connections may hold together. A real head has some KiB; in memory it takes more than
twice its bytes, and nobody has shown who he is yet."""

FRESH_SECONDS: Final = 2.0
"""Time for a handshake and a first request: so young a connection gives way last, and is waited for when the door
closes."""


class Stage(StrEnum):
    """What a connection is at. The values are those of the metric `connections{state}`."""

    HANDSHAKE = "handshake"
    HEAD = "head"
    """A request is expected at once, or has come in part."""
    BUSY = "busy"
    """A request is being answered."""
    IDLE = "idle"
    CLOSING = "closing"
    """The last answer is on its way; what still comes is thrown away."""


class Reason(StrEnum):
    """Why we closed a connection."""

    TOO_MANY = "too_many"
    HANDSHAKE_TIMEOUT = "handshake_timeout"
    HANDSHAKE_FAILED = "handshake_failed"
    SLOW_HEAD = "slow_head"
    LARGE_HEAD = "large_head"
    MALFORMED = "malformed"
    IDLE = "idle"
    SLOW_READER = "slow_reader"


class Standing:
    """This is where one connection stands. All times are of one monotonic clock."""

    __slots__ = ("_born", "_known", "_limits", "_received", "_since", "_unsent", "_unsent_since", "stage")

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self.stage = Stage.HANDSHAKE
        self._born = self._since = self._unsent_since = now
        self._known = False
        self._received = self._unsent = 0

    def opened(self, now: float) -> None:
        """The handshake is done."""
        self.stage, self._since = Stage.HEAD, now

    def received(self, size: int, now: float) -> bool:
        """So many bytes came. Whether they may still be the head of a request."""
        if self.stage is Stage.CLOSING:
            return True
        if self.stage is Stage.IDLE and size:
            self.stage, self._since = Stage.HEAD, now
        self._received += size
        return self._received <= self._limits.max_head_bytes

    @property
    def held(self) -> int:
        """Bytes of a head that is not whole yet, or of the requests behind the one being answered."""
        return self._received

    @property
    def known(self) -> bool:
        """Whether access control has let a request of it in."""
        return self._known

    def began(self) -> None:
        """The head is whole, and is being answered."""
        if self.stage is not Stage.CLOSING:
            self.stage = Stage.BUSY
        self._received = 0

    def let_in(self) -> None:
        """Access control has let a request in: from now on it gives way to nobody."""
        self._known = True

    def ended(self, now: float) -> None:
        """It has been answered. What came meanwhile is the head of the next request, or a part of it."""
        if self.stage is not Stage.CLOSING:
            self.stage = Stage.HEAD if self._received else Stage.IDLE
            self._since = now

    def moved(self, now: float) -> None:
        """The caller has taken so much that there is room for more."""
        self._unsent, self._unsent_since = 0, now

    def closing(self) -> None:
        """No request will be read any more."""
        self.stage = Stage.CLOSING

    def overdue(self, now: float, unsent: int) -> Reason | None:
        """Why this connection must end now. `unsent`: bytes that wait for the caller to take them."""
        if self._stuck(now, unsent):
            return Reason.SLOW_READER
        age = now - self._since
        if self.stage is Stage.HEAD and age > self._limits.head_seconds:
            return Reason.SLOW_HEAD
        if self.stage is Stage.IDLE and age > self._limits.keepalive_seconds:
            return Reason.IDLE
        return None

    def gives_way(self, now: float) -> bool:
        """Whether it has had its time, and nobody was let in by it."""
        return not self._known and now - self._born >= FRESH_SECONDS

    def engaged(self, now: float, unsent: int) -> bool:
        """Whether somebody would miss an answer if it ended now."""
        if self.stage is Stage.HEAD:
            return now - self._since < FRESH_SECONDS or unsent > 0
        return self.stage in (Stage.HANDSHAKE, Stage.BUSY) or unsent > 0

    def _stuck(self, now: float, unsent: int) -> bool:
        if unsent == 0 or unsent <= self._unsent - SLOWEST_BYTES:
            self._unsent, self._unsent_since = unsent, now
            return False
        self._unsent = max(self._unsent, unsent)
        if now - self._unsent_since <= self._limits.slow_reader_seconds:
            return False
        self._unsent_since = now  # said once: the connection needs a moment to end
        return True


class Peer(Protocol):
    """The other end of a connection, as `Connections` knows it."""

    standing: Standing

    def unsent(self) -> int:
        """Bytes that were written and that the caller has not taken."""
        ...

    def end(self, *, politely: bool) -> None:
        """Close the connection: politely, or without another word."""
        ...


class Connections:
    """All that are open, no more than there may be, and how many were closed for which reason."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._peers: dict[Peer, None] = {}  # in the order of their coming
        self._heads: dict[Peer, int] = {}
        self._held = 0
        self.closed: Counter[Reason] = Counter(dict.fromkeys(Reason, 0))

    def __len__(self) -> int:
        return len(self._peers)

    def enter(self, peer: Peer, now: float) -> bool:
        """Whether there is room for one more; if everybody who is here was let in, the newest has to go.

        Else the oldest of the others makes room: first who has had its time, then whoever came first. So a flood of
        strangers leaves each newcomer the time of a whole round, and a handshake takes far less.
        """
        if len(self._peers) >= self._limits.connections:
            self.closed[Reason.TOO_MANY] += 1
            oldest = self._stranger(now)
            if oldest is None:
                return False
            self.leave(oldest)
            oldest.standing.closing()
            oldest.end(politely=False)
        self._peers[peer] = None
        return True

    def _stranger(self, now: float) -> Peer | None:
        overdue = next((one for one in self._peers if one.standing.gives_way(now)), None)
        return overdue or next((one for one in self._peers if not one.standing.known), None)

    def leave(self, peer: Peer) -> None:
        """It is closed. May be said twice."""
        self._peers.pop(peer, None)
        self._held -= self._heads.pop(peer, 0)

    def weigh(self, peer: Peer) -> None:
        """It may hold more, or less, of a head now: all together hold `HEADS_BYTES`, or the largest has to go."""
        held = peer.standing.held
        self._held += held - self._heads.get(peer, 0)
        self._heads[peer] = held
        while self._held > HEADS_BYTES and self._heads:
            largest = max(self._heads, key=self._heads.__getitem__)
            self.end(largest, Reason.LARGE_HEAD)
            self.leave(largest)

    def sweep(self, now: float) -> None:
        """End every connection whose time is over."""
        for peer in tuple(self._peers):
            reason = peer.standing.overdue(now, peer.unsent())
            if reason:
                self.end(peer, reason)

    def end(self, peer: Peer, reason: Reason) -> None:
        """End this one, and count it."""
        self.closed[reason] += 1
        peer.standing.closing()
        peer.end(politely=reason is Reason.IDLE)

    def end_all(self) -> None:
        """End all of them: the process stops."""
        for peer in tuple(self._peers):
            peer.standing.closing()
            peer.end(politely=False)

    def engaged(self, now: float) -> int:
        """How many would miss an answer if all ended now."""
        return sum(peer.standing.engaged(now, peer.unsent()) for peer in self._peers)

    def states(self) -> Mapping[str, float]:
        """How many are at which stage."""
        found = Counter(peer.standing.stage for peer in self._peers)
        return {stage.value: found[stage] for stage in Stage}
