"""Our own CA and serving certificate: what is made, when, and what a Secret may hold."""

import datetime
import ssl
from dataclasses import replace

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from adapter.server import issuing, own_ca
from adapter.server.issuing import Issuer, Lifetimes, Step
from tests.support.certificates import Pki
from tests.support.trust import accepts

NOW = datetime.datetime(2026, 11, 30, 7, 19, 38, tzinfo=datetime.UTC)
DAY = datetime.timedelta(days=1)
HOST = "adapter.metrics.svc"
NAMES = issuing.dns_names("adapter", "metrics")


def issuer(service="adapter", **lifetimes):
    return Issuer(issuing.dns_names(service, "metrics"), Lifetimes(**lifetimes))


def made(at=NOW):
    """The data of a Secret that was filled at this time."""
    return issuer().plan(None, [], at).data


def after(days, data, published=None):
    """The plan so many days after NOW; published is, if nothing else is said, what the Secret says."""
    bundles = [data[own_ca.CA_CERT]] if published is None else published
    return issuer().plan(data, bundles, NOW + days * DAY)


def steps(days, data, published=None):
    return [str(one) for one in after(days, data, published).steps]


def leaf_of(plan):
    return x509.load_pem_x509_certificate(plan.after.certificate)


def begun():
    """The data of a Secret in the midst of a change, which began on day 250."""
    data = after(200, made()).data
    plan = after(250, data)
    assert plan.steps == (Step.RENEW, Step.BEGIN)
    return plan.data


# -- what is made


def test_nothing_yet_makes_a_ca_and_a_certificate():
    """A Secret that is not there, and one that is empty, are filled alike."""
    for empty in (None, {}, {"tls.crt": b"", "tls.key": b""}):
        plan = issuer().plan(empty, [], NOW)
        assert plan.steps == (Step.START,)
        assert plan.before is None
        assert set(plan.data) == {"ca.crt", "ca.key", "tls.crt", "tls.key"}
        assert plan.after.trusted == plan.data["ca.crt"]
        assert accepts(plan.after.trusted, plan.after.certificate, HOST, NOW)


def test_certificate_is_for_the_names_of_the_service():
    """The name that the API server asks for, the long one, and localhost."""
    assert NAMES == (HOST, "adapter.metrics.svc.cluster.local", "localhost")
    plan = issuer().plan(None, [], NOW)
    for name in NAMES:
        assert accepts(plan.after.trusted, plan.after.certificate, name, NOW)
    assert not accepts(plan.after.trusted, plan.after.certificate, "other.metrics.svc", NOW)


def test_what_the_certificates_may_be_used_for():
    """The CA signs certificates of servers and no further CA; the serving certificate signs nothing; keys are P-256."""
    plan = issuer().plan(None, [], NOW)
    leaf, ca = leaf_of(plan), x509.load_pem_x509_certificate(plan.after.trusted)
    for one in (leaf, ca):
        assert isinstance(one.public_key().curve, ec.SECP256R1)
    limits = ca.extensions.get_extension_for_class(x509.BasicConstraints)
    assert limits.critical
    assert (limits.value.ca, limits.value.path_length) == (True, 0)
    assert not leaf.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    usage = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]
    assert leaf.not_valid_before_utc == NOW - own_ca.BACKDATED
    assert leaf.not_valid_after_utc == NOW + 90 * DAY
    assert ca.not_valid_after_utc == NOW + 365 * DAY


def test_python_and_openssl_believe_it_in_a_real_handshake():
    """Not only the verifier of these tests: a client that trusts the bundle and asks for the Service's name."""
    plan = issuer().plan(None, [], datetime.datetime.now(datetime.UTC))
    assert handshake(plan.after, plan.after.trusted) == "TLSv1.3"
    other = issuer().plan(None, [], datetime.datetime.now(datetime.UTC))
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(plan.after, other.after.trusted)


def handshake(material, trusted):
    from adapter.server.pair import Pair

    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    Pair(material.certificate, material.key).load_into(server)
    client = ssl.create_default_context(cadata=trusted.decode())
    client.verify_flags |= ssl.VerifyFlags.VERIFY_X509_STRICT
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(back, there, server_hostname=HOST),
        server.wrap_bio(there, back, server_side=True),
    ]
    for _ in range(4):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return ends[0].version()


