"""F10: a query that is too long for GET, or for a proxy."""

import pytest

from adapter import errors
from tests.support.fake_prometheus_answers import sample, vector
from tests.support.rig import rig


async def test_f10_long_queries_go_by_post():
    """A proxy that takes URLs of 4 KiB never sees more than the path."""
    query = 'up{pod=~"' + "|".join(f"web-{number}" for number in range(1500)) + '"}'
    assert 4096 < len(query) <= 16_384
    async with rig() as it:
        it.fake.max_url_bytes, it.fake.max_query_bytes = 4096, 16_384
        await it.take(query)
        assert it.fake.queries() == [query]


async def test_f10_three_thousand_pods_have_their_values():
    """Names are told apart here, not in the query."""
    names = [f"web-{number}" for number in range(3000)]
    async with rig() as it:
        it.fake.answer("up", vector(*(sample({"pod": name}, 1) for name in names)))
        judged = await it.judge(*names)
        assert list(judged.values) == names


async def test_f10_a_query_that_is_too_long_for_the_backend_is_the_rules_fault():
    """413 is RuleRejected: a repetition, or an old value, would hide it for ever."""
    async with rig() as it:
        it.fake.max_query_bytes = 1
        with pytest.raises(errors.RuleRejected, match="too long"):
            await it.take()
        assert len(it.fake.requests) == 1


async def test_f10_get_only_after_a_405():
    """A backend without POST is asked by GET, and that is remembered for some minutes."""
    async with rig() as it:
        it.fake.refuse_post = True
        await it.take("a")
        await it.take("b")
        assert [one.method for one in it.fake.requests] == ["POST", "GET", "GET"]
        it.fake.refuse_post = False
        it.clock.advance(301)
        await it.take("c")
        assert it.fake.requests[-1].method == "POST"
