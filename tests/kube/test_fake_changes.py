"""The stand-in API server's changes of objects: created once, locked by resourceVersion, validated where it matters."""

import json

import aiohttp
import pytest

from tests.support.fake_kube import FakeKube

SECRETS = "/api/v1/namespaces/shop/secrets"
SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
NAME = "v1beta2.custom.metrics.k8s.io"


@pytest.fixture
async def call(kube):
    """`call(method, path, body)` gives (status, body)."""
    async with aiohttp.ClientSession() as session:

        async def send(method, path, body=None, kind="application/json"):
            headers = {"Content-Type": kind}
            async with session.request(method, kube.url + path, json=body, headers=headers) as response:
                return response.status, await response.json()

        yield send


def secret(**more):
    return {"metadata": {"name": "tls"}, "stringData": {"a": "b"}} | more


def api_service(**spec):
    whole = {
        "group": "custom.metrics.k8s.io",
        "version": "v1beta2",
        "service": {"name": "adapter", "namespace": "shop"},
        "groupPriorityMinimum": 100,
        "versionPriority": 200,
    }
    return {"metadata": {"name": NAME}, "spec": whole | spec}


async def test_a_secret_is_made_once(call):
    """The second to make it gets 409; text becomes base64."""
    status, body = await call("POST", SECRETS, secret())
    assert (status, body["data"], body["type"], body["metadata"]["namespace"]) == (
        201,
        {"a": "Yg=="},
        "Opaque",
        "shop",
    )
    status, body = await call("POST", SECRETS, secret())
    assert (status, body["reason"], body["message"]) == (409, "AlreadyExists", 'secrets "tls" already exists')


async def test_of_two_who_read_the_same_version_one_writes(call):
    """The other gets 409 Conflict in the real server's words, and the object stays the winner's."""
    _, read = await call("POST", SECRETS, secret())
    won = await call("PUT", f"{SECRETS}/tls", read | {"data": {"a": "MQ=="}})
    status, lost = await call("PUT", f"{SECRETS}/tls", read | {"data": {"a": "Mg=="}})
    assert (won[0], status, lost["reason"]) == (200, 409, "Conflict")
    assert lost["message"] == (
        'Operation cannot be fulfilled on secrets "tls": the object has been modified;'
        " please apply your changes to the latest version and try again"
    )
    assert lost["details"] == {"name": "tls", "kind": "secrets"}
    assert (await call("GET", f"{SECRETS}/tls"))[1]["data"] == {"a": "MQ=="}


async def test_what_changes_nothing_makes_no_new_version(call, kube):
    """So a loop that writes always the same wakes nobody."""
    _, read = await call("POST", SECRETS, secret())
    version = kube.world.version
    assert (await call("PUT", f"{SECRETS}/tls", read))[1] == read
    assert kube.world.version == version


async def test_a_put_does_not_make_a_secret(call):
    """404, unlike kinds that tests change by hand."""
    assert (await call("PUT", f"{SECRETS}/tls", secret()))[0] == 404
    assert (await call("PUT", "/api/v1/namespaces/shop/pods/a", {"metadata": {"name": "a"}}))[0] == 200


async def test_names_and_ids_must_fit(call):
    """The name of the address, the uid of the object."""
    _, read = await call("POST", SECRETS, secret())
    other = read | {"metadata": {"name": "other"}}
    assert (await call("PUT", f"{SECRETS}/tls", other))[0] == 400
    reborn = read | {"metadata": read["metadata"] | {"uid": "another"}}
    status, body = await call("PUT", f"{SECRETS}/tls", reborn)
    assert (status, "UID in precondition: another" in body["message"]) == (409, True)


async def test_versions_are_the_server_s_to_give(call):
    """Not to be sent with a new object."""
    status, body = await call("POST", SECRETS, {"metadata": {"name": "tls", "resourceVersion": "1"}})
    assert (status, "should not be set" in body["message"]) == (500, True)


async def test_data_must_be_base64(call):
    """400, as the real one's decoder says."""
    assert (await call("POST", SECRETS, secret(data={"x": "?"})))[0] == 400


async def test_an_immutable_secret_stays(call):
    """422 on a change of its data."""
    _, read = await call("POST", SECRETS, secret(immutable=True))
    assert (await call("PUT", f"{SECRETS}/tls", read | {"data": {"a": "MQ=="}}))[0] == 422


@pytest.mark.parametrize(
    ("patch", "kind", "labels"),
    [
        ({"metadata": {"labels": {"b": "2", "a": None}}}, "application/merge-patch+json", {"b": "2"}),
        (
            {"metadata": {"labels": {"b": "2"}}},
            "application/strategic-merge-patch+json",
            {"a": "1", "b": "2"},
        ),
        (
            [{"op": "add", "path": "/metadata/labels/b~1c", "value": "2"}],
            "application/json-patch+json",
            {"a": "1", "b/c": "2"},
        ),
        ([{"op": "remove", "path": "/metadata/labels/a"}], "application/json-patch+json", {}),
    ],
)
async def test_patches(call, patch, kind, labels):
    """Merge patches and steps; the rest stays."""
    await call("POST", SECRETS, secret(metadata={"name": "tls", "labels": {"a": "1"}}))
    status, body = await call("PATCH", f"{SECRETS}/tls", patch, kind)
    assert (status, body["metadata"]["labels"], body["data"]) == (200, labels, {"a": "Yg=="})