def test_two_cas_never_have_the_same_name():
    """A verifier that looks for an issuer by its name would take one for the other."""
    one, other = (own_ca.new_ca(NOW, DAY)[0] for _ in range(2))
    assert one.subject != other.subject


def test_keys_do_not_show():
    """Neither in a log nor in the output of a failing test."""
    plan = issuer().plan(None, [], NOW)
    shown = f"{plan} {own_ca.read(plan.data)}"
    assert "PRIVATE" not in shown
    assert "key=" not in shown


# -- when


@pytest.mark.parametrize("days", [0, 1, 59])
def test_most_of_the_time_nothing_is_due(days):
    """The data of the plan is then what was read."""
    data = made()
    plan = after(days, data)
    assert (plan.steps, plan.data) == ((), data)
    assert plan.before == plan.after


@pytest.mark.parametrize("days", [61, 89, 91, 200])
def test_certificate_is_renewed_by_the_same_ca_when_a_third_of_its_life_is_left(days):
    """Also when it has ended already: the CA is still trusted."""
    data = made()
    plan = after(days, data)
    assert plan.steps == (Step.RENEW,)
    assert plan.data["ca.crt"] == data["ca.crt"]
    assert plan.data["ca.key"] == data["ca.key"]
    assert plan.data["tls.key"] != data["tls.key"]
    assert leaf_of(plan).not_valid_after_utc == NOW + (days + 90) * DAY


def test_change_of_the_ca_begins_when_a_third_of_its_life_is_left():
    """The new one stands behind the old one in the bundle; the serving certificate is the old one's, and fresh."""
    before = after(200, made()).data
    assert steps(241, before) == []
    plan = after(244, before)
    assert plan.steps == (Step.RENEW, Step.BEGIN)
    assert plan.after.trusted.startswith(before["ca.crt"])
    assert plan.after.trusted.count(b"BEGIN CERTIFICATE") == 2
    assert accepts(before["ca.crt"], plan.after.certificate, HOST, NOW + 300 * DAY)
    assert plan.data["ca.key"] != before["ca.key"]


def test_new_ca_signs_once_it_is_published_for_a_day():
    """Not before, and not while a registration lacks it, or none can be read."""
    data = begun()
    old = made()["ca.crt"]
    assert steps(250.9, data) == []
    assert steps(251, data) == ["serving_ca_change_switched"]
    assert steps(251, data, [data["ca.crt"], old]) == []
    assert steps(251, data, [data["ca.crt"], b""]) == []
    assert steps(251, data, [b"rubbish"]) == []
    assert issuer().plan(data, None, NOW + 251 * DAY).steps == ()


def test_without_registrations_the_day_alone_counts():
    """Nobody is there to be told."""
    assert steps(251, begun(), []) == ["serving_ca_change_switched"]


def test_both_cas_are_trusted_until_a_day_after_the_new_one_signed():
    """Then the old one goes, and nothing more is due for months."""
    switched = after(251, begun())
    assert switched.after.trusted.count(b"BEGIN CERTIFICATE") == 2
    assert steps(251.9, switched.data) == []
    ended = after(252, switched.data)
    assert ended.steps == (Step.END,)
    assert ended.after.certificate == switched.after.certificate
    assert ended.after.trusted == switched.after.trusted[-len(ended.after.trusted) :]
    assert ended.after.trusted.count(b"BEGIN CERTIFICATE") == 1
    assert accepts(ended.after.trusted, ended.after.certificate, HOST, NOW + 252 * DAY)
    assert steps(310, ended.data) == []


def test_certificate_that_ended_in_the_midst_of_a_change_is_replaced_at_once():
    """It serves nobody any more, so nothing is lost by it."""
    assert steps(341, begun(), [b""]) == ["serving_ca_change_switched"]


def test_all_was_off_for_years():
    """Nothing that is left is worth anything: all is made anew."""
    for data in (made(), begun()):
        plan = after(2000, data)
        assert plan.steps == (Step.START,)
        assert plan.after.trusted.count(b"BEGIN CERTIFICATE") == 1


