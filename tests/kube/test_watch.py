"""Watches of metadata, against a stand-in API server."""

from contextlib import aclosing

import pytest

from adapter.kube.credentials import Source
from adapter.kube.watch import WATCH_SECONDS, KubeFeed
from adapter.wire import objects
from adapter.wire.objects import Change, Object
from adapter.wire.resources import PODS
from tests.kube.conftest import BAD_OBJECTS
from tests.support.fake_kube import FakeKube
from tests.support.fake_kube_world import Kind


async def told(feed, version="100", number=1):
    """So many changes after the first bookmark."""
    changes = feed.changes(PODS, version)
    async with aclosing(changes):
        assert await anext(changes) == Change(objects.BOOKMARK, version)
        return [await anext(changes) for _ in range(number)]


async def watched(feed, kube, *messages, number=1):
    """What becomes of these messages of the API server."""
    changes = feed.changes(PODS, "100")
    async with aclosing(changes):
        await anext(changes)
        for message in messages:
            kube.tell("pods", message)
        return [await anext(changes) for _ in range(number)]


async def test_a_watch_goes_on_from_a_version(feed, kube):
    """What happened between list and watch is told first."""
    kube.put("pods", "before", "shop")
    listing = await feed.listing(PODS, "")
    kube.put("pods", "between", "shop", labels={"app": "web"})
    (change,) = await told(feed, listing.version)
    assert change == Change(objects.ADDED, "102", Object("shop", "between", {"app": "web"}))
    asked = kube.asked[-1]
    assert asked.query == {
        "watch": "true",
        "resourceVersion": "101",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": str(WATCH_SECONDS),
    }
    assert asked.headers["Accept"] == (
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"
    )


async def test_every_kind_of_change(feed, kube):
    """Added, modified, deleted, each with the version to go on from."""
    changes = feed.changes(PODS, "100")
    async with aclosing(changes):
        await anext(changes)
        kube.put("pods", "web-1", "shop")
        kube.put("pods", "web-1", "shop", labels={"a": "b"})
        kube.delete("pods", "web-1", "shop")
        kube.bookmark("pods")
        found = [await anext(changes) for _ in range(4)]
    assert [(one.kind, one.version) for one in found] == [
        (objects.ADDED, "101"),
        (objects.MODIFIED, "102"),
        (objects.DELETED, "103"),
        (objects.BOOKMARK, "103"),
    ]
    assert found[2].object.name == "web-1"


async def test_bookmarks_come_by_themselves(feed, kube):
    """The API server sends one each minute; they tell that the stream lives."""
    kube.bookmark_seconds = 0.01
    assert [one.kind for one in await told(feed, number=2)] == [objects.BOOKMARK] * 2


async def test_an_old_version_is_gone(feed, kube):
    """The API server accepts the watch and says so in its first event."""
    kube.expire()
    with pytest.raises(objects.Gone, match="too old resource version"):
        await told(feed, "50")


async def test_a_version_that_grows_too_old(feed, kube):
    """A running watch ends the same way."""
    changes = feed.changes(PODS, "100")
    async with aclosing(changes):
        await anext(changes)
        kube.expire()
        with pytest.raises(objects.Gone):
            await anext(changes)


async def test_410_as_a_status_is_gone_too(feed, kube):
    """Some versions of the API server say it without a stream."""
    kube.fail("watch", "pods", status=410)
    with pytest.raises(objects.Gone):
        await told(feed)


@pytest.mark.parametrize("code", [{"code": 410}, {"reason": "Expired"}, {"reason": "Gone"}])
async def test_every_spelling_of_gone(feed, kube, code):
    """Code or reason."""
    with pytest.raises(objects.Gone):
        await watched(feed, kube, {"type": "ERROR", "object": {"kind": "Status"} | code})


async def test_another_error_is_no_410(feed, kube):
    """The version may still be good."""
    with pytest.raises(objects.Refused, match="etcd is away"):
        await watched(feed, kube, {"type": "ERROR", "object": {"code": 500, "message": "etcd is away"}})


@pytest.mark.parametrize(
    "message",
    [
        {"type": "STRANGE", "object": {"metadata": {"name": "x"}}},
        {"type": 7, "object": {}},
        {"object": {}},
        {"type": "BOOKMARK", "object": {"metadata": {}}},
        {"type": "ERROR", "object": "no status"},
        {"type": "ADDED"},
        b"<html>\n",
        b"{\n",
        b"[]\n",
        b"\xff\xfe\n",
    ],
    ids=str,
)
async def test_an_event_that_nobody_knows_is_left_out(feed, kube, message):
    """It is counted, and the next one is read."""
    good = {"type": "ADDED", "object": {"metadata": {"name": "good", "resourceVersion": "200"}}}
    (change,) = await watched(feed, kube, message, good)
    assert change == Change(objects.ADDED, "200", Object("", "good", {}))
    assert feed.skipped_counts() == {("pods", "event"): 1}


@pytest.mark.parametrize("bad", BAD_OBJECTS, ids=str)
async def test_a_bad_object_in_an_event_is_left_out(feed, kube, bad):
    """It is counted as an object."""
    good = {"type": "ADDED", "object": {"metadata": {"name": "good"}}}
    (change,) = await watched(feed, kube, {"type": "MODIFIED", "object": bad}, good)
    assert change.object.name == "good"
    assert feed.skipped_counts() == {("pods", "object"): 1}


async def test_a_closed_watch_ends(feed, kube):
    """That is how the API server ends it after its time; it is no failure."""
    changes = feed.changes(PODS, "100")
    async with aclosing(changes):
        await anext(changes)
        kube.close_streams("pods")
        assert [one async for one in changes] == []


async def test_a_dropped_watch_is_told(feed, kube):
    """A torn connection did not end by itself."""
    changes = feed.changes(PODS, "100")
    async with aclosing(changes):
        await anext(changes)
        kube.drop("pods")
        with pytest.raises(objects.Unreachable):
            await anext(changes)


async def test_a_half_open_watch_is_told(kube, kubeconfig, connect):
    """Nothing arrives, not even bookmarks: the peer is lost."""
    feed = KubeFeed(connect(Source(kubeconfig(kube.url)), silence_seconds=0.3))
    changes = feed.changes(PODS, "100")
    async with aclosing(changes):
        await anext(changes)
        kube.freeze("pods")
        kube.put("pods", "unseen", "shop")
        with pytest.raises(objects.Unreachable) as caught:
            await anext(changes)
    assert caught.value.cause == "Timeout"


async def test_a_watch_that_is_forbidden(feed, kube):
    """List may be granted without watch."""
    kube.forbid("watch pods")
    assert (await feed.listing(PODS, "")).objects == []
    with pytest.raises(objects.NotListable):
        await told(feed)


async def test_only_this_kind_is_told(kubeconfig, connect):
    """Kinds of one name in two groups are strangers."""
    kinds = [Kind("", ("v1",), "Pod", "pods"), Kind("metrics.k8s.io", ("v1beta1",), "PodMetrics", "pods")]
    async with FakeKube(kinds) as kube:
        feed = KubeFeed(connect(Source(kubeconfig(kube.url))))
        changes = feed.changes(PODS, "100")
        async with aclosing(changes):
            await anext(changes)
            kube.put("pods.metrics.k8s.io", "other", "shop")
            kube.put("pods", "ours", "shop")
            assert (await anext(changes)).object.name == "ours"
