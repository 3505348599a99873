"""F34: random names, selectors and tokens, sent to fill the memory.

To see them fail: put a dict in place of a cache in `flows/answer.py`, `snapshots/cache.py`, `access/tokens.py`,
`access/permissions.py` or `access/front_proxy.py`, or leave out its `getsizeof`; let `InFlight.place` take everybody; keep
in `Answers` or `Snapshots` what failed.
"""

import asyncio
import random
import string

import pytest

from adapter import errors
from adapter.access import front_proxy, permissions, tokens
from adapter.access.authority import Authority
from adapter.access.permissions import Permissions
from adapter.access.tokens import Tokens
from adapter.flows import answer
from adapter.promql.vector import Result, Sample
from adapter.snapshots import cache
from adapter.snapshots.cache import Key, SnapshotCache
from adapter.snapshots.snapshot import Snapshot
from adapter.wire.identity import Attributes, User
from tests.support.certificates import NOW
from tests.support.clock import FakeClock
from tests.support.kit import GOROUTINES, PODS, FakeBackend, goroutines
from tests.support.reviewing import Reviewing
from tests.support.sleeper import settle

JANE = User("jane")


@pytest.fixture
def word():
    """What makes words that nobody has said before; the same ones in each run."""
    chance = random.Random(34)
    return lambda: "".join(chance.choices(string.ascii_lowercase, k=12))


def remembered(kit):
    return kit.parts.answers._remembered


# -- answers


async def test_f34_remembered_questions_have_a_weight(word):
    """A question about many pods weighs more, and all together stay below the bound, whatever the selectors."""
    pods = (f"web-{number}" for number in range(3_000))
    # the question is cut into parts, and this backend gives the same sample for each
    kit = await goroutines(*pods, rules=f"{GOROUTINES}  onDuplicate: last\n")
    kit.backend.samples = [({"pod": "web-1"}, 1.0)]
    for _ in range(30):
        reply = await kit.ask(f"{PODS}/*/goroutines", {"metricLabelSelector": f"{word()}={word()}"})
        assert reply.status == 200
    kept = remembered(kit)
    assert 1 < len(kept) < 30
    assert sum(one.weight() for one in kept.values()) <= answer.REMEMBERED_BYTES


async def test_f34_nothing_of_a_failure_is_kept(word):
    """Neither of names that nobody offers, nor of objects that are not there, nor of a backend that fails."""
    kit = await goroutines(ttl=5.0)
    kit.backend.failure = errors.BackendUnavailable("unable to fetch metrics")
    for _ in range(50):
        assert (await kit.ask(f"{PODS}/*/{word()}")).cause == "MetricUnknown"
        assert (await kit.ask(f"{PODS}/*/goroutines", {"labelSelector": word()})).cause == "NoObjects"
        assert (await kit.ask(f"{PODS}/*/goroutines", {"labelSelector": f"{word()}=("})).status == 400
        assert (await kit.ask(f"/apis/custom.metrics.k8s.io/v1beta2/{word()}/*/{word()}")).status == 404
        assert (await kit.ask(f"/{word()}")).status == 404
    assert len(remembered(kit)) == 0
    for _ in range(50):
        assert (await kit.ask(f"{PODS}/{word()}/goroutines")).cause == "BackendUnavailable"
    assert len(kit.snapshots._cache) == 0
    kit.backend.failure = None
    kit.backend.samples = [({"pod": "web-1"}, 1.0)]
    assert (await kit.ask(f"{PODS}/web-1/goroutines")).status == 200


async def test_f34_only_known_kinds_are_followed(word):
    """Made-up resources start no list and no watch."""
    kit = await goroutines()
    for _ in range(50):
        await kit.ask(f"/apis/custom.metrics.k8s.io/v1beta2/namespaces/{word()}/{word()}/*/goroutines")
    assert kit.objects.asked == []


async def test_f34_own_metrics_have_no_labels_from_callers(word):
    """However many names are asked for, there are no more time series than after the first ones."""
    kit = await goroutines()

    async def some():
        for _ in range(20):
            for path in (
                f"/{word()}",
                f"{PODS}/*/{word()}",
                f"{PODS}/{word()}/goroutines",
                f"/apis/{word()}",
            ):
                await kit.ask(path, {"labelSelector": word()})
        return {line.rpartition(" ")[0] for line in kit.metrics.exposition().decode().splitlines()}

    assert await some() == await some()


