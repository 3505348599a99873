"""Lists of metadata, against a stand-in API server."""

import json

import pytest

from adapter.kube import watch
from adapter.kube.cluster import Cluster
from adapter.kube.credentials import Source
from adapter.kube.watch import PAGE_OBJECTS, KubeFeed
from adapter.wire import objects
from adapter.wire.objects import Object
from adapter.wire.resources import PODS, Resource
from tests.kube.conftest import BAD_OBJECTS

DEPLOYMENTS = Resource("apps", "v1", "deployments", "deployment", "Deployment", namespaced=True)
NOTHING = Resource("nothing.example.com", "v1", "things", "thing", "Thing", namespaced=True)


async def test_a_list_is_metadata(feed, kube):
    """Names and labels come back; nothing else is asked for."""
    kube.put("pods", "web-1", "shop", labels={"app": "web"})
    listing = await feed.listing(PODS, "")
    assert listing.objects == [Object("shop", "web-1", {"app": "web"})]
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
    assert (await feed.listing(PODS, "")).objects == [Object("shop", "a", {})]


async def test_a_bad_object_is_left_out_and_counted(client, kube):
    """The good ones beside it are not lost."""
    feed = Cluster(client)
    items = [*BAD_OBJECTS, {"metadata": {"name": "good", "namespace": "shop"}}]
    body = {"metadata": {"resourceVersion": "7"}, "items": items}
    kube.fail("list", "pods", status=200, body=json.dumps(body).encode())
    assert [one.name for one in (await feed.listing(PODS, "")).objects] == ["good"]
    assert feed.skipped_counts() == {("pods", "object"): len(BAD_OBJECTS)}


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
