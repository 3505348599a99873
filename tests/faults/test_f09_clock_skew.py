"""F09: our clock and the backend's differ."""

import asyncio
import contextlib
import logging
import socket

import pytest

from adapter.prometheus.client import PrometheusClient
from tests.support.clock import FakeClock
from tests.support.fake_prometheus_answers import sample, vector
from tests.support.rig import rig


@pytest.mark.parametrize("skew", [-600.0, 0.0, 600.0])
async def test_f09_no_time_is_sent_and_the_backends_is_used(skew):
    """Whatever our clock says: the same question, and the time in the answer."""
    async with rig() as it:
        theirs = it.clock.now() + skew
        it.fake.answer("up", vector(sample({"pod": "a"}, 1, at=theirs)))
        judged = await it.judge("a")
        assert set(it.fake.requests[0].form) == {"query", "timeout", "partial_response"}
        assert judged.values["a"].time == theirs


async def test_f09_skew_is_told_once(caplog):
    """A line above five seconds, and the figure for a gauge."""
    caplog.set_level(logging.INFO, logger="adapter")
    async with rig(ttl=0) as it:
        for _ in range(3):
            it.fake.answer("up", vector(sample({}, 1, at=it.clock.now() - 90)))
            await it.take()
        assert it.client.journal.skew_seconds == pytest.approx(-90)
    lines = [one for one in caplog.records if one.getMessage() == "backend_clock_skew"]
    assert [one.seconds for one in lines] == [-90.0]


@contextlib.asynccontextmanager
async def _prometheus(directory):
    """A real Prometheus without targets; its URL."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    (directory / "p.yml").write_text("{}\n")
    process = await asyncio.create_subprocess_exec(
        "prometheus",
        f"--config.file={directory}/p.yml",
        f"--storage.tsdb.path={directory}/data",
        f"--web.listen-address=127.0.0.1:{port}",
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        await asyncio.wait_for(_ready(process.stderr), 20)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.communicate()


async def _ready(log):
    """Returns once Prometheus has said so."""
    said = []
    async for line in log:
        said.append(line.decode())
        if "Server is ready" in said[-1]:
            return
    pytest.fail(f"Prometheus ended: {''.join(said)}")


async def test_f09_a_real_prometheus_gives_the_same_under_a_clock_years_behind(tmp_path):
    """The value comes, with the time of Prometheus."""
    clock = FakeClock()
    async with _prometheus(tmp_path) as url:
        client = PrometheusClient(url, clock)
        await client.start()
        result = await client.instant("vector(time())", deadline=clock.monotonic() + 5)
        await client.close()
    [found] = result.samples
    assert found.value == pytest.approx(found.time, abs=0.01)
    assert found.time > clock.now()
