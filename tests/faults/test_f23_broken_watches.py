"""F23: 410, ERROR events, dropped and half-open streams, unknown events, null labels."""

import pytest

from adapter.flows.following import STEADY_SECONDS
from tests.support.mirrored import PODS, Mirrored


async def followed(cluster):
    """Pods are watched, and have been for a good while."""
    cluster.kube.put("pods", "web-1", "shop")
    cluster.mirror.start([PODS])
    await cluster.watching()
    await cluster.sleeper.pass_time(STEADY_SECONDS)
    return cluster


@pytest.fixture
async def cluster(tmp_path):
    async with Mirrored(tmp_path) as found:
        yield await followed(found)


@pytest.fixture
async def impatient(tmp_path):
    """Here silence is noticed in less than the five minutes of a real one."""
    async with Mirrored(tmp_path, silence_seconds=0.4) as found:
        found.kube.bookmark_seconds = 0.05
        yield await followed(found)


async def goes_on(cluster, *names):
    """A change after the fault arrives, however long the pauses were."""
    cluster.kube.put("pods", "later", "shop")
    while await cluster.names() != sorted([*names, "later"]):
        await cluster.sleeper.pass_time(5)


async def test_410_is_listed_again_and_the_old_objects_serve_meanwhile(cluster):
    """The store is replaced in one step."""
    hang = cluster.kube.fail("list", "pods", hang=True)
    cluster.kube.expire()
    while cluster.kube.count("list", "pods") < 2:
        await cluster.sleeper.pass_time(1)
    assert await cluster.names() == ["web-1"]
    cluster.kube.faults.remove(hang)
    await cluster.kube.stop()
    await cluster.kube.start()
    await goes_on(cluster, "web-1")


async def test_an_error_event(cluster):
    """Whatever its code."""
    cluster.kube.tell("pods", {"type": "ERROR", "object": {"code": 500, "message": "etcd"}})
    await goes_on(cluster, "web-1")
    assert cluster.kube.count("list", "pods") == 1


async def test_a_dropped_stream(cluster):
    """The next watch goes on from the last version."""
    cluster.kube.drop("pods")
    await goes_on(cluster, "web-1")
    assert cluster.kube.count("list", "pods") == 1


async def test_a_half_open_stream(impatient):
    """No bookmark comes any more: the stream is given up, and what was missed is told."""
    impatient.kube.freeze("pods")
    impatient.kube.put("pods", "missed", "shop")
    await goes_on(impatient, "web-1", "missed")
    assert impatient.mirror.restarts["pods", "Timeout"] == 1


async def test_a_closed_stream(cluster):
    """The API server ends each watch after some minutes."""
    cluster.kube.close_streams("pods")
    await goes_on(cluster, "web-1")
    assert cluster.mirror.restarts["pods", "closed"] == 1


async def test_strange_events_and_bad_objects(cluster):
    """They are skipped and counted; what comes behind them on the same stream is read."""
    for event in (
        {"type": "STRANGE", "object": {}},
        {"type": "ADDED", "object": None},
        {"type": "ADDED", "object": {"metadata": {"name": "bad", "labels": {"a": None}}}},
        b"no json\n",
    ):
        cluster.kube.tell("pods", event)
    await goes_on(cluster, "web-1")
    assert cluster.cluster.feed.skipped == {("pods", "event"): 2, ("pods", "object"): 2}
    assert cluster.kube.count("watch", "pods") == 1


async def test_null_labels(cluster):
    """They are no labels."""
    cluster.kube.put("pods", "web-2", "shop", labels=None)
    await goes_on(cluster, "web-1", "web-2")


async def test_one_fault_after_the_other(impatient):
    """The loop never ends."""
    for break_it in (impatient.kube.drop, impatient.kube.close_streams, impatient.kube.freeze):
        break_it("pods")
        watches = impatient.kube.count("watch", "pods")
        while impatient.kube.count("watch", "pods") == watches or not impatient.kube.streams:
            await impatient.sleeper.pass_time(5)
    await goes_on(impatient, "web-1")
