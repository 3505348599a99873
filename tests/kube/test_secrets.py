"""The one Secret, against a stand-in API server."""

import base64
import json

import pytest

from adapter.kube.secrets import KubeSecret
from adapter.wire.stored import Changed, NotPermitted, Rejected, StoredError

PATH = "/api/v1/namespaces/metrics/secrets/pair"
DATA = {"tls.crt": b"certificate", "tls.key": b"key \xff\x00"}


@pytest.fixture
def secret(client):
    return KubeSecret(client, namespace="metrics", name="pair")


def held(kube):
    return kube.world.objects[kube.world.kind("secrets")]["metrics", "pair"]


async def test_secret_that_is_not_there_is_none(secret):
    """That is no failure: one is made then."""
    assert await secret.read() is None


async def test_what_is_written_is_read_again(secret, kube):
    """Bytes, in base64 as the API has them; the type says what it is."""
    written = await secret.write(None, DATA)
    found = await secret.read()
    assert found.data == written.data == DATA
    assert held(kube)["type"] == "kubernetes.io/tls"
    assert held(kube)["data"]["tls.key"] == base64.b64encode(DATA["tls.key"]).decode()


async def test_only_one_makes_it(secret):
    """Of two replicas that see none, the second is told that it was too late."""
    await secret.write(None, DATA)
    with pytest.raises(Changed):
        await secret.write(None, DATA)


async def test_only_one_changes_it(secret):
    """Of two that read the same version, likewise; whoever reads again may write again."""
    await secret.write(None, DATA)
    one, other = await secret.read(), await secret.read()
    await secret.write(one, DATA | {"tls.crt": b"one"})
    with pytest.raises(Changed):
        await secret.write(other, DATA | {"tls.crt": b"other"})
    again = await secret.read()
    assert again.data["tls.crt"] == b"one"
    assert (await secret.write(again, DATA)).data == DATA


async def test_secret_that_was_removed_meanwhile_is_changed(secret, kube):
    """The next reading says that there is none."""
    written = await secret.write(None, DATA)
    kube.delete("secrets", "pair", "metrics")
    with pytest.raises(Changed):
        await secret.write(written, DATA)


async def test_what_else_it_holds_stays(secret, kube):
    """Labels, type and further keys are somebody's; an empty one of the manifests is filled."""
    kube.world.put(
        kube.world.kind("secrets"),
        {
            "metadata": {"name": "pair", "namespace": "metrics", "labels": {"a": "b"}},
            "type": "Opaque",
            "data": {"note": base64.b64encode(b"hands off").decode()},
        },
    )
    await secret.write(await secret.read(), DATA)
    assert held(kube)["metadata"]["labels"] == {"a": "b"}
    assert held(kube)["type"] == "Opaque"
    assert (await secret.read()).data == DATA | {"note": b"hands off"}


async def test_secret_without_data_is_empty(secret, kube):
    """As `kubectl create` makes one."""
    kube.put("secrets", "pair", "metrics")
    found = await secret.read()
    assert found.data == {}
    assert (await secret.write(found, DATA)).data == DATA


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, NotPermitted),
        (403, NotPermitted),
        (400, Rejected),
        (422, Rejected),
        (409, Changed),
        (500, StoredError),
    ],
)
@pytest.mark.parametrize("verb", ["get", "put", "post"])
async def test_a_refusal_has_the_servers_words(secret, kube, verb, status, error):
    """Each with what can be done about it."""
    written = await secret.write(None, DATA)
    kube.fail(verb, "secrets", status=status)
    calls = {
        "get": secret.read,
        "put": lambda: secret.write(written, DATA),
        "post": lambda: secret.write(None, DATA),
    }
    with pytest.raises(StoredError) as caught:
        await calls[verb]()
    assert type(caught.value) is error
    assert str(caught.value) == "the stand-in was told to fail"


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"[]",
        b'{"kind": "ConfigMap", "metadata": {}}',
        b'{"kind": "Secret"}',
        b'{"kind": "Secret", "metadata": {}, "data": {"tls.key": "x"}}',
        b'{"kind": "Secret", "metadata": {}, "data": {"tls.key": 7}}',
        b'{"kind": "Secret", "metadata": {}, "data": ["x"]}',
    ],
)
async def test_what_is_no_secret_is_refused(secret, kube, body):
    """Nothing half-read comes out."""
    kube.fail("get", "secrets", body=body, status=200)
    with pytest.raises(StoredError) as caught:
        await secret.read()
    assert caught.value.cause == "BadAnswer"


async def test_server_that_is_away(secret, kube):
    """The cause word of the transport."""
    await kube.stop()
    with pytest.raises(StoredError) as caught:
        await secret.read()
    assert caught.value.cause == "Connect"


async def test_content_does_not_show(secret):
    """Neither in a log nor in the output of a failing test."""
    written = await secret.write(None, DATA)
    assert "key" not in str(written)
    assert json.dumps(base64.b64encode(DATA["tls.key"]).decode()) not in str(written)


async def test_only_this_secret_is_asked_for(secret, kube):
    """The rights name one Secret: no list, no watch, no other name."""
    await secret.read()
    await secret.write(None, DATA)
    await secret.write(await secret.read(), DATA)
    asked = {(one.verb, one.path) for one in kube.asked}
    assert asked == {("get", PATH), ("put", PATH), ("post", PATH.removesuffix("/pair"))}
