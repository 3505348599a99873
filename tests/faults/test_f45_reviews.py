"""F45: the API server's reviews fail, are slow, or are asked for in floods.

To see them fail: let `Asking._tried` return False or None after a failure; keep failures in `_review`; widen
`asking.AT_ONCE`; key the cache of tokens by the token itself.
"""

import asyncio
import hashlib

import pytest

from adapter import errors
from adapter.access.permissions import Permissions
from adapter.access.tokens import Tokens
from adapter.wire import status
from adapter.wire.identity import Attributes, User
from tests.support import leaks
from tests.support.clock import FakeClock
from tests.support.reviewing import Reviewing
from tests.support.sleeper import settle

AT_ONCE = 10
FLOOD = 10_000
JANE = User("jane")
VALUES = Attributes("get", "custom.metrics.k8s.io", "v1beta2", "pods", "rps", "*", "shop")
DISCOVERY = Attributes("get", path="/apis/custom.metrics.k8s.io/v1beta2")


@pytest.fixture
def reviews():
    return Reviewing({"good": JANE}, {"jane"})


@pytest.fixture
def tokens(reviews):
    return Tokens(reviews, FakeClock())


@pytest.fixture
def permissions(reviews):
    return Permissions(reviews, FakeClock())


def down(reviews, times=1_000):
    reviews.failures = [errors.AccessUnknown("the API server did not review: Connect")] * times


# -- they fail


async def test_f45_a_failing_review_lets_nobody_in(reviews, tokens, permissions):
    """Neither the owner of a good token nor who may: it is 503, and asked twice."""
    down(reviews)
    for asked in (tokens.user("good"), permissions.check(JANE, VALUES)):
        before = len(reviews.asked)
        with pytest.raises(errors.AccessUnknown) as caught:
            await asked
        assert len(reviews.asked) == before + 2
        code, body = status.failure(caught.value, compat=False)
        assert code == 503
        assert b"AccessUnknown" in body


async def test_f45_a_single_failure_is_bridged(reviews, tokens, permissions):
    """One retry."""
    down(reviews, times=1)
    assert await tokens.user("good") == JANE
    down(reviews, times=1)
    await permissions.check(JANE, VALUES)


async def test_f45_failures_are_never_kept(reviews, tokens, permissions):
    """The API server is back: the very next question is answered."""
    down(reviews, times=2)
    with pytest.raises(errors.AccessUnknown):
        await tokens.user("good")
    assert await tokens.user("good") == JANE
    down(reviews, times=2)
    with pytest.raises(errors.AccessUnknown):
        await permissions.check(JANE, VALUES)
    await permissions.check(JANE, VALUES)


async def test_f45_discovery_is_refused_at_worst(reviews, permissions):
    """Never a 5xx; and for whom the front proxy speaks it needs no review."""
    down(reviews)
    await permissions.check_discovery(User("system:kube-aggregator", proxied=True), DISCOVERY)
    assert reviews.asked == []
    with pytest.raises(errors.NotAllowed):
        await permissions.check_discovery(JANE, DISCOVERY)


async def test_f45_what_was_decided_bridges_a_short_outage(reviews, tokens, permissions):
    """For the ten seconds that decisions hold, and not for longer."""
    clock = FakeClock()
    tokens, permissions = Tokens(reviews, clock), Permissions(reviews, clock)
    await tokens.user("good")
    await permissions.check(JANE, VALUES)
    down(reviews)
    clock.advance(9)
    assert await tokens.user("good") == JANE
    await permissions.check(JANE, VALUES)
    clock.advance(1)
    with pytest.raises(errors.AccessUnknown):
        await tokens.user("good")
    with pytest.raises(errors.AccessUnknown):
        await permissions.check(JANE, VALUES)


# -- they are slow


async def test_f45_a_slow_review_is_not_waited_for(reviews):
    """Within its time the caller knows, and nothing is left behind."""
    reviews.hold()
    clock = FakeClock()
    async with leaks.nothing_left():
        tokens = Tokens(reviews, clock, review_seconds=0.02)
        permissions = Permissions(reviews, clock, review_seconds=0.02)
        for asked in (tokens.user("good"), permissions.check(JANE, VALUES)):
            with pytest.raises(errors.AccessUnknown, match=r"within 0\.02 s"):
                await asked
    assert reviews.under_way == 0


# -- they are flooded


async def test_f45_ten_thousand_random_tokens_are_ten_reviews_at_once(reviews, tokens):
    """The API server sees a trickle; each caller is refused, one way or the other, and memory is bounded."""
    reviews.hold()
    asked = [asyncio.create_task(tokens.user(f"random-{number}")) for number in range(FLOOD)]
    await settle()
    assert reviews.under_way == AT_ONCE
    reviews.go()
    results = await asyncio.gather(*asked, return_exceptions=True)
    assert reviews.most_under_way == AT_ONCE
    assert all(one is None or isinstance(one, errors.AccessUnknown) for one in results)
    assert results.count(None) == len(reviews.asked) <= 1000
    assert len(tokens._unknown) <= 4096


async def test_f45_one_after_the_other_they_are_all_answered(reviews, tokens):
    """No good token is pushed out by them."""
    assert await tokens.user("good") == JANE
    for number in range(FLOOD):
        assert await tokens.user(f"random-{number}") is None
    down(reviews)
    assert await tokens.user("good") == JANE


async def test_f45_a_flood_of_tokens_does_not_hold_up_permissions(reviews, tokens, permissions):
    """Those who come through the front proxy wait for none of it."""
    reviews.hold()
    flood = [asyncio.create_task(tokens.user(f"random-{number}")) for number in range(100)]
    await settle()
    allowed = asyncio.create_task(permissions.check(JANE, VALUES))
    await settle()
    assert (JANE, VALUES) in reviews.asked
    reviews.go()
    await asyncio.gather(allowed, *flood)


async def test_f45_the_same_question_is_one_review(reviews, tokens, permissions):
    """However many ask at once."""
    reviews.hold()
    asked = [asyncio.create_task(tokens.user("good")) for _ in range(100)]
    asked += [asyncio.create_task(permissions.check(JANE, VALUES)) for _ in range(100)]
    await settle()
    reviews.go()
    await asyncio.gather(*asked)
    assert len(reviews.asked) == 2


async def test_f45_keys_are_digests(tokens):
    """A token stands in no memory that outlives its review."""
    await tokens.user("good")
    await tokens.user("bad")
    assert list(tokens._known) == [hashlib.sha256(b"good").digest()]
    assert list(tokens._unknown) == [hashlib.sha256(b"bad").digest()]
