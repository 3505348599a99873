"""F15: an empty result is never a zero, and its reason is kept.

The reasons that arise before a query is asked (no series, no object) are tests of the catalog and of the answer.
"""

import pytest

from tests.support.fake_prometheus_answers import sample, success, vector
from tests.support.rig import rig


@pytest.mark.parametrize(
    "reply", [vector(), success({"resultType": "vector", "result": None})], ids=["empty list", "null"]
)
async def test_f15_no_sample(reply):
    """The query gives nothing at all."""
    async with rig() as it:
        it.fake.answer("up", reply)
        judged = await it.judge("a", "b")
        assert (judged.values, judged.missing) == ({}, {"a": "NoSample", "b": "NoSample"})


async def test_f15_object_without_sample():
    """Others have one."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a"}, 1)))
        judged = await it.judge("a", "b")
        assert judged.missing == {"b": "ObjectHasNoValue"}
        assert "b" not in judged.values


async def test_f15_no_label():
    """The query lost the label that names the object: counted apart, for who looks for the reason."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({}, 1)))
        judged = await it.judge("a")
        assert (judged.values, judged.missing) == ({}, {"a": "ObjectHasNoValue"})
        assert judged.dropped == {"unlabelled": 1}
