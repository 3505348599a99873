"""Snapshots live for a while, and a while longer as stale ones."""

import pytest

from adapter.promql.vector import Result, Sample
from adapter.snapshots.cache import Held, Key, SnapshotCache
from adapter.snapshots.snapshot import Snapshot


def _key(query: str = "up", *, max_stale: float = 30.0) -> Key:
    return Key(query, "refuse", max_stale)


UP = _key()
NEVER_STALE = _key(max_stale=0.0)


def _snapshot(at: float, samples: int = 1) -> Snapshot:
    rows = tuple(Sample({}, 1.0, at) for _ in range(samples))
    return Snapshot(Result(kind="vector", samples=rows, warnings=(), histograms=0), at)


def _cache(ttl: float = 5.0, *, random: float = 0.5, entries: int = 100) -> SnapshotCache:
    return SnapshotCache(ttl, random=lambda: random, entries=entries)


@pytest.mark.parametrize(
    ("now", "found"),
    [(100.0, True), (104.99, True), (105.0, False), (129.9, False), (130.0, None), (1000.0, None)],
)
def test_a_snapshot_is_fresh_then_stale_then_gone(now, found):
    """Five seconds of life; for a failing backend until it is thirty seconds old."""
    cache, snapshot = _cache(), _snapshot(100.0)
    cache.put(UP, snapshot)
    assert cache.get(UP, now) == (None if found is None else Held(snapshot, found))


@pytest.mark.parametrize(("random", "life"), [(0.0, 4.5), (0.5, 5.0), (1.0, 5.5)])
def test_lives_are_spread_by_a_tenth(random, life):
    """What came together does not end together."""
    cache = _cache(random=random)
    cache.put(NEVER_STALE, _snapshot(100.0))
    assert cache.get(NEVER_STALE, 100.0 + life - 0.01) is not None
    assert cache.get(NEVER_STALE, 100.0 + life + 0.01) is None


def test_no_life_keeps_nothing():
    """With a life of 0 there is neither cache nor stale answer."""
    cache = _cache(0.0)
    cache.put(UP, _snapshot(100.0))
    assert cache.get(UP, 100.0) is None
    assert len(cache) == 0


def test_no_max_stale_ends_with_the_life():
    """maxStale: 0 means never stale."""
    cache = _cache()
    cache.put(NEVER_STALE, _snapshot(100.0))
    assert cache.get(NEVER_STALE, 105.0) is None


def test_a_newer_snapshot_takes_the_place_of_the_old_one():
    """One entry per key."""
    cache, newer = _cache(), _snapshot(110.0)
    cache.put(UP, _snapshot(100.0))
    cache.put(UP, newer)
    assert cache.get(UP, 112.0) == Held(newer, fresh=True)
    assert len(cache) == 1


def test_entries_are_bounded_and_the_least_used_go_first():
    """A flood of distinct queries does not grow memory."""
    cache = _cache(entries=3)
    for name in "abc":
        cache.put(_key(name), _snapshot(100.0))
    cache.get(_key("a"), 101.0)
    cache.put(_key("d"), _snapshot(101.0))
    assert [cache.get(_key(name), 101.0) is not None for name in "abcd"] == [True, False, True, True]


def test_samples_are_bounded_too():
    """Large answers weigh what they hold, and one larger than all of the cache is not kept."""
    cache = _cache(entries=10)
    cache.put(_key("a"), _snapshot(100.0, samples=60))
    cache.put(_key("b"), _snapshot(100.0, samples=60))
    assert cache.get(_key("a"), 100.0) is None
    assert cache.get(_key("b"), 100.0) is not None
    cache.put(_key("c"), _snapshot(100.0, samples=101))
    assert cache.get(_key("c"), 100.0) is None


def test_what_is_gone_takes_no_room():
    """Ended entries are dropped when others come."""
    cache = _cache()
    for number in range(50):
        cache.put(_key(str(number)), _snapshot(100.0))
    cache.put(_key("new"), _snapshot(1000.0))
    assert len(cache) == 1


def test_queries_weigh_too():
    """Ten long queries without a sample take the room of many short ones."""
    cache = _cache(entries=10)
    long = [_key(f"{number}".ljust(16_384, "x")) for number in range(10)]
    for key in long:
        cache.put(key, _snapshot(100.0, samples=0))
    assert len(cache) == 3  # 27 units of 600 bytes each, of 100 in all
    cache = _cache(entries=10)
    for number in range(10):
        cache.put(_key(f"{number}".ljust(6000, "x")), _snapshot(100.0, samples=0))
    assert len(cache) == 10


def test_query_and_samples_weigh_together():
    """An answer that just fits by itself does not with a long query."""
    cache = _cache(entries=10)
    cache.put(UP, _snapshot(100.0, samples=100))
    assert cache.get(UP, 100.0) is not None
    long = _key("x" * 600)
    cache.put(long, _snapshot(100.0, samples=100))
    assert cache.get(long, 100.0) is None


def test_a_doubt_is_remembered_for_five_seconds():
    """That is what the next flight may take."""
    cache = _cache()
    cache.put(UP, _snapshot(100.0))
    cache.doubt(UP, "BackendTimeout", 110.0)
    for now, doubt in ((110.0, "BackendTimeout"), (114.9, "BackendTimeout"), (115.0, None)):
        assert cache.get(UP, now) == Held(_snapshot(100.0), fresh=False, doubt=doubt)


def test_a_doubt_ends_with_a_new_snapshot_and_by_word():
    """Neither a success nor another failure leaves it standing."""
    cache = _cache()
    cache.put(UP, _snapshot(100.0))
    cache.doubt(UP, "BackendTimeout", 110.0)
    cache.doubt(UP, None, 111.0)
    assert cache.get(UP, 111.0) == Held(_snapshot(100.0), fresh=False)
    cache.doubt(UP, "BackendTimeout", 112.0)
    cache.put(UP, _snapshot(113.0))
    assert cache.get(UP, 113.0) == Held(_snapshot(113.0), fresh=True)


def test_a_doubt_without_a_snapshot_is_not_kept():
    """It would only take room: there is nothing that could answer at once."""
    cache = _cache()
    cache.doubt(UP, "BackendTimeout", 100.0)
    assert len(cache) == 0
    cache.put(UP, _snapshot(100.0))
    assert cache.get(UP, 101.0) == Held(_snapshot(100.0), fresh=True)
