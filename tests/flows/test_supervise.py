"""What runs for ever is restarted, with back-off, and given up when it fails too often."""

import pytest

from adapter.flows import supervise
from tests.support.clock import FakeClock


async def test_failing_flow_is_restarted_with_growing_pauses():
    """Each failure is logged once with its trace, and the next try comes after twice the pause."""
    clock, pauses, runs = FakeClock(), [], []

    async def flow() -> None:
        runs.append(clock.monotonic())
        raise ValueError("broken")

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        clock.advance(seconds + 10)

    with pytest.raises(supervise.GaveUp, match="5 times within 60 s"):
        await supervise.for_ever("a flow", flow, clock, sleep=sleep, random=lambda: 1.0)
    assert len(runs) == 5
    assert pauses == [0.5, 1.0, 2.0, 4.0]


async def test_rare_failures_do_not_end_the_process():
    """Failures further apart than the window are each forgiven."""
    clock, runs, pauses = FakeClock(), [], []

    class Enough(BaseException):
        pass

    async def flow() -> None:
        runs.append(1)
        if len(runs) == 20:
            raise Enough
        raise ValueError("broken")

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        clock.advance(61)

    with pytest.raises(Enough):
        await supervise.for_ever("a flow", flow, clock, sleep=sleep, random=lambda: 1.0)
    assert set(pauses) == {0.5}


async def test_flow_that_ends_is_started_again(caplog):
    """Even without an error: a flow has no end of its own."""
    clock = FakeClock()

    async def flow() -> None:
        return None

    async def sleep(_: float) -> None:
        clock.advance(1)

    with pytest.raises(supervise.GaveUp):
        await supervise.for_ever("a flow", flow, clock, sleep=sleep)
    assert "flow_ended" in caplog.text