async def test_f34_questions_in_flight_are_bounded(word):
    """A backend that answers nobody holds 200 questions; all others are refused, and wait for nothing."""
    going = asyncio.Event()

    class Silent(FakeBackend):
        async def instant(self, promql, *, deadline):
            await going.wait()
            return await super().instant(promql, deadline=deadline)

    kit = await goroutines(backend=Silent())
    asked = [asyncio.create_task(kit.ask(f"{PODS}/{word()}/goroutines")) for _ in range(300)]
    await settle()
    refused = [one.result().cause for one in asked if one.done()]
    assert refused == ["Overloaded"] * 100
    assert len(kit.snapshots._flights) == 200
    going.set()
    await asyncio.gather(*asked)
    assert len(kit.snapshots._flights) == 0


# -- snapshots


def snapshot(samples: int) -> Snapshot:
    return Snapshot(Result("vector", (Sample({}, 1.0, 0.0),) * samples, (), 0), 1000.0)


def test_f34_snapshots_are_bounded_in_number_and_weight(word):
    """10,000 small ones; of large ones as many as weigh the same; of long queries, too."""
    small, large, long = (SnapshotCache(5.0, random=lambda: 0.5) for _ in range(3))
    one, thousand = snapshot(1), snapshot(1_000)
    for _ in range(cache.MAX_ENTRIES + 500):
        small.put(Key(word(), "refuse", 30.0), one)
    for _ in range(200):
        large.put(Key(word(), "refuse", 30.0), thousand)
    filler = "x" * (499 * cache.UNIT_BYTES)
    for _ in range(300):
        long.put(Key(f"{word()}{filler}", "refuse", 30.0), one)
    assert len(small) == cache.MAX_ENTRIES
    assert len(large) == cache.MAX_ENTRIES * cache.SMALLEST_WEIGHT // 1_000
    assert len(long) == cache.MAX_ENTRIES * cache.SMALLEST_WEIGHT // 500


# -- access


async def test_f34_decisions_are_bounded(word):
    """4,096 tokens that are known and as many that are not; decisions to allow and to deny alike."""
    reviews = Reviewing({"good": JANE}, {"jane"})
    owners, rights = Tokens(reviews, FakeClock()), Permissions(reviews, FakeClock())
    for _ in range(tokens.MOST_KEPT + 100):
        name = word()
        reviews.users[name] = JANE
        assert await owners.user(name) == JANE
        assert await owners.user(f"bad-{name}") is None
        await rights.check(JANE, Attributes("get", path=f"/{name}"))
        with pytest.raises(errors.NotAllowed):
            await rights.check(User(name), Attributes("get", path="/"))
    kept = (owners._known, owners._unknown, rights._allowed, rights._denied)
    assert [len(one) for one in kept] == [tokens.MOST_KEPT] * 2 + [permissions.MOST_KEPT] * 2


def test_f34_verdicts_on_certificates_are_bounded(word):
    """Each connection may show another one."""
    for _ in range(front_proxy.MOST_REMEMBERED + 100):
        assert front_proxy.which(word().encode(), Authority(), NOW) is None
    assert len(front_proxy._remembered) == front_proxy.MOST_REMEMBERED


async def test_f34_failed_reviews_are_not_kept(word):
    """Of a flood while the API server is away nothing stays."""
    reviews = Reviewing()
    reviews.failures = [errors.AccessUnknown("away")] * 400
    owners, rights = Tokens(reviews, FakeClock()), Permissions(reviews, FakeClock())
    for _ in range(100):
        with pytest.raises(errors.AccessUnknown):
            await owners.user(word())
        with pytest.raises(errors.AccessUnknown):
            await rights.check(User(word()), Attributes("get", path="/"))
    kept = (owners._known, owners._unknown, rights._allowed, rights._denied)
    assert [len(one) for one in (*kept, owners._asking._flights, rights._asking._flights)] == [0] * 6
