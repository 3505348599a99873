"""Lists and watches of metadata, against a stand-in API server."""

import json
from contextlib import aclosing

import pytest

from adapter.kube import watch
from adapter.kube.credentials import Source
from adapter.kube.watch import PAGE_OBJECTS, WATCH_SECONDS, KubeFeed
from adapter.wire import objects
from adapter.wire.objects import Change, Object
from adapter.wire.resources import Resource
from tests.support.fake_kube import FakeKube
from tests.support.fake_kube_world import Kind

PODS = Resource("", "v1", "pods", "pod", "Pod", namespaced=True)
DEPLOYMENTS = Resource("apps", "v1", "deployments", "deployment", "Deployment", namespaced=True)
NOTHING = Resource("nothing.example.com", "v1", "things", "thing", "Thing", namespaced=True)


@pytest.fixture
def feed(client):
    return KubeFeed(client)


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


# -- lists


async def test_a_list_is_metadata(feed, kube):
    """Names, labels and ids come back; nothing else is asked for."""
    kube.put("pods", "web-1", "shop", labels={"app": "web"}, uid="u-1")
    listing = await feed.listing(PODS, "")
    assert listing.objects == [Object("shop", "web-1", {"app": "web"}, "u-1")]
    assert (listing.version, listing.next_page) == ("101", "")
    asked = kube.asked[-1]
    assert asked.headers["Accept"] == (
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
    )
    assert asked.query == {"limit": str(PAGE_OBJECTS)}


async def test_groups_have_paths_of_their_own(feed, kube):
    """Core is under /api, all others under /apis."""
    kube.put("deployments.apps", "web", "shop")
    assert [one.name for one in (await feed.listing(DEPLOYMENTS, "")).objects] == ["web"]
    assert watch.path(PODS) == "/api/v1/pods"
    assert watch.path(DEPLOYMENTS) == "/apis/apps/v1/deployments"


async def test_long_lists_come_in_pages(feed, kube):
    """Every object once, all of one version, whatever changes meanwhile."""
    for number in range(2 * PAGE_OBJECTS + 1):
        kube.put("pods", f"web-{number:04}", "shop")
    first = await feed.listing(PODS, "")
    kube.put("pods", "later", "shop")
    second = await feed.listing(PODS, first.next_page)
    third = await feed.listing(PODS, second.next_page)
    assert [len(one.objects) for one in (first, second, third)] == [PAGE_OBJECTS, PAGE_OBJECTS, 1]
    assert {one.version for one in (first, second, third)} == {str(100 + 2 * PAGE_OBJECTS + 1)}
    assert third.next_page == ""


async def test_an_expired_page_is_gone(feed, kube):
    """The list took too long: it has to begin anew."""
    for number in range(PAGE_OBJECTS + 1):
        kube.put("pods", f"web-{number:04}", "shop")
    first = await feed.listing(PODS, "")
    kube.expire()
    with pytest.raises(objects.Gone):
        await feed.listing(PODS, first.next_page)


async def test_objects_without_labels(feed, kube):
    """Missing and null are the same: none."""
    kube.put("pods", "a", "shop")
    kube.put("pods", "b", "shop", labels=None)
    kube.put("pods", "c", "shop", labels={})
    assert [one.labels for one in (await feed.listing(PODS, "")).objects] == [{}, {}, {}]


async def test_null_items_are_no_items(feed, kube):
    """Some servers write nothing as null."""
    kube.fail("list", "pods", status=200, body=b'{"metadata":{"resourceVersion":"7"},"items":null}')
    listing = await feed.listing(PODS, "")
    assert (listing.objects, listing.version) == ([], "7")


async def test_whole_objects_do_as_well(feed, kube):
    """An extension server that knows no metadata-only form sends all of it."""
    body = {"metadata": {"resourceVersion": "7", "continue": None}, "items": [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "shop"}, "spec": {"containers": []}}
    ]}  # fmt: skip
    kube.fail("list", "pods", status=200, body=json.dumps(body).encode())
    assert (await feed.listing(PODS, "")).objects == [Object("shop", "a", {}, "")]


