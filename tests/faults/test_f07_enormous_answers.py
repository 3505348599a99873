"""F07: an enormous answer."""

import pytest

from adapter import errors
from tests.support.fake_prometheus_answers import endless, sample, vector
from tests.support.rig import rig

MIB = 1 << 20
BUFFERS = 16 * MIB
"""What the sockets of both ends and the stand-in's transport may hold beyond what was read."""


async def test_f07_reading_stops_at_the_limit_and_the_connection_is_closed():
    """An answer without end costs 16 MiB, and then the rule is rejected."""
    async with rig() as it:
        it.fake.answer("up", endless())
        with pytest.raises(errors.RuleRejected, match="too many samples"):
            await it.take()
        assert it.fake.sent_bytes < 16 * MIB + BUFFERS
        await it.take("other")
        assert it.fake.connections <= 2


async def test_f07_too_many_samples_are_refused_whatever_their_size():
    """20,000 samples are the limit of one query."""
    rows = [sample({"pod": str(number)}, 1) for number in range(20_001)]
    async with rig() as it:
        it.fake.answer("many", vector(*rows[:-1]))
        it.fake.answer("too many", vector(*rows))
        assert len((await it.take("many")).snapshot.result.samples) == 20_000
        with pytest.raises(errors.RuleRejected, match="too many samples"):
            await it.take("too many")