def test_clock_that_is_behind_does_nothing():
    """A replica whose clock is a day late must not undo what others made."""
    assert issuer().plan(made(), [], NOW - DAY).steps == ()


# -- names


def test_other_name_gets_a_certificate_for_both():
    """Two replicas of which one has the new name already do not take the certificate from one another."""
    plan = issuer("renamed").plan(made(), [], NOW)
    assert plan.steps == (Step.RENEW,)
    for name in (HOST, "renamed.metrics.svc"):
        assert accepts(plan.after.trusted, plan.after.certificate, name, NOW)
    assert steps(0, plan.data) == []
    renewed = after(61, plan.data)
    assert not accepts(
        renewed.after.trusted, renewed.after.certificate, "renamed.metrics.svc", NOW + 61 * DAY
    )


def test_other_name_in_the_midst_of_a_change_waits_only_for_the_registrations():
    """The key of the old CA is no more, and under the new name nobody is served anyway."""
    data, old = begun(), made()["ca.crt"]
    renamed, now = issuer("renamed"), NOW + 250.1 * DAY
    assert renamed.plan(data, [old], now).steps == ()
    assert renamed.plan(data, [data["ca.crt"]], now).steps == (Step.SWITCH,)


# -- what a Secret may hold


@pytest.mark.parametrize("key", ["tls.crt", "tls.key"])
@pytest.mark.parametrize("content", [b"", b"rubbish", None])
def test_broken_pair_is_made_anew_by_the_same_ca(key, content):
    """`None` stands for a fine one that belongs to something else."""
    data = dict(made())
    data[key] = dict(made())[key] if content is None else content
    plan = after(1, data)
    assert plan.steps == (Step.RENEW,)
    assert plan.before is None
    assert plan.data["ca.crt"] == data["ca.crt"]


@pytest.mark.parametrize("content", [b"", b"rubbish", None])
def test_lost_key_of_the_ca_begins_a_change(content):
    """The serving certificate is good until the new CA is trusted; so an operator changes the CA by removing its key."""
    data = dict(made())
    data["ca.key"] = dict(made())["ca.key"] if content is None else content
    plan = after(1, data)
    assert plan.steps == (Step.BEGIN,)
    assert plan.after.certificate == data["tls.crt"]
    assert plan.after.trusted.count(b"BEGIN CERTIFICATE") == 2
    assert steps(2, plan.data) == ["serving_ca_change_switched"]


def test_lost_key_and_ended_certificate_leave_nothing_to_go_on_with():
    """All is made anew."""
    assert steps(91, made() | {"ca.key": b""}) == ["serving_ca_made"]


def test_ca_of_somebody_else_is_not_touched():
    """A Secret of cert-manager has the same keys."""
    foreign = Pki().cluster
    for bundle in (foreign.pem.encode(), b"rubbish", b""):
        with pytest.raises(own_ca.NotOurs):
            after(0, made() | {"ca.crt": bundle}, [])


def test_other_keys_of_the_secret_do_not_matter():
    """Somebody may keep a note there."""
    data = made() | {"note": b"do not delete"}
    assert steps(1, data) == []


def test_remembered_is_all_but_the_key_that_signs():
    """From it a replica goes on if the Secret gets lost: what is served and trusted stays so."""
    first = issuer().plan(None, [], NOW)
    assert set(first.remembered) == {"ca.crt", "tls.crt", "tls.key"}
    plan = after(1, first.remembered)
    assert plan.steps == (Step.BEGIN,)
    assert plan.after.certificate == first.after.certificate


def test_leaf_never_outlives_its_ca():
    """A chain that ends sooner than it says would be renewed too late."""
    ca = own_ca.new_ca(NOW, 10 * DAY)
    leaf, _ = own_ca.new_leaf(NAMES, ca, NOW, 90 * DAY)
    assert leaf.not_valid_after_utc == ca[0].not_valid_after_utc


def test_plan_without_a_key_cannot_sign():
    """The plan never asks for it; if it did, nothing unsigned would come out."""
    kept = own_ca.read(made())
    with pytest.raises(ValueError, match="without the CA's key"):
        issuer()._taken(Step.RENEW, replace(kept, ca_key=None), NOW)
