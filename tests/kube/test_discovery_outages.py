"""Groups that stop answering keep their kinds; groups that are gone lose them."""

import json
import logging

import pytest

from adapter.kube.discovery import Discovery
from tests.support.fake_kube_world import Kind

GROUP = "shop.example.com"
WIDGETS = Kind(GROUP, ("v1", "v1beta1"), "Widget", "widgets", singular="widget")
WANTED = frozenset({"", GROUP})
SOME_AND_ALL = pytest.mark.parametrize("groups", [WANTED, None], ids=["some", "all"])


@pytest.fixture
async def discovery(client, kube):
    """Widgets are known already."""
    kube.world.kinds.append(WIDGETS)
    found = Discovery(client)
    assert versions(await found.kinds(WANTED)) == ["v1", "v1beta1"]
    return found


@pytest.fixture
def told(caplog):
    """What was logged: [(event, what), ...]."""
    caplog.set_level(logging.INFO, "adapter")
    return lambda: [(one.getMessage(), one.what) for one in caplog.records]


def versions(kinds):
    return [one.version for one in kinds.resources if one.group == GROUP]


def uninstall(kube):
    kube.world.kinds.remove(WIDGETS)


@pytest.mark.parametrize(
    "how",
    [{"status": 503}, {"status": 500}, {"status": 403}, {"status": 200, "body": b"<html>"}, {"drop": True}],
    ids=str,
)
@pytest.mark.parametrize("path", ["/apis/shop.example.com", "/apis/shop.example.com/v1"])
async def test_what_does_not_answer_keeps_its_kinds(discovery, kube, told, how, path):
    """Its rules stay in the catalog, in whatever way it fails; it is told once, and once when it is back."""
    fault = kube.fail("discovery", path, **how)
    for _ in range(3):
        kinds = await discovery.kinds(WANTED)
        assert versions(kinds) == ["v1", "v1beta1"]
        assert kinds.parse("widgets.shop.example.com").version == "v1"
    kube.faults.remove(fault)
    assert versions(await discovery.kinds(WANTED)) == ["v1", "v1beta1"]
    what = path.removeprefix("/apis/")
    assert told() == [("kinds_kept", what), ("kinds_back", what)]


@pytest.mark.parametrize("aggregated", [("v2",), ()], ids=["new", "old"])
async def test_an_extension_server_that_restarts_keeps_its_kinds(discovery, kube, told, aggregated):
    """The same when all groups are asked, in both forms of discovery."""
    kube.aggregated, kube.stale = aggregated, {f"{GROUP}/v1", f"{GROUP}/v1beta1"}
    for _ in range(2):
        assert versions(await discovery.kinds(None)) == ["v1", "v1beta1"]
    assert told() == [("kinds_kept", f"{GROUP}/v1"), ("kinds_kept", f"{GROUP}/v1beta1")]


async def test_stale_kinds_that_the_api_server_remembers_are_newer_than_ours(discovery, kube):
    """It may list them itself while it calls the version stale."""
    entry = {"resource": "gadgets", "responseKind": {"kind": "Gadget"}, "scope": "Namespaced"}
    version = {"version": "v1", "freshness": "Stale", "resources": [entry]}
    body = {"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": GROUP}, "versions": [version]}]}
    kube.fail("discovery", "/apis", status=200, body=json.dumps(body).encode())
    kinds = await discovery.kinds(None)
    assert kinds.parse("gadgets.shop.example.com")
    assert not kinds.parse("widgets.shop.example.com")


@SOME_AND_ALL
async def test_a_group_that_is_gone_loses_its_kinds(discovery, kube, groups):
    """The cluster says so: 404, or it lists the group no more. Old kinds do not come back by a later failure."""
    uninstall(kube)
    assert versions(await discovery.kinds(groups)) == []
    kube.fail("discovery", f"/apis/{GROUP}", status=503)
    assert versions(await discovery.kinds(WANTED)) == []


async def test_a_version_that_is_gone_loses_its_kinds(discovery, kube):
    """A version that the group does not list, or lists without serving it."""
    kube.fail("discovery", f"/apis/{GROUP}/v1", status=404)
    assert versions(await discovery.kinds(WANTED)) == ["v1beta1"]
    kube.heal()
    body = {"name": GROUP, "versions": [{"version": "v1"}], "preferredVersion": {"version": "v1"}}
    kube.fail("discovery", f"/apis/{GROUP}", status=200, body=json.dumps(body).encode())
    assert versions(await discovery.kinds(WANTED)) == ["v1"]


async def test_each_change_of_state_is_told_once(discovery, kube, told):
    """Kept, then gone, then back: three lines, however often it is asked in between."""
    kube.fail("discovery", f"/apis/{GROUP}", status=503)
    await discovery.kinds(WANTED)
    await discovery.kinds(WANTED)
    kube.heal()
    uninstall(kube)
    await discovery.kinds(WANTED)
    await discovery.kinds(WANTED)
    kube.world.kinds.append(WIDGETS)
    await discovery.kinds(WANTED)
    await discovery.kinds(WANTED)
    assert told() == [("kinds_kept", GROUP), ("kinds_missing", GROUP), ("kinds_back", GROUP)]


async def test_asking_for_others_in_between_is_no_change(discovery, told):
    """A rule that names no kind makes us ask for some and for all groups in turn."""
    for _ in range(3):
        await discovery.kinds(WANTED | {"nothing.example.com"})
        await discovery.kinds(None)
    assert told() == [("kinds_missing", "nothing.example.com")]
