"""F03: 500, 502, 503, 429 and resets."""

import pytest

from adapter import errors
from tests.support.fake_prometheus_answers import refusal, status, vector
from tests.support.rig import rig


@pytest.mark.parametrize(
    "first", [status(502), status(503), vector().torn(0)], ids=["502", "503", "reset before the first byte"]
)
async def test_f03_what_may_pass_is_tried_once_more(first):
    """One retry after a pause of 50 to 150 ms, and its answer counts."""
    async with rig() as it:
        it.fake.answer("up", first, vector())
        await it.take()
        assert len(it.fake.requests) == 2
        assert len(it.pauses) == 1
        assert 0.05 <= it.pauses[0] <= 0.15


@pytest.mark.parametrize("every", [status(502), status(503), vector().torn(0)], ids=["502", "503", "reset"])
async def test_f03_there_is_at_most_one_retry(every):
    """Then it is unavailable."""
    async with rig() as it:
        it.fake.answer("up", every)
        with pytest.raises(errors.BackendUnavailable):
            await it.take()
        assert len(it.fake.requests) == 2


@pytest.mark.parametrize(
    "every",
    [
        status(500),
        status(501),
        status(504),
        status(429),
        status(429, **{"Retry-After": "1"}),
        status(503, b'{"status":"error","errorType":"timeout","error":"query timed out"}'),
        refusal("bad_data"),
        vector().torn(5),
    ],
    ids=["500", "501", "504", "429", "429 with Retry-After", "503 too slow", "400", "cut within the answer"],
)
async def test_f03_what_a_repetition_makes_worse_is_not_repeated(every):
    """Never on 429, never on a slow query, never after the first byte."""
    async with rig() as it:
        it.fake.answer("up", every)
        with pytest.raises(errors.AdapterError):
            await it.take()
        assert (len(it.fake.requests), it.pauses) == (1, [])


async def test_f03_there_is_no_retry_without_time():
    """Less than two seconds left: the failure is told at once."""
    async with rig() as it:
        it.fake.answer("up", status(503))
        with pytest.raises(errors.BackendUnavailable):
            await it.client.instant("up", deadline=it.clock.monotonic() + 1.9)
        assert len(it.fake.requests) == 1


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
async def test_f03_the_old_snapshot_stands_in(code):
    """Each of them is a failing backend."""
    async with rig() as it:
        it.fake.answer("up", vector(), status(code))
        await it.take()
        it.clock.advance(6)
        assert (await it.take()).cause == "BackendUnavailable"
