"""Our own serving certificate: replicas that share it, registrations that follow it, years that pass."""

import asyncio
import datetime
import itertools
from functools import cache

import pytest

from adapter.flows.self_managed import ROUND_SECONDS, Places, SelfManaged
from adapter.server import issuing, own_ca
from adapter.wire import apis, registration
from adapter.wire.registration import Service
from adapter.wire.stored import NotPermitted, StoredError
from tests.support.clock import FakeClock
from tests.support.replicas import MemoryRegistrations, MemorySecret
from tests.support.sleeper import Sleeper
from tests.support.trust import accepts

HOUR, DAY = 3600.0, 86400.0
SERVICE = Service("adapter", "metrics")
HOST = "adapter.metrics.svc"
NAMES = registration.names((apis.CUSTOM,))
AWAY = StoredError("Connect", "Connect: refused")


@cache
def believed(bundle, certificate, hours):
    at = datetime.datetime.fromtimestamp(hours * HOUR, datetime.UTC)
    return accepts(bundle, certificate, HOST, at)


class Replica:
    """One adapter: what it serves, and its flow."""

    def __init__(self, cluster, service=SERVICE):
        self.cluster, self.pairs, self.refusing = cluster, [], None
        planner = issuing.Issuer(issuing.dns_names(service.name, service.namespace))
        self.sleeper = Sleeper(cluster.clock)
        self.flow = SelfManaged(
            Places(cluster.secret, cluster.registrations, NAMES, service),
            planner,
            self._deliver,
            cluster.clock,
            sleep=self.sleeper.sleep,
            random=lambda: 0.5,
        )

    @property
    def certificate(self):
        return self.pairs[-1][0] if self.pairs else None

    def _deliver(self, certificate, key):
        if self.refusing:
            raise self.refusing
        self.pairs.append((certificate, key))
        self.cluster.check()