@pytest.mark.parametrize(
    ("patch", "kind", "status"),
    [
        ({"metadata": {"resourceVersion": "1"}}, "application/merge-patch+json", 409),
        ([{"op": "test", "path": "/type", "value": "other"}], "application/json-patch+json", 422),
        ([{"op": "replace", "path": "/none", "value": 1}], "application/json-patch+json", 422),
        ({}, "application/apply-patch+yaml", 415),
    ],
)
async def test_patches_that_are_refused(call, patch, kind, status):
    """A version in a patch locks it too."""
    await call("POST", SECRETS, secret())
    assert (await call("PATCH", f"{SECRETS}/tls", patch, kind))[0] == status


async def test_deletion_with_preconditions(call):
    """Only the version that was read."""
    _, read = await call("POST", SECRETS, secret())
    stale = {"preconditions": {"resourceVersion": "1"}}
    assert (await call("DELETE", f"{SECRETS}/tls", stale))[0] == 409
    right = {"preconditions": {key: read["metadata"][key] for key in ("uid", "resourceVersion")}}
    assert (await call("DELETE", f"{SECRETS}/tls", right))[0] == 200
    assert (await call("GET", f"{SECRETS}/tls"))[0] == 404


async def test_an_api_service_is_changed_only_with_its_version(call):
    """422 without one: it has no unconditional update."""
    status, read = await call("POST", SERVICES, api_service())
    assert (status, read["spec"]["service"]["port"]) == (201, 443)
    status, body = await call("PUT", f"{SERVICES}/{NAME}", api_service(versionPriority=10))
    assert (status, "must be specified for an update" in body["message"]) == (422, True)


async def test_the_status_of_an_api_service_is_the_server_s(call, kube):
    """A PUT of the object leaves it as it is."""
    _, read = await call("POST", SERVICES, api_service() | {"status": {"conditions": ["mine"]}})
    assert "status" not in read
    kind = kube.world.kind("apiservices.apiregistration.k8s.io")
    kube.world.put(kind, read | {"status": {"conditions": ["the server's"]}})
    _, read = await call("GET", f"{SERVICES}/{NAME}")
    _, after = await call("PUT", f"{SERVICES}/{NAME}", read | {"status": {"conditions": []}})
    assert after["status"] == {"conditions": ["the server's"]}


@pytest.mark.parametrize(
    "spec",
    [
        {"version": "v1"},
        {"groupPriorityMinimum": 0},
        {"versionPriority": 1001},
        {"caBundle": "LS0tCg==", "insecureSkipTLSVerify": True},
        {"service": None, "caBundle": "LS0tCg=="},
    ],
)
async def test_an_api_service_is_validated(call, spec):
    """422 Invalid."""
    status, body = await call("POST", SERVICES, api_service(**spec))
    assert (status, body["reason"]) == (422, "Invalid")


# -- selections


async def test_lists_and_watches_by_label_and_field(call, kube):
    """What a role with resourceNames asks for, and what a registration looks for."""
    kube.put("secrets", "a", "shop", labels={"app": "x"})
    kube.put("secrets", "b", "shop", labels={"app": "y"})
    for query in ("labelSelector=app%3Dx", "fieldSelector=metadata.name%3Da"):
        _, body = await call("GET", f"{SECRETS}?{query}")
        assert [one["metadata"]["name"] for one in body["items"]] == ["a"]


async def test_a_watch_by_label_tells_of_objects_that_leave_it(kube):
    """An object that loses the label is deleted, for this watch."""
    async with aiohttp.ClientSession() as session:
        url = f"{kube.url}{SECRETS}?watch=true&labelSelector=app%3Dx"
        kube.put("secrets", "b", "shop", labels={"app": "y"})
        kube.put("secrets", "a", "shop", labels={"app": "x"})
        async with session.get(url) as response:
            words = [await response.content.readline()]
            kube.put("secrets", "a", "shop", labels={})
            kube.put("secrets", "a", "shop", labels={"app": "x"})
            words += [await response.content.readline() for _ in range(2)]
    assert [json.loads(one)["type"] for one in words] == ["ADDED", "DELETED", "ADDED"]


async def test_the_authorities_rotate_by_a_call():
    """get, list and watch show it; None takes it away."""
    async with FakeKube() as kube, aiohttp.ClientSession() as session:
        base = f"{kube.url}/api/v1/namespaces/kube-system/configmaps"
        name = "extension-apiserver-authentication"
        kube.publish_authorities({"client-ca-file": "one"})
        async with session.get(f"{base}/{name}") as response:
            assert (await response.json())["data"] == {"client-ca-file": "one"}
        async with session.get(f"{base}?watch=true&fieldSelector=metadata.name%3D{name}") as response:
            assert b'"one"' in await response.content.readline()
            kube.publish_authorities({"client-ca-file": "two"})
            assert b'"two"' in await response.content.readline()
        kube.publish_authorities(None)
        kube.publish_authorities(None)
        async with session.get(f"{base}/{name}") as response:
            assert response.status == 404
