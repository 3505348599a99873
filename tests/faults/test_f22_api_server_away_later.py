"""F22: the API server goes away while the adapter runs."""

import logging

import pytest

from adapter.flows.following import STEADY_SECONDS
from tests.support.eventually import until
from tests.support.mirrored import PODS, Mirrored


@pytest.fixture
async def cluster(tmp_path):
    async with Mirrored(tmp_path) as found:
        found.kube.put("pods", "web-1", "shop")
        found.mirror.start([PODS])
        await found.watching()
        await found.sleeper.pass_time(STEADY_SECONDS)
        yield found


async def outage(cluster, minutes):
    await cluster.kube.stop()
    for _ in range(12 * minutes):
        await cluster.sleeper.pass_time(5)
        await until(lambda: True)


async def test_the_objects_stay_and_grow_old(cluster):
    """Answers go on from what was known; their age tells how long nothing was heard."""
    assert cluster.mirror.ages() == {"pods": 0.0}
    await outage(cluster, 5)
    assert await cluster.names() == ["web-1"]
    assert cluster.mirror.tried(PODS)
    assert cluster.mirror.ages()["pods"] > 60


async def test_what_happened_meanwhile_is_seen_after_it(cluster, caplog):
    """The watch goes on from the last version; two lines tell of the outage."""
    caplog.set_level(logging.INFO, "adapter.mirror")
    await outage(cluster, 5)
    cluster.kube.put("pods", "web-2", "shop")
    await cluster.kube.start()
    while await cluster.names() != ["web-1", "web-2"]:
        await cluster.sleeper.pass_time(5)
    assert cluster.mirror.ages() == {"pods": 0.0}
    assert [record.getMessage() for record in caplog.records] == [
        "object_list_failed",
        "object_list_recovered",
    ]