class Cluster:
    """Some replicas and what they share. After each change every pair of (registration, replica) is looked at."""

    def __init__(self, replicas=1):
        self.clock = FakeClock()
        self.checks, self.broken = 0, []
        self.secret = MemorySecret(self.check)
        self.registrations = MemoryRegistrations(self.check)
        for document in registration.documents((apis.CUSTOM,), SERVICE, b""):
            self.registrations.force(document["metadata"]["name"], document)
        self.replicas = [Replica(self) for _ in range(replicas)]
        self.watched = False
        """Whether what the API server would not believe counts; the first moments do not."""

    @property
    def bundles(self):
        return [registration.bundle_of(one) for one in self.registrations.objects.values()]

    def check(self):
        """As the API server does at every request: does this registration's bundle vouch for this replica?"""
        if not getattr(self, "watched", False):
            return
        for bundle, replica in itertools.product(self.bundles, self.replicas):
            self.checks += 1
            if not believed(bundle, replica.certificate, self.clock.now() // HOUR):
                self.broken.append(self.clock.now())

    async def rounds(self, times=1):
        """All replicas go round at once, so often."""
        for _ in range(times):
            await asyncio.gather(*(one.flow.once() for one in self.replicas))

    async def newcomer(self):
        """A replica that is ready; before it is, the API server sends it nothing."""
        found = Replica(self)
        self.watched = False
        await found.flow.once()
        self.watched = True
        return found

    async def settled(self):
        """Everybody has what is served; from now on nothing may go wrong."""
        await self.rounds(2)
        self.watched = True
        self.check()
        assert not self.broken


@pytest.fixture
def cluster():
    return Cluster()


def events(caplog):
    return [one.getMessage() for one in caplog.records if one.name == "adapter.self_managed"]


# -- one replica


async def test_first_round_makes_everything(cluster, caplog):
    """Certificate served, Secret filled, both registrations with the CA; said once."""
    caplog.set_level("INFO")
    (replica,) = cluster.replicas
    assert replica.flow.ready() == "the serving certificate is not there yet"
    assert await replica.flow.once()
    assert replica.flow.ready() is None
    assert replica.pairs == [(cluster.secret.data["tls.crt"], cluster.secret.data["tls.key"])]
    assert cluster.bundles == [cluster.secret.data["ca.crt"]] * 2
    assert believed(cluster.bundles[0], replica.certificate, cluster.clock.now() // HOUR)
    assert events(caplog) == ["serving_ca_made", "registration_updated", "registration_updated"]


async def test_later_rounds_write_nothing(cluster, caplog):
    """Three reads each, and no line in the log."""
    await cluster.rounds()
    written = len(cluster.secret.writes), len(cluster.registrations.writes)
    caplog.clear()
    for _ in range(5):
        assert await cluster.replicas[0].flow.once()
    assert (len(cluster.secret.writes), len(cluster.registrations.writes)) == written
    assert len(cluster.replicas[0].pairs) == 1
    assert not events(caplog)


async def test_restart_goes_on_with_what_is_there(cluster):
    """A new process makes nothing: the Secret has all."""
    await cluster.rounds()
    again = Replica(cluster)
    assert await again.flow.once()
    assert again.pairs == cluster.replicas[0].pairs
    assert len(cluster.secret.writes) == 1


async def test_bundle_that_was_taken_away_is_put_back(cluster):
    """By `kubectl apply` of a file with another value in it, for example."""
    await cluster.rounds()
    found = cluster.registrations.objects[NAMES[0]]
    cluster.registrations.force(NAMES[0], registration.with_bundle(found, b"other"))
    await cluster.rounds()
    assert cluster.bundles == [cluster.secret.data["ca.crt"]] * 2


async def test_registration_that_skips_the_check_gets_it_back(cluster):
    """The API server takes either CAs or the word that says not to look; we write CAs."""
    found = cluster.registrations.objects[NAMES[0]]
    word = "insecure" + "SkipTLSVerify"
    cluster.registrations.force(NAMES[0], found | {"spec": found["spec"] | {word: True}})
    await cluster.rounds()
    spec = cluster.registrations.objects[NAMES[0]]["spec"]
    assert word not in spec
    assert spec["caBundle"]


# -- several replicas


@pytest.mark.parametrize("number", [2, 5])
async def test_replicas_that_start_at_once_serve_the_same(number):
    """One of them wins; the API server is told of one CA, and may meet any of them."""
    cluster = Cluster(number)
    await cluster.settled()
    assert cluster.secret.writes == ["secret"]
    assert len({one.certificate for one in cluster.replicas}) == 1
    assert cluster.checks == 2 * number


async def test_two_that_renew_at_once_write_once():
    """The other one reads what was written, and serves that."""
    cluster = Cluster(2)
    await cluster.settled()
    cluster.clock.advance(61 * DAY)
    await cluster.rounds()
    assert cluster.secret.writes == ["secret"] * 2
    assert len({one.certificate for one in cluster.replicas}) == 1
    assert not cluster.broken


async def test_replica_that_fell_asleep_cannot_publish_old_cas():
    """It has read the registrations before the others changed them, so its write is about a version that is no more."""
    cluster = Cluster(2)
    sleepy, awake = (one.flow for one in cluster.replicas)
    found = await sleepy._publishing.read()
    await awake.once()
    assert not await sleepy._publishing.tell(found, b"old")
    assert cluster.bundles == [cluster.secret.data["ca.crt"]] * 2


# -- time


async def test_two_years_without_one_moment_of_disbelief():
    """At each write and at each change of what is served, each registration's CAs vouch for each replica.

    The replicas go round once a day, at different times; one of them is a new process every month.
    Mutation: let SWITCH come with BEGIN in Issuer.steps, or END with SWITCH, and this fails.
    """
    cluster = Cluster(3)
    await cluster.settled()
    cas = set()
    for day in range(2 * 365):
        cluster.clock.advance(22 * HOUR)
        if day % 30 == 0:
            cluster.replicas[2] = await cluster.newcomer()
        for one in cluster.replicas:
            await one.flow.once()
            cluster.check()
            cluster.clock.advance(HOUR if one is not cluster.replicas[2] else 0)
        cas |= set(own_ca.certificates(cluster.secret.data["ca.crt"]))
    assert not cluster.broken
    assert cluster.checks > 2 * 3 * 3 * 2 * 365
    assert len(cas) == 3
    assert len(cluster.replicas[0].pairs) > 12
    assert len({one.certificate for one in cluster.replicas}) == 1


async def test_both_cas_are_published_before_the_new_one_signs(cluster, caplog):
    """The order, as the log tells it; a day between each and the next."""
    caplog.set_level("INFO")
    await cluster.settled()
    caplog.clear()
    trusted = []
    cluster.clock.advance(59 * DAY)
    for _ in range(250 * 2):
        cluster.clock.advance(DAY / 2)
        await cluster.rounds()
        trusted.append(cluster.bundles[0].count(b"BEGIN CERTIFICATE"))
    told = [one for one in events(caplog) if "ca_change" in one]
    assert told == [
        "serving_ca_change_begun",
        "serving_ca_change_switched",
        "serving_ca_change_ended",
    ]
    assert trusted.count(2) == 4
    assert not cluster.broken


async def test_new_ca_waits_for_the_registrations(cluster):
    """As long as they cannot be written, the old CA vouches for what is served, for weeks if it must."""
    await cluster.settled()
    cluster.registrations.failing["write"] = NotPermitted("Forbidden", "no")
    for _ in range(280):
        cluster.clock.advance(DAY)
        await cluster.rounds()
    assert cluster.secret.data["ca.crt"].count(b"BEGIN CERTIFICATE") == 2
    assert cluster.bundles[0].count(b"BEGIN CERTIFICATE") == 1
    assert not cluster.broken
    cluster.registrations.failing.clear()
    for _ in range(5):
        cluster.clock.advance(DAY)
        await cluster.rounds()
    assert cluster.secret.data["ca.crt"].count(b"BEGIN CERTIFICATE") == 1
    assert not cluster.broken


# -- the Secret


async def test_secret_that_is_lost_is_made_again_without_an_interruption():
    """Somebody deletes it: replicas go on with what they serve, and a new CA is brought in the usual way."""
    cluster = Cluster(2)
    await cluster.settled()
    served = cluster.replicas[0].certificate
    cluster.secret.objects.clear()
    await cluster.rounds(2)
    assert cluster.secret.data["tls.crt"] == served
    assert cluster.bundles[0].count(b"BEGIN CERTIFICATE") == 2
    for _ in range(3):
        cluster.clock.advance(DAY)
        await cluster.rounds()
    assert cluster.bundles[0].count(b"BEGIN CERTIFICATE") == 1
    assert cluster.replicas[0].certificate != served
    assert not cluster.broken


async def test_secret_of_the_manifests_is_filled(cluster):
    """It is empty there: so the adapter needs no right to make Secrets."""
    cluster.secret.force("secret", {"metadata": {"labels": {"a": "b"}}, "data": {}})
    await cluster.rounds()
    assert cluster.secret.objects["secret"]["metadata"]["labels"] == {"a": "b"}
    assert cluster.replicas[0].pairs


async def test_secret_of_somebody_else_is_left_alone(cluster, caplog):
    """Nothing is written to it, nothing of it is served or published; the log says what to do, once."""
    cluster.secret.force("secret", {"metadata": {}, "data": {"ca.crt": b"x", "tls.crt": b"y"}})
    for _ in range(3):
        assert not await cluster.replicas[0].flow.once()
    assert cluster.secret.writes == ["secret"]
    assert cluster.bundles == [b"", b""]
    assert not cluster.replicas[0].pairs
    assert events(caplog) == ["serving_secret_not_ours"]
    assert "--tls-secret" in caplog.records[-1].next


@pytest.mark.parametrize(
    ("verb", "event"), [("read", "serving_secret_not_read"), ("write", "serving_secret_not_written")]
)
async def test_secret_that_cannot_be_had(cluster, caplog, verb, event):
    """Not ready, a line when it begins, one when it is over, and tries that go on."""
    caplog.set_level("INFO")
    cluster.secret.failing[verb] = AWAY
    (replica,) = cluster.replicas
    for _ in range(3):
        assert not await replica.flow.once()
    assert replica.flow.ready()
    assert cluster.bundles == [b"", b""]
    assert events(caplog) == [event]
    cluster.secret.failing.clear()
    assert await replica.flow.once()
    assert "self_managed_recovered" in events(caplog)


async def test_replica_that_may_not_write_serves_what_is_there(cluster):
    """A renewal is due for a month before it must be done; whoever starts meanwhile serves the old one."""
    await cluster.settled()
    cluster.clock.advance(61 * DAY)
    cluster.secret.failing["write"] = NotPermitted("Forbidden", "no")
    late = Replica(cluster)
    assert not await late.flow.once()
    assert late.certificate == cluster.replicas[0].certificate


# -- the registrations


async def test_registrations_that_cannot_be_read_do_not_keep_the_certificate_away(cluster, caplog):
    """It is served; and no CA changes while nobody knows what is published."""
    cluster.registrations.failing["read"] = AWAY
    (replica,) = cluster.replicas
    for _ in range(3):
        assert not await replica.flow.once()
    assert replica.flow.ready() is None
    assert events(caplog) == ["registrations_not_read"]


async def test_registration_that_is_missing_is_named_once(cluster, caplog):
    """It is not made here: that is what the manifests and `register` are for. The other one is looked after."""
    caplog.set_level("INFO")
    kept = cluster.registrations.objects.pop(NAMES[1])
    for _ in range(3):
        assert await cluster.replicas[0].flow.once()
    assert list(cluster.registrations.objects) == [NAMES[0]]
    assert events(caplog).count("registration_missing") == 1
    assert cluster.bundles == [cluster.secret.data["ca.crt"]]
    cluster.registrations.force(NAMES[1], kept)
    await cluster.rounds()
    assert cluster.bundles == [cluster.secret.data["ca.crt"]] * 2
    assert "self_managed_recovered" in events(caplog)


async def test_registration_of_another_service_is_not_touched(cluster, caplog):
    """Its CAs are another server's."""
    found = cluster.registrations.objects[NAMES[0]]
    other = {"name": "prometheus-adapter", "namespace": "monitoring", "port": 443}
    taken = found | {"metadata": {"name": NAMES[0]}, "spec": found["spec"] | {"service": other}}
    cluster.registrations.force(NAMES[0], taken)
    await cluster.rounds(2)
    assert "caBundle" not in cluster.registrations.objects[NAMES[0]]["spec"]
    assert events(caplog) == ["registration_of_another"]
    assert "prometheus-adapter, monitoring/prometheus-adapter" in caplog.records[-1].text


async def test_registration_that_was_changed_meanwhile_is_read_again(cluster):
    """The API server writes the status whenever it likes: that is no trouble, only another round."""
    (replica,) = cluster.replicas
    found = await replica.flow._publishing.read()
    cluster.registrations.force(NAMES[1], cluster.registrations.objects[NAMES[1]])
    assert not await replica.flow._publishing.tell(found, b"new")
    assert await replica.flow.once()
    assert cluster.bundles == [cluster.secret.data["ca.crt"]] * 2


# -- what is served


async def test_pair_that_is_not_taken_is_offered_again(cluster, caplog):
    """Not ready before there is one; the log says so once."""
    (replica,) = cluster.replicas
    replica.refusing = ValueError("cannot be used")
    for _ in range(2):
        assert not await replica.flow.once()
    assert replica.flow.ready()
    assert events(caplog) == ["serving_pair_not_taken"]
    replica.refusing = None
    assert await replica.flow.once()
    assert len(replica.pairs) == 1


async def test_rounds_come_every_half_minute_and_failures_sooner(cluster):
    """With a little scatter; after failures with pauses that grow up to the same."""
    (replica,) = cluster.replicas
    running = asyncio.create_task(replica.flow.for_ever())
    await replica.sleeper.pass_time(100)
    assert replica.sleeper.slept == [ROUND_SECONDS * 1.05] * 4
    cluster.secret.failing["read"] = AWAY
    await replica.sleeper.pass_time(300)
    pauses = replica.sleeper.slept[4:]
    assert pauses[:4] == [0.375, 0.75, 1.5, 3.0]
    assert max(pauses) == 22.5
    cluster.secret.failing.clear()
    await replica.sleeper.pass_time(60)
    assert replica.sleeper.slept[-1] == ROUND_SECONDS * 1.05
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_key_is_in_no_log_line(cluster, caplog):
    """Whatever goes wrong."""
    caplog.set_level("DEBUG")
    cluster.secret.failing["write"] = AWAY
    await cluster.rounds()
    cluster.secret.failing.clear()
    await cluster.rounds()
    assert "PRIVATE" not in "".join(str(vars(one)) for one in caplog.records)
