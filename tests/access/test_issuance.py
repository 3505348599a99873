"""Who signed a client's certificate, by Go's rules."""

import datetime

import pytest
from cryptography import x509
from cryptography.exceptions import InvalidSignature

from adapter.access import issuance
from adapter.access.issuance import Span
from tests.support.certificates import (
    ANYTHING,
    CLIENTS,
    EXPIRED,
    GOOD,
    NOT_YET,
    NOW,
    SERVERS,
    UNSAID,
    Issuer,
    day,
)

SECOND = datetime.timedelta(seconds=1)

OLD_CA = """-----BEGIN CERTIFICATE-----
MIIBiTCCAS+gAwIBAgIUTX1RAY8/hxnD5xdpsWF1LSFld64wCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGb2xkLWNhMCAXDTI2MTEzMDEwMzE0OVoYDzIxMjYxMTA2MTAz
MTQ5WjARMQ8wDQYDVQQDDAZvbGQtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AAQ78QD9dm6bIsMvYWRVrNjGspspu7btF9vhy/96LquPAOvnZYJRnn8E7zkrKGgg
HdhYbN9wu3X4Mj/u6RxbqQE0o2MwYTAdBgNVHQ4EFgQUQPS7JMBb8MZyt9aqnO3A
oPP4wk8wHwYDVR0jBBgwFoAUQPS7JMBb8MZyt9aqnO3AoPP4wk8wDwYDVR0TAQH/
BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAgQwCgYIKoZIzj0EAwIDSAAwRQIhAPuLI+7a
/ZYQKsomn4P0bl8D5EhP70XGzS+XrYIdA736AiAE8eKzB+vv3TIsI4gKbEPmu1FL
dLnvLw+E3mm5xvS2Qg==
-----END CERTIFICATE-----
"""
SIGNED_OVER_SHA1 = """-----BEGIN CERTIFICATE-----
MIIBJzCB0AIUMe9dEI4Ds8DCbi335cwqu9qEKbkwCQYHKoZIzj0EATARMQ8wDQYD
VQQDDAZvbGQtY2EwIBcNMjYxMTMwMTAzMTQ5WhgPMjEyNjExMDYxMDMxNDlaMB0x
GzAZBgNVBAMMEmZyb250LXByb3h5LWNsaWVudDBZMBMGByqGSM49AgEGCCqGSM49
AwEHA0IABCmp2aGD+YBQ9rMf1nyuwalAro+PAw/4D0XDLpr4YqwCuggq36YBmP9R
duZMtFTv40rAR2qu/heWflTRUrL3xHQwCQYHKoZIzj0EAQNHADBEAiBtsyMsgdo3
p7vZWjy7xbBW/e9qQgEPYMiqIXkM57uEsQIgXSHq9KR96kx4Q44TYJqEMhlm25Lc
BBaCqNuLzJQFLhs=
-----END CERTIFICATE-----
"""
SIGNED_OVER_SHA256 = """-----BEGIN CERTIFICATE-----
MIIBKzCB0QIUMe9dEI4Ds8DCbi335cwqu9qEKbowCgYIKoZIzj0EAwIwETEPMA0G
A1UEAwwGb2xkLWNhMCAXDTI2MTEzMDEwMzE1MFoYDzIxMjYxMTA2MTAzMTUwWjAd
MRswGQYDVQQDDBJmcm9udC1wcm94eS1jbGllbnQwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQpqdmhg/mAUPazH9Z8rsGpQK6PjwMP+A9Fwy6a+GKsAroIKt+mAZj/
UXbmTLRU7+NKwEdqrv4Xln5U0VKy98R0MAoGCCqGSM49BAMCA0kAMEYCIQDCzPjZ
tMhdCqSse2kByJAJfXoaaorcgmK/M+ZZHLxU2AIhAMbOHY9SPGYRNPz9hwxHOprl
OXWb+JlomNF7zraywdx+
-----END CERTIFICATE-----
"""


