"""The time of a sample is one that an answer of ours can say, or the whole is no answer."""

import pytest

from adapter.promql import vector
from adapter.promql.vector import NotAnAnswer

SECOND_OF_9999 = 253_402_300_799


@pytest.mark.parametrize("time", [0, 1714557600.25, SECOND_OF_9999, SECOND_OF_9999 + 0.999])
@pytest.mark.parametrize("kind", ["vector", "scalar"])
def test_a_time_from_1970_to_9999_is_kept(time, kind):
    """An answer of ours can say it."""
    (sample,) = vector.decode(_at(str(time), kind)).samples
    assert sample.time == time


@pytest.mark.parametrize(
    "time", [SECOND_OF_9999 + 1, 1e18, 1e300, -1, -0.001, -1e18, "NaN", "Infinity", "1e999"]
)
@pytest.mark.parametrize("kind", ["vector", "scalar"])
def test_a_time_of_no_calendar_spoils_the_answer(time, kind):
    """A value whose time cannot be written would break the answer to the autoscaler, and so would a wrong one."""
    with pytest.raises(NotAnAnswer):
        vector.decode(_at(str(time), kind))


def _at(time: str, kind: str) -> bytes:
    """An answer with one sample of `time`, whatever JSON thinks of that."""
    pair = f'[{time},"1"]'
    result = pair if kind == "scalar" else f'[{{"metric":{{}},"value":{pair}}}]'
    return f'{{"status":"success","data":{{"resultType":"{kind}","result":{result}}}}}'.encode()
