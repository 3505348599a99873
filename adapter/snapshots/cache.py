"""The cache of snapshots: each lives for a set time, and is kept longer for a failing backend. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from cachetools import TLRUCache

from adapter.snapshots.snapshot import Snapshot

MAX_ENTRIES: Final = 10_000
"""Distinct queries held at most: one per metric, namespace and selector in use."""

UNIT_BYTES: Final = 600
"""What one sample weighs, about. It is the unit of an entry's weight."""

SMALLEST_WEIGHT: Final = 10
"""An entry weighs a unit per sample and per UNIT_BYTES of its query, but at least this: together all entries may
hold MAX_ENTRIES * SMALLEST_WEIGHT units, which are about 64 MiB."""

SPREAD: Final = 0.1
"""Part of its life by which an entry's end is moved either way: what came together must not end together."""

DOUBT_SECONDS: Final = 5.0
"""How long a failure to renew a snapshot is remembered: what a flight may take, so that of those who ask all the
time while a backend hangs only the first one waits. Longer would keep old values after a passing fault."""


class Key(NamedTuple):
    """A query, and the parts of the policy that decide what is kept of its answer and how long."""

    query: str
    on_warnings: str
    max_stale: float


@dataclass(frozen=True, slots=True)
class Held:
    """A snapshot of the cache; `fresh`: whether it still lives; `doubt`: why it could not be renewed just now."""

    snapshot: Snapshot
    fresh: bool
    doubt: str | None = None


@dataclass(slots=True)
class _Entry:
    snapshot: Snapshot
    fresh_until: float
    kept_until: float
    weight: int
    doubt: str | None = None
    doubted_until: float = 0.0


class SnapshotCache:
    """This holds snapshots by key. `random` gives numbers from 0 to 1; a life of 0 seconds keeps nothing."""

    def __init__(
        self, ttl_seconds: float, *, random: Callable[[], float], entries: int = MAX_ENTRIES
    ) -> None:
        self._ttl_seconds, self._random = ttl_seconds, random
        self._now = 0.0
        self._entries: TLRUCache[Key, _Entry] = TLRUCache(
            entries * SMALLEST_WEIGHT, ttu=_kept_until, timer=self._time, getsizeof=_weight
        )

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key, now: float) -> Held | None:
        """What is held, or None if none may be used, not even as a stale one."""
        self._now = now
        entry = self._entries.get(key)
        if entry is None:
            return None
        doubt = entry.doubt if now < entry.doubted_until else None
        return Held(entry.snapshot, now < entry.fresh_until, doubt)

    def put(self, key: Key, snapshot: Snapshot) -> None:
        """Keep `snapshot` for its life, and for a failing backend until it is the key's `max_stale` seconds old."""
        if self._ttl_seconds <= 0:
            return
        self._now = snapshot.at
        life = self._ttl_seconds * (1 - SPREAD + 2 * SPREAD * self._random())
        fresh_until = snapshot.at + life
        weight = len(snapshot.result.samples) + len(key.query) // UNIT_BYTES
        kept_until = max(fresh_until, snapshot.at + key.max_stale)
        entry = _Entry(snapshot, fresh_until, kept_until, max(SMALLEST_WEIGHT, weight))
        if entry.weight <= self._entries.maxsize:
            self._entries[key] = entry

    def doubt(self, key: Key, cause: str | None, now: float) -> None:
        """Renewing the snapshot failed, or begins after it failed: by the word `cause`. None: no doubt any more."""
        self._now = now
        entry = self._entries.get(key)
        if entry is not None:
            entry.doubt, entry.doubted_until = cause, now + DOUBT_SECONDS

    def _time(self) -> float:
        return self._now


def _kept_until(_key: Key, entry: _Entry, _now: float) -> float:
    return entry.kept_until


def _weight(entry: _Entry) -> int:
    return entry.weight
