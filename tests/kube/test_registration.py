"""APIServices, against a stand-in API server that locks and validates them as the real one."""

import pytest

from adapter.kube.registration import KubeRegistrations
from adapter.wire import apis, registration
from adapter.wire.registration import Service
from adapter.wire.stored import Changed, NotPermitted, Rejected, StoredError

NAME = "v1beta2.custom.metrics.k8s.io"
SERVICE = Service("adapter", "metrics")
BUNDLE = b"-----BEGIN CERTIFICATE-----\n"


@pytest.fixture
def registrations(client):
    return KubeRegistrations(client)


def document(bundle=BUNDLE):
    return registration.documents((apis.CUSTOM,), SERVICE, bundle)[0]


def held(kube, name=NAME):
    return kube.world.objects[kube.world.kind("apiservices.apiregistration.k8s.io")]["", name]


async def test_registration_that_is_not_there_is_none(registrations):
    """That is no failure."""
    assert await registrations.read(NAME) is None


@pytest.mark.parametrize("bundle", [b"", BUNDLE])
async def test_ours_are_valid_and_read_as_they_were_made(registrations, bundle):
    """The stand-in refuses what the real one refuses."""
    for one in registration.documents((apis.CUSTOM,), SERVICE, bundle):
        made = await registrations.create(one)
        assert made == await registrations.read(one["metadata"]["name"])
        assert made["spec"] == one["spec"]


async def test_only_one_makes_it(registrations):
    """The second is told that it was too late."""
    await registrations.create(document())
    with pytest.raises(Changed):
        await registrations.create(document())


async def test_only_one_changes_it(registrations):
    """A write is about the version that was read; the API server's own writes of the status count too."""
    await registrations.create(document())
    one, other = await registrations.read(NAME), await registrations.read(NAME)
    await registrations.replace(registration.with_bundle(one, b"one"))
    with pytest.raises(Changed):
        await registrations.replace(registration.with_bundle(other, b"other"))
    assert registration.bundle_of(await registrations.read(NAME)) == b"one"


async def test_status_is_not_ours_to_write(registrations, kube):
    """What the API server found out about the adapter goes back as it came, and stays."""
    await registrations.create(document())
    body = dict(held(kube)) | {"status": {"conditions": [{"type": "Available", "status": "True"}]}}
    kube.world.put(kube.world.kind("apiservices.apiregistration.k8s.io"), body)
    await registrations.replace(registration.with_bundle(await registrations.read(NAME), b"new"))
    assert held(kube)["status"]["conditions"][0]["status"] == "True"


async def test_removed_is_gone(registrations, kube):
    """And there is none any more."""
    await registrations.remove(await registrations.create(document()))
    assert await registrations.read(NAME) is None


async def test_what_changed_meanwhile_is_not_removed(registrations):
    """Somebody may have made it his: who removes it must look again."""
    found = await registrations.create(document())
    await registrations.replace(registration.with_bundle(found, b"new"))
    with pytest.raises(Changed):
        await registrations.remove(found)
    assert await registrations.read(NAME) is not None


async def test_what_was_made_anew_meanwhile_is_not_removed(registrations, kube):
    """The same name, but another object."""
    found = await registrations.create(document())
    kube.delete("apiservices.apiregistration.k8s.io", NAME)
    with pytest.raises(Changed):
        await registrations.remove(found)
    with pytest.raises(Changed):
        await registrations.replace(found)


async def test_what_is_not_valid_is_rejected(registrations):
    """With the API server's words."""
    bad = document()
    bad["spec"]["versionPriority"] = 0
    with pytest.raises(Rejected, match="versionPriority"):
        await registrations.create(bad)


@pytest.mark.parametrize(("status", "error"), [(403, NotPermitted), (503, StoredError)])
async def test_refusals(registrations, kube, status, error):
    """A right that lacks is told from a server that is not well."""
    found = await registrations.create(document())
    kube.fail("delete", "apiservices.apiregistration.k8s.io", status=status)
    with pytest.raises(StoredError) as caught:
        await registrations.remove(found)
    assert type(caught.value) is error
