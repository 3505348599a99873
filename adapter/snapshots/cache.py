"""The cache of snapshots: each lives for a set time, and is kept longer for a failing backend. Pure."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

from cachetools import TLRUCache

from adapter.snapshots.snapshot import Snapshot

MAX_ENTRIES: Final = 10_000
"""Distinct queries held at most: one per metric, namespace and selector in use."""

SMALLEST_WEIGHT: Final = 10
"""An entry weighs as many units as it has samples, but at least this: together all entries may hold
MAX_ENTRIES * SMALLEST_WEIGHT samples, which are about 64 MiB at 600 bytes each."""

SPREAD: Final = 0.1
"""Part of its life by which an entry's end is moved either way: what came together must not end together."""


@dataclass(frozen=True, slots=True)
class _Entry:
    snapshot: Snapshot
    fresh_until: float
    kept_until: float


class SnapshotCache:
    """This holds snapshots by key. `random` gives numbers from 0 to 1; a life of 0 seconds keeps nothing."""

    def __init__(
        self, ttl_seconds: float, *, random: Callable[[], float], entries: int = MAX_ENTRIES
    ) -> None:
        self._ttl_seconds, self._random = ttl_seconds, random
        self._now = 0.0
        self._entries: TLRUCache[Hashable, _Entry] = TLRUCache(
            entries * SMALLEST_WEIGHT, ttu=_kept_until, timer=self._time, getsizeof=_weight
        )

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable, now: float) -> tuple[Snapshot, bool] | None:
        """(snapshot, whether it still lives), or None if none may be used, not even as a stale one."""
        self._now = now
        entry = self._entries.get(key)
        return None if entry is None else (entry.snapshot, now < entry.fresh_until)

    def put(self, key: Hashable, snapshot: Snapshot, *, max_stale: float) -> None:
        """Keep `snapshot` for its life and `max_stale` seconds more."""
        if self._ttl_seconds <= 0:
            return
        self._now = snapshot.at
        life = self._ttl_seconds * (1 - SPREAD + 2 * SPREAD * self._random())
        fresh_until = snapshot.at + life
        entry = _Entry(snapshot, fresh_until, fresh_until + max_stale)
        if _weight(entry) <= self._entries.maxsize:
            self._entries[key] = entry

    def _time(self) -> float:
        return self._now


def _kept_until(_key: Hashable, entry: _Entry, _now: float) -> float:
    return entry.kept_until


def _weight(entry: _Entry) -> int:
    return max(SMALLEST_WEIGHT, len(entry.snapshot.result.samples))
