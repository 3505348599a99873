"""F05: partial answers and warnings."""

from dataclasses import replace

import pytest

from adapter import errors
from adapter.rulebook.model import Policy
from tests.support.fake_prometheus_answers import sample, vector
from tests.support.rig import rig

WARNING = "No StoreAPIs matched for this query"
INFO = "PromQL info: metric might not be a counter"
ROW = sample({"pod": "a"}, 1)


async def test_f05_the_backend_is_told_to_fail_instead():
    """Thanos leaves out what it cannot reach, unless it is told not to."""
    async with rig() as it:
        await it.take()
        assert it.fake.requests[0].form["partial_response"] == "false"


async def test_f05_warnings_are_refused():
    """A sum over a part of the data is a wrong number."""
    async with rig() as it:
        it.fake.answer("up", vector(ROW, warnings=[WARNING]))
        with pytest.raises(errors.BackendPartial) as caught:
            await it.take()
        assert WARNING not in caught.value.message


async def test_f05_refused_answers_are_not_kept():
    """The next question asks again, and a whole answer counts."""
    async with rig() as it:
        it.fake.answer("up", vector(ROW, warnings=[WARNING]), vector(ROW))
        with pytest.raises(errors.BackendPartial):
            await it.take()
        assert (await it.take()).cause is None


async def test_f05_a_partial_answer_does_not_replace_a_whole_one():
    """The last whole answer stands in while the backend is partial."""
    async with rig() as it:
        it.fake.answer("up", vector(ROW), vector(sample({"pod": "a"}, 0), warnings=[WARNING]))
        await it.take()
        it.clock.advance(6)
        taken = await it.take()
        assert taken.cause == "BackendPartial"
        assert taken.snapshot.result.samples[0].value == 1


@pytest.mark.parametrize(
    "reply", [vector(ROW, infos=[INFO]), vector(ROW, warnings=[INFO])], ids=["as infos", "as a warning"]
)
async def test_f05_infos_are_no_warnings(reply):
    """Newer servers send them apart, older ones among the warnings."""
    async with rig() as it:
        it.fake.answer("up", reply)
        assert (await it.take()).cause is None


async def test_f05_warnings_count_beside_infos():
    """One true warning is enough."""
    async with rig() as it:
        it.fake.answer("up", vector(ROW, warnings=[INFO, WARNING], infos=[INFO]))
        with pytest.raises(errors.BackendPartial):
            await it.take()


async def test_f05_a_rule_may_accept_warnings():
    """onWarnings: accept takes the answer as it is."""
    async with rig() as it:
        it.fake.answer("up", vector(ROW, warnings=[WARNING]))
        judged = await it.judge("a", policy=replace(Policy.DEFAULTS, on_warnings="accept"))
        assert judged.values["a"].milli == 1000