def vouches(issuer, leaf, *chain, now=NOW):
    """Whether it does at that moment."""
    roots, between = [issuer.certificate], [one.certificate for one in chain]
    return any(span.holds(now) for span in issuance.spans(leaf.certificate, roots, between))


@pytest.fixture(scope="module")
def ca():
    return Issuer("front-proxy-ca")


# -- directly


def test_a_ca_vouches_for_what_it_signed(ca):
    """kubeadm's own form: no subject alternative name, for clients."""
    assert vouches(ca, ca.leaf("front-proxy-client"))


def test_an_rsa_ca_too():
    """As kubeadm makes them by default."""
    ca = Issuer("front-proxy-ca", with_rsa=True)
    assert vouches(ca, ca.leaf("front-proxy-client"))


def test_a_ca_does_not_vouch_for_what_another_signed(ca):
    """Not even if that one has the same name: the signature counts."""
    for other in (Issuer("other"), Issuer("front-proxy-ca")):
        assert not vouches(ca, other.leaf("front-proxy-client"))


def test_any_of_several_cas_will_do(ca):
    """While one replaces the other, both are in the bundle."""
    new = Issuer("front-proxy-ca")
    roots = [new.certificate, ca.certificate]
    for issuer in (ca, new):
        assert issuance.spans(issuer.leaf("x").certificate, roots)


def test_no_ca_vouches_for_nobody(ca):
    """An empty bundle."""
    assert issuance.spans(ca.leaf("x").certificate, []) == ()


@pytest.mark.parametrize("valid", [EXPIRED, NOT_YET])
def test_dates_of_the_certificate_count(ca, valid):
    """Too old, or too young."""
    assert not vouches(ca, ca.leaf("x", valid=valid))


@pytest.mark.parametrize("valid", [EXPIRED, NOT_YET])
def test_dates_of_the_ca_count(valid):
    """As in Go: a CA is no more eternal than others."""
    ca = Issuer("ca", valid=valid)
    assert not vouches(ca, ca.leaf("x"))


def test_a_ca_that_was_renewed_with_its_key_goes_on():
    """Same name, same key, new dates: either may be in the bundle, and the valid one counts."""
    old = Issuer("ca", valid=EXPIRED)
    new = Issuer("ca", like=old)
    leaf = old.leaf("x")
    spans = issuance.spans(leaf.certificate, [old.certificate, new.certificate])
    assert [span.holds(NOW) for span in spans] == [False, True]


def test_the_ends_of_the_time_are_within(ca):
    """The first and the last second count."""
    leaf = ca.leaf("x", valid=(day(2025), day(2027)))
    for now, good in [
        (day(2025) - SECOND, False),
        (day(2025), True),
        (day(2027), True),
        (day(2027) + SECOND, False),
    ]:
        assert vouches(ca, leaf, now=now) is good


def test_spans_overlap():
    """The later begin, the earlier end, whichever is asked."""
    one, other = Span(day(2020), day(2030)), Span(day(2025), day(2035))
    assert one.overlap(other) == other.overlap(one) == Span(day(2025), day(2030))


# -- what it is for


@pytest.mark.parametrize(
    ("usages", "good"),
    [
        (CLIENTS, True),
        ((*SERVERS, *CLIENTS), True),
        (ANYTHING, True),
        (UNSAID, True),
        (SERVERS, False),
    ],
)
def test_usage_of_the_certificate_counts(ca, usages, good):
    """A server's certificate is no client's; one that does not say is."""
    assert vouches(ca, ca.leaf("x", usages=usages)) is good


@pytest.mark.parametrize(("usages", "good"), [(CLIENTS, True), (UNSAID, True), (SERVERS, False)])
def test_usage_of_the_ca_counts(usages, good):
    """A CA that is for servers only signs no clients."""
    ca = Issuer("ca", usages=usages)
    assert vouches(ca, ca.leaf("x")) is good


def test_only_a_ca_signs():
    """A certificate that is in the bundle and no CA vouches for nothing."""
    false = Issuer("false", ca=False, signs=None)
    assert not vouches(false, false.leaf("x"))


