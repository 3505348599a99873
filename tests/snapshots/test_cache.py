"""Snapshots live for a while, and a while longer as stale ones."""

import pytest

from adapter.promql.vector import Result, Sample
from adapter.snapshots.cache import SnapshotCache
from adapter.snapshots.snapshot import Snapshot


def _snapshot(at: float, samples: int = 1) -> Snapshot:
    rows = tuple(Sample({}, 1.0, at) for _ in range(samples))
    return Snapshot(Result(kind="vector", samples=rows, warnings=(), infos=(), histograms=0), at)


def _cache(ttl: float = 5.0, *, random: float = 0.5, entries: int = 100) -> SnapshotCache:
    return SnapshotCache(ttl, random=lambda: random, entries=entries)


@pytest.mark.parametrize(
    ("now", "found"),
    [(100.0, True), (104.99, True), (105.0, False), (134.9, False), (135.0, None), (1000.0, None)],
)
def test_a_snapshot_is_fresh_then_stale_then_gone(now, found):
    """Five seconds of life, thirty more for a failing backend."""
    cache, snapshot = _cache(), _snapshot(100.0)
    cache.put("up", snapshot, max_stale=30.0)
    assert cache.get("up", now) == (None if found is None else (snapshot, found))


@pytest.mark.parametrize(("random", "life"), [(0.0, 4.5), (0.5, 5.0), (1.0, 5.5)])
def test_lives_are_spread_by_a_tenth(random, life):
    """What came together does not end together."""
    cache = _cache(random=random)
    cache.put("up", _snapshot(100.0), max_stale=0.0)
    assert cache.get("up", 100.0 + life - 0.01) is not None
    assert cache.get("up", 100.0 + life + 0.01) is None


def test_no_life_keeps_nothing():
    """With a life of 0 there is neither cache nor stale answer."""
    cache = _cache(0.0)
    cache.put("up", _snapshot(100.0), max_stale=30.0)
    assert cache.get("up", 100.0) is None
    assert len(cache) == 0


def test_no_max_stale_ends_with_the_life():
    """maxStale: 0 means never stale."""
    cache = _cache()
    cache.put("up", _snapshot(100.0), max_stale=0.0)
    assert cache.get("up", 105.0) is None


def test_a_newer_snapshot_takes_the_place_of_the_old_one():
    """One entry per key."""
    cache, newer = _cache(), _snapshot(110.0)
    cache.put("up", _snapshot(100.0), max_stale=30.0)
    cache.put("up", newer, max_stale=30.0)
    assert cache.get("up", 112.0) == (newer, True)
    assert len(cache) == 1


def test_entries_are_bounded_and_the_least_used_go_first():
    """A flood of distinct queries does not grow memory."""
    cache = _cache(entries=3)
    for name in "abc":
        cache.put(name, _snapshot(100.0), max_stale=30.0)
    cache.get("a", 101.0)
    cache.put("d", _snapshot(101.0), max_stale=30.0)
    assert [cache.get(name, 101.0) is not None for name in "abcd"] == [True, False, True, True]


def test_samples_are_bounded_too():
    """Large answers weigh what they hold, and one larger than all of the cache is not kept."""
    cache = _cache(entries=10)
    cache.put("a", _snapshot(100.0, samples=60), max_stale=30.0)
    cache.put("b", _snapshot(100.0, samples=60), max_stale=30.0)
    assert cache.get("a", 100.0) is None
    assert cache.get("b", 100.0) is not None
    cache.put("c", _snapshot(100.0, samples=101), max_stale=30.0)
    assert cache.get("c", 100.0) is None


def test_what_is_gone_takes_no_room():
    """Ended entries are dropped when others come."""
    cache = _cache()
    for number in range(50):
        cache.put(number, _snapshot(100.0), max_stale=30.0)
    cache.put("new", _snapshot(1000.0), max_stale=30.0)
    assert len(cache) == 1
