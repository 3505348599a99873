"""F08: matrix, string and scalar results, native histograms."""

import pytest

from adapter import errors
from tests.support.fake_prometheus_answers import histogram, matrix, sample, scalar, string, vector
from tests.support.rig import rig


@pytest.mark.parametrize(
    "reply", [matrix({"pod": "a"}, [(1, 1.0)]), string("x"), scalar(1)], ids=["matrix", "string", "scalar"]
)
async def test_f08_custom_metrics_need_a_vector(reply):
    """Anything else is a fault of the rule: 500 RuleRejected."""
    async with rig() as it:
        it.fake.answer("up", reply)
        with pytest.raises(errors.RuleRejected):
            await it.judge("a")


async def test_f08_native_histograms_are_no_value():
    """They are left out and counted; a plain sample beside them counts."""
    async with rig() as it:
        it.fake.answer("up", vector(histogram({"pod": "a"}), sample({"pod": "b"}, 1)))
        judged = await it.judge("a", "b")
        assert list(judged.values) == ["b"]
        assert judged.dropped["histogram"] == 1


async def test_f08_only_native_histograms_have_a_cause_of_their_own():
    """The user learns that the query lacks histogram_quantile."""
    async with rig() as it:
        it.fake.answer("up", vector(histogram({"pod": "a"})))
        assert (await it.judge("a")).missing == {"a": "Histogram"}