@pytest.mark.parametrize(("signs", "good"), [(True, True), (None, True), (False, False)])
def test_a_ca_must_be_allowed_to_sign(signs, good):
    """By its key usage, if it has one."""
    ca = Issuer("ca", signs=signs)
    assert vouches(ca, ca.leaf("x")) is good


def test_a_ca_without_basic_constraints_is_none(ca):
    """A plain certificate of old."""
    old = x509.load_pem_x509_certificate(SIGNED_OVER_SHA256.encode())
    assert issuance.spans(ca.leaf("x").certificate, [old]) == ()


def test_a_signature_over_sha1_counts_for_nothing():
    """It can be forged; the same key's signature over SHA-256 counts."""
    ca = x509.load_pem_x509_certificate(OLD_CA.encode())
    for text, good in ((SIGNED_OVER_SHA1, False), (SIGNED_OVER_SHA256, True)):
        leaf = x509.load_pem_x509_certificate(text.encode())
        assert bool(issuance.spans(leaf, [ca])) is good


def test_unreadable_extensions_count_for_nothing(ca):
    """A usage that is no usage is not taken for none."""
    nonsense = x509.UnrecognizedExtension(x509.ExtendedKeyUsage.oid, b"\x01")
    leaf = ca.leaf("x", usages=UNSAID, more=[(nonsense, False)])
    assert not vouches(ca, leaf)
    leaf.certificate.verify_directly_issued_by(ca.certificate)  # raises if it were for another reason
    with pytest.raises(InvalidSignature):
        leaf.certificate.verify_directly_issued_by(Issuer(ca.name).certificate)


# -- with intermediates


def test_without_the_chain_an_intermediate_vouches_for_nothing(ca):
    """Python before 3.13 does not tell what the peer sent."""
    between = Issuer("between", under=ca)
    assert not vouches(ca, between.leaf("x"))


def test_a_chain_leads_to_the_ca(ca):
    """In any order, and with what does not belong to it."""
    lower = Issuer("lower", under=(upper := Issuer("upper", under=ca)))
    leaf = lower.leaf("x")
    assert vouches(ca, leaf, leaf, upper, Issuer("stranger"), lower)
    assert not vouches(ca, leaf, upper)
    assert not vouches(ca, leaf, lower)


def test_a_chain_is_no_authority(ca):
    """What the peer sent is not believed for being sent."""
    stranger = Issuer("stranger")
    between = Issuer("between", under=stranger)
    assert not vouches(ca, between.leaf("x"), between, stranger)


@pytest.mark.parametrize("fault", [{"valid": EXPIRED}, {"usages": SERVERS}, {"ca": False}, {"signs": False}])
def test_an_intermediate_must_be_good_itself(ca, fault):
    """Its dates, its usage, its right to sign."""
    between = Issuer("between", under=ca, **fault)
    assert not vouches(ca, between.leaf("x"), between)


def test_how_many_lie_between_is_the_cas_to_say():
    """A path length of 0 means leaves only, of 1 one more."""
    for length, good in ((None, True), (1, True), (0, False)):
        ca = Issuer("ca", path_length=length)
        between = Issuer("between", under=ca)
        assert vouches(ca, between.leaf("x"), between) is good
        assert vouches(ca, ca.leaf("x"))


def test_intermediates_are_looked_at_up_to_a_limit(ca):
    """So many and no more: each is another signature to check."""
    line = [ca]
    for number in range(issuance.MOST_BETWEEN + 1):
        line.append(Issuer(f"{number}", under=line[-1]))
    *good, _ = line[1:]
    assert vouches(ca, good[-1].leaf("x"), *good)
    assert not vouches(ca, line[-1].leaf("x"), *line[1:])


def test_the_narrowest_dates_of_a_path_count(ca):
    """Of the leaf, of what lies between, of the CA."""
    between = Issuer("between", under=ca, valid=(day(2025), day(2028)))
    leaf = between.leaf("x", valid=(day(2024), day(2027)))
    (span,) = issuance.spans(leaf.certificate, [ca.certificate], [between.certificate])
    assert span == Span(day(2025), day(2027))
    assert GOOD[0] < span.begin
