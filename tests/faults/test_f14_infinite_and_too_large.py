"""F14: infinities, overflow, minus zero, rounding."""

import pytest

from tests.support.fake_prometheus_answers import sample, vector
from tests.support.rig import rig


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("+Inf", "NotFinite"),
        ("-Inf", "NotFinite"),
        ("9.3e15", "TooLarge"),
        ("-9.3e15", "TooLarge"),
        ("1.7976931348623157e+308", "TooLarge"),
    ],
)
async def test_f14_what_no_quantity_can_say_is_left_out(text, cause):
    """Never a wrapped, never a capped number unless the rule says so."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a"}, text)))
        judged = await it.judge("a")
        assert (judged.values, judged.missing) == ({}, {"a": cause})


@pytest.mark.parametrize(
    ("text", "milli"),
    [
        ("-0", 0),
        ("0.0009", 0),
        ("-0.0009", 0),
        ("1.001", 1000),
        ("12345.6", 12_345_600),
        ("5e-324", 0),
        ("9.2e15", 9_200_000_000_000_000_000),
        ("-9.2e15", -9_200_000_000_000_000_000),
    ],
)
async def test_f14_all_else_is_thousandths_truncated_toward_zero(text, milli):
    """As upstream rounds; minus zero is zero."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a"}, text)))
        assert (await it.judge("a")).values["a"].milli == milli
