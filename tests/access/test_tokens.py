"""Whose a token is, and how long that is believed."""

import asyncio

import pytest

from adapter import errors
from adapter.access import tokens
from adapter.access.tokens import Tokens
from adapter.wire.identity import User
from tests.support import leaks
from tests.support.sleeper import settle

JANE = User("jane", groups=("dev",))


@pytest.fixture
def outcomes():
    return []


@pytest.fixture
def found(reviews, clock, outcomes):
    reviews.users["good"] = JANE
    return Tokens(reviews, clock, count=outcomes.append)


async def test_a_good_token_is_somebodys(found, outcomes):
    """The API server says whose."""
    assert await found.user("good") == JANE
    assert outcomes == ["known"]


async def test_a_bad_token_is_nobodys(found, outcomes):
    """That is an answer too, and no failure."""
    assert await found.user("bad") is None
    assert outcomes == ["unknown"]


@pytest.mark.parametrize("token", ["good", "bad"])
async def test_answers_hold_for_some_seconds(found, reviews, clock, token):
    """Good and bad alike, and no longer."""
    first = await found.user(token)
    clock.advance(tokens.TTL_SECONDS - 0.1)
    assert await found.user(token) == first
    assert len(reviews.asked) == 1
    clock.advance(0.1)
    await found.user(token)
    assert len(reviews.asked) == 2


async def test_a_revoked_token_is_refused_after_that(found, reviews, clock):
    """The new answer replaces the old."""
    assert await found.user("good") == JANE
    del reviews.users["good"]
    clock.advance(tokens.TTL_SECONDS)
    assert await found.user("good") is None
    reviews.users["good"] = JANE
    clock.advance(tokens.TTL_SECONDS)
    assert await found.user("good") == JANE


async def test_the_life_of_answers_is_a_setting(reviews, clock):
    """0 keeps nothing."""
    found = Tokens(reviews, clock, ttl_seconds=0)
    await found.user("x")
    await found.user("x")
    assert len(reviews.asked) == 2


async def test_failures_are_not_kept(found, reviews, outcomes):
    """The next question is asked anew."""
    reviews.failures += [errors.AccessUnknown("a"), errors.AccessUnknown("b")]
    with pytest.raises(errors.AccessUnknown, match="b"):
        await found.user("good")
    assert await found.user("good") == JANE
    assert outcomes == ["failed", "known"]


async def test_equal_questions_at_once_are_one_review(found, reviews):
    """However many ask."""
    reviews.hold()
    tasks = [asyncio.create_task(found.user("good")) for _ in range(50)]
    await settle()
    reviews.go()
    assert await asyncio.gather(*tasks) == [JANE] * 50
    assert reviews.asked == ["good"]


async def test_tokens_are_kept_as_digests(found):
    """A dump of the memory of this room has no token in it."""
    for token in ("good", "bad"):
        await found.user(token)
    kept = [*found._known, *found._unknown]
    assert {len(key) for key in kept} == {32}
    assert b"good" not in kept


@pytest.mark.parametrize("token", ["é", "\udcff", "a\u2028b"])
async def test_what_no_token_is_made_of_is_not_asked(found, reviews, token):
    """Tokens are ASCII."""
    assert await found.user(token) is None
    assert reviews.asked == []


async def test_bad_tokens_do_not_push_out_good_ones(found, reviews):
    """Nor fill the memory."""
    await found.user("good")
    for number in range(tokens.MOST_KEPT + 10):
        await found.user(f"bad-{number}")
    assert len(found._unknown) == tokens.MOST_KEPT
    reviews.asked.clear()
    await found.user("good")
    assert reviews.asked == []


async def test_good_ones_are_bounded_too(found, reviews):
    """The oldest goes."""
    for number in range(tokens.MOST_KEPT + 10):
        reviews.users[f"{number}"] = JANE
        await found.user(f"{number}")
    assert len(found._known) == tokens.MOST_KEPT


async def test_closing_ends_reviews(found, reviews):
    """Nothing stays."""
    async with leaks.nothing_left():
        reviews.hold()
        task = asyncio.create_task(found.user("good"))
        await settle()
        await found.close()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_hanging_review_is_a_failure(reviews, clock, outcomes):
    """In the time that is set."""
    reviews.hold()
    found = Tokens(reviews, clock, review_seconds=0.01, count=outcomes.append)
    with pytest.raises(errors.AccessUnknown, match=r"no token review within 0\.01 s"):
        await found.user("good")
    assert outcomes == ["failed"]
