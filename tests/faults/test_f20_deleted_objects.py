"""F20: pods that are deleted, completed or brand-new."""

import pytest

from adapter.wire import selectors
from tests.support.mirrored import PODS, Mirrored


@pytest.fixture
async def cluster(tmp_path):
    async with Mirrored(tmp_path) as found:
        for name in ("web-1", "web-2"):
            found.kube.put("pods", name, "shop", labels={"app": "web"})
        found.mirror.start([PODS])
        await found.watching()
        yield found


async def test_a_deleted_pod_has_no_part_in_an_answer(cluster):
    """Once its deletion was told, no question finds it any more."""
    cluster.kube.delete("pods", "web-1", "shop")
    await cluster.shows("web-2")


async def test_a_new_pod_is_found_without_a_list(cluster):
    """It comes by the watch; nothing is listed again."""
    cluster.kube.put("pods", "web-3", "shop", labels={"app": "web"})
    await cluster.shows("web-1", "web-2", "web-3")
    assert cluster.kube.count("list", "pods") == 1


async def test_a_pod_that_leaves_the_selector_is_not_found_by_it(cluster):
    """Taking a pod out of service by its label takes it out of the answer."""
    cluster.kube.put("pods", "web-1", "shop", labels={"app": "debug"})
    cluster.kube.put("pods", "mark", "shop")
    await cluster.shows("mark", "web-1", "web-2")
    store = await cluster.mirror.objects(PODS, deadline=cluster.clock.monotonic())
    assert [one.name for one in store.select("shop", selectors.parse("app=web"))] == ["web-2"]


async def test_a_completed_pod_stays(cluster):
    """Phases are the autoscaler's business: what exists is shown."""
    body = {"metadata": {"name": "web-1", "namespace": "shop"}, "status": {"phase": "Succeeded"}}
    cluster.kube.world.put(cluster.kube.world.kind("pods"), body)
    await cluster.shows("web-1", "web-2")


async def test_a_deletion_during_an_outage_is_noticed_after_it(cluster):
    """History may be gone by then: the list tells what is no more."""
    cluster.kube.drop("pods")
    cluster.kube.delete("pods", "web-1", "shop")
    cluster.kube.expire()
    while await cluster.names() != ["web-2"]:
        await cluster.sleeper.pass_time(30)
