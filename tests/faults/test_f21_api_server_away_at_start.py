"""F21: the API server is not there when the adapter starts."""

import logging

import pytest

from adapter import errors
from adapter.flows.backoff import LONGEST_SECONDS
from tests.support.eventually import until
from tests.support.mirrored import NAMESPACES, PODS, Mirrored


@pytest.fixture
async def cluster(tmp_path):
    async with Mirrored(tmp_path, serving=False) as found:
        found.kube.put("pods", "web-1", "shop")
        yield found


async def passing(cluster, seconds, condition):
    """Time passes, in steps that let sockets do their work, until `condition`."""
    for _ in range(int(seconds)):
        await cluster.sleeper.pass_time(1)
        if condition():
            return
    await until(condition)


async def test_it_keeps_trying_and_does_not_end(cluster):
    """Pauses grow to half a minute and stay there; nothing was tried, so it is not ready."""
    cluster.mirror.start([PODS, NAMESPACES])
    await passing(cluster, 400, lambda: cluster.mirror.restarts["pods", "Connect"] >= 12)
    assert not cluster.mirror.tried(PODS)
    assert not cluster.mirror.tried(NAMESPACES)
    assert max(cluster.sleeper.slept) <= max(60.0, LONGEST_SECONDS)
    assert LONGEST_SECONDS in cluster.sleeper.slept


async def test_callers_are_told_to_come_back(cluster):
    """No empty list, no 404: it is still starting."""
    cluster.mirror.start([PODS])
    with pytest.raises(errors.StillStarting):
        await cluster.names()


async def test_kinds_are_not_known_either(cluster):
    """The catalog keeps waiting in the same way."""
    with pytest.raises(errors.StillStarting):
        await cluster.cluster.kinds(frozenset({""}))


async def test_it_goes_on_when_the_api_server_comes(cluster, caplog):
    """One line when it was missed, one when it came."""
    caplog.set_level(logging.INFO, "adapter.mirror")
    cluster.mirror.start([PODS])
    await passing(cluster, 60, lambda: cluster.mirror.restarts["pods", "Connect"] >= 3)
    await cluster.kube.start()
    await passing(cluster, 60, lambda: cluster.mirror.tried(PODS))
    await cluster.shows("web-1")
    await cluster.watching()
    await until(lambda: len(caplog.records) == 2)
    assert [record.getMessage() for record in caplog.records] == [
        "object_list_failed",
        "object_list_recovered",
    ]
