"""The ConfigMap that says whom to believe, over real sockets."""

import pytest

from adapter import errors
from adapter.kube import authentication
from adapter.kube.authentication import KubeAuthentication

CONFIGMAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "extension-apiserver-authentication", "namespace": "kube-system"},
}


@pytest.fixture
def found(client):
    return KubeAuthentication(client)


def put(kube, **more):
    kube.world.put(kube.world.kind("configmaps"), CONFIGMAP | more)


async def test_its_data_is_read(found, kube):
    """As it stands, with one get of this one object."""
    put(kube, data={"client-ca-file": "x", "other": "y"})
    assert await found.read() == {"client-ca-file": "x", "other": "y"}
    assert [(one.verb, one.path) for one in kube.asked] == [("get", authentication.PATH)]


@pytest.mark.parametrize("more", [{}, {"data": None}, {"data": {}}])
async def test_without_data_it_is_empty(found, kube, more):
    """It is there, all the same."""
    put(kube, **more)
    assert await found.read() == {}


async def test_it_may_be_missing(found):
    """That is an answer, not a failure."""
    assert await found.read() is None


@pytest.mark.parametrize(
    ("fault", "word"),
    [({"status": 403}, "Forbidden"), ({"status": 500}, "Refused"), ({"drop": True}, "Broken")],
)
async def test_a_failure_says_what_to_do(found, kube, fault, word):
    """A missing RoleBinding is named only where the server forbids it; else it is the way to the server."""
    kube.fail("get", "configmaps", **fault)
    with pytest.raises(errors.AccessUnknown, match=f"extension-apiserver-authentication: {word}$") as caught:
        await found.read()
    advice = "extension-apiserver-authentication-reader" if word == "Forbidden" else "the API server runs"
    assert advice in caught.value.next_step


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"{}", b'{"kind":"Status"}', b'{"kind":"ConfigMap","data":{"a":1}}']
)
async def test_what_is_no_configmap_is_a_failure(found, kube, body):
    """It is not taken for an empty one."""
    kube.fail("get", "configmaps", status=200, body=body)
    with pytest.raises(errors.AccessUnknown, match="BadAnswer"):
        await found.read()