BAD = [
    None,
    7,
    {},
    {"metadata": None},
    {"metadata": {}},
    {"metadata": {"name": ""}},
    {"metadata": {"name": 7}},
    {"metadata": {"name": "x", "labels": {"a": None}}},
    {"metadata": {"name": "x", "labels": ["a"]}},
]


async def test_a_bad_object_is_left_out_and_counted(feed, kube):
    """The good ones beside it are not lost."""
    items = [*BAD, {"metadata": {"name": "good", "namespace": "shop"}}]
    body = {"metadata": {"resourceVersion": "7"}, "items": items}
    kube.fail("list", "pods", status=200, body=json.dumps(body).encode())
    assert [one.name for one in (await feed.listing(PODS, "")).objects] == ["good"]
    assert feed.skipped == {("pods", "object"): len(BAD)}


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"items":[', b'{"items":7,"metadata":{}}', b"{}", b"null"]
)
async def test_what_is_no_list_is_refused(feed, kube, body):
    """It is an answer, but none to go on with."""
    kube.fail("list", "pods", status=200, body=body)
    with pytest.raises(objects.Refused):
        await feed.listing(PODS, "")


async def test_a_forbidden_kind(feed, kube):
    """It is not for us; the API server's words are for the log."""
    kube.forbid("pods")
    with pytest.raises(objects.NotListable, match="cannot list resource") as caught:
        await feed.listing(PODS, "")
    assert (caught.value.cause, caught.value.absent) == ("Forbidden", False)


@pytest.mark.parametrize("status", [404, 405])
async def test_an_absent_kind(feed, kube, status):
    """A removed CRD, or a kind that cannot be listed by anybody."""
    kube.fail("list", "pods", status=status)
    with pytest.raises(objects.NotListable) as caught:
        await feed.listing(PODS, "")
    assert caught.value.absent


async def test_a_group_that_nobody_serves(feed):
    """The stand-in answers 404 as the real one does."""
    with pytest.raises(objects.NotListable):
        await feed.listing(NOTHING, "")


@pytest.mark.parametrize("status", [401, 429, 500, 503])
async def test_a_server_in_trouble(feed, kube, status):
    """It answered, so it is there."""
    kube.fail("list", "pods", status=status)
    with pytest.raises(objects.Refused):
        await feed.listing(PODS, "")


async def test_an_absent_server(feed, kube):
    """Nobody answered."""
    await kube.stop()
    with pytest.raises(objects.Unreachable):
        await feed.listing(PODS, "")


async def test_unusable_credentials(connect, tmp_path):
    """Nothing was sent, so nobody answered."""
    with pytest.raises(objects.Unreachable) as caught:
        await KubeFeed(connect(Source(str(tmp_path / "nowhere")))).listing(PODS, "")
    assert caught.value.cause == "NoCredentials"


# -- watches


async def test_a_watch_goes_on_from_a_version(feed, kube):
    """What happened between list and watch is told first."""
    kube.put("pods", "before", "shop")
    listing = await feed.listing(PODS, "")
    kube.put("pods", "between", "shop", labels={"app": "web"})
    (change,) = await told(feed, listing.version)
    assert change == Change(
        objects.ADDED, "102", Object("shop", "between", {"app": "web"}, "pods-shop-between")
    )
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
    assert change == Change(objects.ADDED, "200", Object("", "good", {}, ""))
    assert feed.skipped == {("pods", "event"): 1}


@pytest.mark.parametrize("bad", BAD, ids=str)
async def test_a_bad_object_in_an_event_is_left_out(feed, kube, bad):
    """It is counted as an object."""
    good = {"type": "ADDED", "object": {"metadata": {"name": "good"}}}
    (change,) = await watched(feed, kube, {"type": "MODIFIED", "object": bad}, good)
    assert change.object.name == "good"
    assert feed.skipped == {("pods", "object"): 1}


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
