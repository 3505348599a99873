"""Deadlines of requests hold whatever the time is spent on: plugins, a lock, a second try."""

import asyncio

import pytest

from adapter.kube import failures
from adapter.kube.client import RENEW_SECONDS
from adapter.kube.credentials import Source
from tests.kube.conftest import PODS
from tests.support.eventually import until

HANGING = "exec sleep 60"
SOON = 2.0
"""Seconds: far less than a plugin or a whole request may take by default."""


@pytest.fixture
def client(kube, connect, kubeconfig, plugin_script):
    """Its kubeconfig has a plugin that hangs."""
    return connect(Source(kubeconfig(kube.url, user={"exec": plugin_script(HANGING)})), head_seconds=0.1)


async def timed_out(request):
    """This fails unless `request` ends soon, by its own deadline."""
    async with asyncio.timeout(SOON):
        with pytest.raises(failures.Unreachable) as caught:
            await request
    assert caught.value.cause == "Timeout"


async def test_finding_credentials_is_a_part_of_the_time(client, kube):
    """A plugin has 30 s, this request has not."""
    await timed_out(client.get_bytes(PODS, timeout=0.1))
    await timed_out(client.post_bytes(PODS, {}, timeout=0.1))
    assert kube.asked == []


async def test_a_watch_has_to_begin_in_time_too(client, kube):
    """Its stream has no end, its beginning has."""
    await timed_out(anext(client.lines(PODS, {"watch": "true"})))
    assert kube.asked == []


async def test_waiting_for_another_request_is_a_part_of_the_time(client, tmp_path):
    """The first one holds the lock while its plugin runs."""
    first = asyncio.create_task(client.get_bytes(PODS, timeout=60))
    await until((tmp_path / "runs").exists)
    await timed_out(client.get_bytes(PODS, timeout=0.1))
    assert not first.done()
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)


async def test_a_second_try_has_no_time_of_its_own(client, kube, plugin, plugin_script, clock):
    """The token is refused, and the plugin that is to give a newer one hangs."""
    plugin({"token": "t1"})
    await client.get_bytes(PODS)
    kube.tokens = {"t2"}
    plugin_script(HANGING)
    clock.advance(RENEW_SECONDS)
    await timed_out(client.get_bytes(PODS, timeout=0.2))
    assert kube.count("list") == 2


async def test_a_body_that_trickles_in_is_a_part_of_the_time(kube, kubeconfig, connect):
    """The head of the answer came at once."""
    client = connect(Source(kubeconfig(kube.url)))
    await timed_out(client.get_bytes(PODS, {"watch": "true", "resourceVersion": "100"}, timeout=0.1))


async def test_after_a_deadline_all_is_as_before(client, kube, plugin):
    """Nothing stays locked: with a plugin that answers, the next request is sent."""
    await timed_out(client.get_bytes(PODS, timeout=0.1))
    plugin({"token": "t"})
    async with asyncio.timeout(SOON):
        assert await client.get_bytes(PODS)
