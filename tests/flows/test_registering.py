"""Registering and unregistering: what is ours, what is not, and who is faster."""

import pytest

from adapter.flows import registering
from adapter.flows.registering import Taken
from adapter.wire import apis, registration
from adapter.wire.registration import Service
from adapter.wire.stored import Changed
from tests.support.replicas import MemoryRegistrations

SERVICE = Service("adapter", "metrics")
NAMES = registration.names((apis.CUSTOM,))


@pytest.fixture
def found():
    return MemoryRegistrations()


def wanted(bundle=b"pem", service=SERVICE):
    return registration.documents((apis.CUSTOM,), service, bundle)


def force(found, service, name=NAMES[0], **labels):
    document = next(one for one in wanted(b"theirs", service) if one["metadata"]["name"] == name)
    found.force(name, document | {"metadata": {"name": name, "labels": labels}})
    found.writes.clear()


async def register(found, documents=None, *, take_over=False, dry_run=False):
    documents = wanted() if documents is None else documents
    return [
        (one.name, one.does, one.note)
        for one in await registering.register(found, documents, take_over=take_over, dry_run=dry_run)
    ]


async def unregister(found, *, dry_run=False, service=SERVICE):
    return [
        (one.name, one.does, one.note)
        for one in await registering.unregister(found, NAMES, service, dry_run=dry_run)
    ]


def did(does, note=""):
    return [(name, does, note) for name in NAMES]


class Busy(MemoryRegistrations):
    """Somebody else writes before each of our first writes."""

    def __init__(self, times):
        super().__init__()
        self.times = times

    async def put(self, name, document):
        self._meddle(name)
        return await super().put(name, document)

    async def remove(self, document):
        self._meddle(document["metadata"]["name"])
        await super().remove(document)

    def _meddle(self, name):
        if self.times and name in self.objects:
            self.times -= 1
            self.force(name, self.objects[name])


# -- register


async def test_what_is_not_there_is_created_and_then_left_as_it_is(found):
    """The second time nothing is written."""
    assert await register(found) == did("created")
    assert await register(found) == did("unchanged")
    assert sorted(found.writes) == sorted(NAMES)


async def test_without_a_ca_it_is_said_that_one_is_wanting(found):
    """Created all the same: the adapter with its own CA fills it in."""
    ((_, does, note), _) = await register(found, wanted(b""))
    assert does == "created"
    assert "--self-managed-tls" in note


async def test_other_port_or_ca_is_an_update(found):
    """Of what is ours."""
    await register(found)
    assert await register(found, wanted(b"new")) == did("updated")
    assert await register(found, wanted(b"", Service("adapter", "metrics", 6443))) == did("updated")
    assert registration.bundle_of(found.objects[NAMES[0]]) == b"new"
    assert found.objects[NAMES[0]]["spec"]["service"]["port"] == 6443


async def test_group_of_another_is_left_to_it_as_a_whole(found):
    """Half a group would send all autoscalers to the version that they like best."""
    force(found, Service("prometheus-adapter", "monitoring"), NAMES[1])
    with pytest.raises(Taken) as caught:
        await register(found)
    assert f"{NAMES[1]} is served by prometheus-adapter, monitoring/prometheus-adapter" in str(caught.value)
    assert not found.writes


async def test_all_that_is_taken_is_named_at_once(found):
    """Not one after the other."""
    for name, service in zip(NAMES, ("keda-metrics", "metrics-server"), strict=True):
        force(found, Service(service, "kube-system"), name)
    with pytest.raises(Taken) as caught:
        await register(found)
    assert "KEDA" in str(caught.value)
    assert "metrics-server" in str(caught.value)


async def test_taking_over_says_from_whom(found):
    """Their CAs go, our mark comes, and `unregister` may remove it."""
    force(found, Service("prometheus-adapter", "monitoring"), **{registration.MARK: "Helm"})
    outcomes = await register(found, take_over=True)
    assert outcomes[0] == (
        NAMES[0],
        "updated",
        "taken over from prometheus-adapter, monitoring/prometheus-adapter",
    )
    assert registration.bundle_of(found.objects[NAMES[0]]) == b"pem"
    assert await unregister(found) == did("removed")


async def test_what_helm_made_for_us_stays_with_helm(found):
    """It is brought up to date, and not removed."""
    for name in NAMES:
        force(found, SERVICE, name, **{registration.MARK: "Helm"})
    assert await register(found) == did("updated", "it stays with Helm, and unregister will not remove it")
    assert await unregister(found) == did(
        "left", "Helm manages it: remove it in the way in which it was made"
    )


async def test_dry_run_writes_nothing(found):
    """It says the same."""
    assert await register(found, dry_run=True) == did("created")
    await register(found)
    found.writes.clear()
    assert await register(found, wanted(b"new"), dry_run=True) == did("updated")
    assert await unregister(found, dry_run=True) == did("removed")
    assert not found.writes
    assert list(found.objects) == list(NAMES)


async def test_somebody_who_writes_meanwhile_is_not_overwritten():
    """All is read and judged again, up to four times; then it is given up."""
    found = Busy(0)
    await register(found)
    found.times = 4
    assert await register(found, wanted(b"new")) == did("updated")
    found.times = 5
    with pytest.raises(Changed):
        await register(found, wanted(b"newer"))


async def test_who_takes_it_meanwhile_keeps_it():
    """Between the first look and the write it became another's: the second look sees that."""

    class Taking(MemoryRegistrations):
        async def put(self, name, document):
            force(self, Service("prometheus-adapter", "monitoring"), name)
            return await super().put(name, document)

    found = Taking()
    with pytest.raises(Taken):
        await register(found)
    assert registration.service_of(found.objects[NAMES[0]]).name == "prometheus-adapter"


# -- unregister


async def test_what_was_registered_is_removed(found):
    """And a second time there is nothing to remove."""
    await register(found)
    assert await unregister(found) == did("removed")
    assert not found.objects
    assert await unregister(found) == did("absent")


async def test_what_is_not_ours_is_left(found):
    """Another program's, another installation's, and what was made by hand for our Service."""
    force(found, Service("prometheus-adapter", "monitoring"), NAMES[0])
    force(found, SERVICE, NAMES[1])
    (first, second) = await unregister(found)
    assert first == (NAMES[0], "left", "it is served by prometheus-adapter, monitoring/prometheus-adapter")
    assert second[1] == "left"
    assert "not made by `register`" in second[2]
    await register(found, take_over=True)
    assert [one[1] for one in await unregister(found, service=Service("adapter", "test"))] == ["left"] * 2
    assert not any(one.startswith("-") for one in found.writes)


async def test_removal_looks_again_when_somebody_was_faster():
    """What changed meanwhile may not be ours any more."""
    found = Busy(0)
    await register(found)
    found.times = 2
    assert await unregister(found) == did("removed")
