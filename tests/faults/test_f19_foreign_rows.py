"""F19: samples for objects or namespaces that were not asked for."""

from tests.support.fake_prometheus_answers import sample, vector
from tests.support.rig import rig


async def test_f19_other_objects_are_left_out():
    """Extra rows are counted and never used."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a"}, 1), sample({"pod": "intruder"}, 9)))
        judged = await it.judge("a")
        assert list(judged.values) == ["a"]
        assert judged.dropped == {"foreign": 1}


async def test_f19_the_same_name_in_another_namespace_is_left_out():
    """It neither counts nor makes the object ambiguous."""
    async with rig() as it:
        mine = sample({"pod": "a", "namespace": "mine"}, 1)
        theirs = sample({"pod": "a", "namespace": "theirs"}, 9)
        it.fake.answer("up", vector(theirs, mine, theirs))
        judged = await it.judge("a", namespace="mine")
        assert judged.values["a"].milli == 1000
        assert judged.dropped == {"foreign": 2}


async def test_f19_only_foreign_rows_are_no_value():
    """The object has none, whatever others have."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a", "namespace": "theirs"}, 9)))
        judged = await it.judge("a", namespace="mine")
        assert (judged.values, judged.missing) == ({}, {"a": "ObjectHasNoValue"})
