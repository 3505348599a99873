"""F01: the backend refuses connections, or its name is not found."""

import logging
import socket
from types import SimpleNamespace

import aiohttp
import pytest
from aioresponses import aioresponses

from adapter import errors
from adapter.prometheus.client import PrometheusClient
from tests.support.clock import FakeClock
from tests.support.fake_prometheus_answers import sample, vector
from tests.support.rig import rig


async def test_f01_fresh_then_stale_then_unavailable():
    """A fresh snapshot answers, an old one answers and says why, then the failure is told."""
    async with rig() as it:
        it.fake.answer("up", vector(sample({"pod": "a"}, 1)))
        first = await it.take()
        await it.fake.stop()
        assert await it.take() == first
        it.clock.advance(20)
        stale = await it.take()
        assert stale.snapshot is first.snapshot
        assert (stale.stale_seconds, stale.cause) == (pytest.approx(20), "BackendUnavailable")
        it.clock.advance(20)
        with pytest.raises(errors.BackendUnavailable, match="connection refused"):
            await it.take()


async def test_f01_one_line_down_and_one_line_up(caplog):
    """However many questions fail: two lines, and the gauge follows."""
    caplog.set_level(logging.INFO, logger="adapter")
    async with rig(ttl=0) as it:
        await it.take()
        await it.fake.stop()
        for number in range(10):
            with pytest.raises(errors.BackendUnavailable):
                await it.take(f"q{number}")
        assert not it.client.journal.up
        await it.fake.start()
        for number in range(10):
            await it.take(f"q{number}")
        assert it.client.journal.up
    events = [one.getMessage() for one in caplog.records if one.name == "adapter.prometheus"]
    assert [one for one in events if one in {"backend_down", "backend_up"}] == ["backend_down", "backend_up"]


async def test_f01_nothing_of_the_address_is_shown(caplog):
    """Neither the caller nor the log learns user, password or token."""
    clock = FakeClock()
    client = PrometheusClient("http://user:hunter2@127.0.0.1:1/?token=hunter2", clock)
    await client.start()
    with pytest.raises(errors.BackendUnavailable) as caught:
        await client.instant("up", deadline=clock.monotonic() + 5)
    await client.close()
    assert "127.0.0.1" not in caught.value.message
    assert "hunter2" not in caught.value.message + str([vars(one) for one in caplog.records])


async def test_f01_a_name_that_is_not_found_is_unavailable():
    """The text says which fault it is, and not the name."""
    clock = FakeClock()
    client = PrometheusClient("http://secret-name", clock)
    await client.start()
    key = SimpleNamespace(host="secret-name", port=80, ssl=True, is_ssl=False)
    fault = aiohttp.ClientConnectorDNSError(key, socket.gaierror(-2, "Name or service not known"))
    with aioresponses() as wire:
        wire.post("http://secret-name/api/v1/query", exception=fault)
        with pytest.raises(errors.BackendUnavailable) as caught:
            await client.instant("up", deadline=clock.monotonic() + 5)
    await client.close()
    assert caught.value.message == "unable to fetch metrics: name not found"
