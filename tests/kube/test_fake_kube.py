"""The stand-in API server: its shapes are those of the real one, as recorded."""

import asyncio
import json
import sys
from pathlib import Path

import aiohttp
import pytest

from tests.support.fake_kube import FakeKube
from tests.support.fake_kube_world import Kind, many_kinds

DATA = Path(__file__).parent.parent / "data"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
METRICS = [
    Kind("custom.metrics.k8s.io", ("v1beta2", "v1beta1"), "", "pods"),
    Kind("external.metrics.k8s.io", ("v1beta1",), "", "queue"),
]


@pytest.fixture
async def session():
    async with aiohttp.ClientSession() as found:
        yield found


async def get(session, url, accept="application/json"):
    async with session.get(url, headers={"Accept": accept}) as response:
        return response.status, response.headers["Content-Type"], await response.json(content_type=None)


def recorded(name):
    return json.loads((DATA / name).read_text())


async def test_groups_in_the_old_form_are_as_recorded(session):
    """Byte by byte the body of a real kube-apiserver."""
    async with FakeKube(METRICS) as kube:
        status, kind, body = await get(session, f"{kube.url}/apis")
    golden = recorded("kube-apiserver-apis.json")
    assert (status, kind, body) == (golden["status"], "application/json", golden["body"])


async def test_groups_in_the_aggregated_form_are_as_recorded(session):
    """Also the type that says which form it is."""
    async with FakeKube(METRICS) as kube:
        status, kind, body = await get(session, f"{kube.url}/apis", AGGREGATED)
    golden = recorded("kube-apiserver-apis-aggregated-v2.json")
    for group in body["items"]:
        for version in group["versions"]:
            version.pop("resources")  # the recorded server had none at that moment
    assert (status, body) == (golden["status"], golden["body"])
    assert kind == dict(golden["headers"])["Content-Type"]


async def test_a_server_without_the_aggregated_form_answers_in_the_old_one(session, kube):
    """As before 1.26."""
    kube.aggregated = ()
    assert (await get(session, f"{kube.url}/apis", f"{AGGREGATED},application/json"))[2][
        "kind"
    ] == "APIGroupList"
    assert (await get(session, f"{kube.url}/api", f"{AGGREGATED},application/json"))[2][
        "kind"
    ] == "APIVersions"


async def test_a_list_has_pages(session, kube):
    """Each tells how many objects are left."""
    for number in range(5):
        kube.put("pods", f"p{number}", "shop")
    _, _, first = await get(session, f"{kube.url}/api/v1/pods?limit=2")
    assert [one["metadata"]["name"] for one in first["items"]] == ["p0", "p1"]
    assert first["metadata"]["remainingItemCount"] == 3
    token = first["metadata"]["continue"]
    kube.expire()
    status, _, body = await get(session, f"{kube.url}/api/v1/pods?limit=2&continue={token}")
    assert (status, body["reason"], body["kind"]) == (410, "Expired", "Status")


async def test_objects_change_over_http(session, kube):
    """For when it runs as a process of its own."""
    url = f"{kube.url}/apis/apps/v1/namespaces/shop/deployments"
    async with session.post(url, json={"metadata": {"name": "web"}}) as response:
        assert response.status == 201
    assert (await get(session, f"{url}/web"))[2]["metadata"]["namespace"] == "shop"
    async with session.delete(f"{url}/web") as response:
        assert response.status == 200
    assert (await get(session, f"{url}/web"))[0] == 404
    async with session.delete(f"{url}/web") as response:
        assert response.status == 404


async def test_a_namespace_of_a_list(session, kube):
    """Objects of other namespaces are left out."""
    kube.put("pods", "a", "shop")
    kube.put("pods", "b", "other")
    _, _, body = await get(session, f"{kube.url}/api/v1/namespaces/shop/pods")
    assert [one["metadata"]["name"] for one in body["items"]] == ["a"]
    assert body["kind"] == "PodList"


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/version"])
async def test_probes(session, kube, path):
    """Tools ask these first."""
    async with session.get(kube.url + path) as response:
        assert response.status == 200


@pytest.mark.parametrize("path", ["/", "/apis/nope", "/apis/apps/v9", "/api/v1/nopes", "/nope"])
async def test_unknown_paths(session, kube, path):
    """A Status, as everywhere."""
    status, _, body = await get(session, kube.url + path)
    assert (status, body["reason"]) == (404, "NotFound")


async def test_any_number_of_groups(session):
    """Clusters with thousands of CRDs exist."""
    async with FakeKube(many_kinds(300)) as kube:
        assert len((await get(session, f"{kube.url}/apis", AGGREGATED))[2]["items"]) == 300


async def test_it_runs_as_a_process_of_its_own(session, tmp_path):
    """Its first line is its address."""
    path = tmp_path / "objects.yaml"
    path.write_text(
        "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b}}]}"
    )
    command = [sys.executable, "-m", "tests.support.fake_kube", "--objects", str(path), "--port", "0"]
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, cwd=DATA.parent.parent
    )
    try:
        url = (await process.stdout.readline()).decode().strip()
        assert (await get(session, f"{url}/api/v1/pods"))[2]["items"][0]["metadata"]["name"] == "a"
    finally:
        process.terminate()
        await process.communicate()
