"""The ConfigMap that says whom to believe."""

import ssl

import pytest

from adapter.access import authority
from adapter.access.authority import Authority, AuthorityBroken
from tests.support.certificates import EXPIRED, Issuer


def test_all_of_it(pki):
    """Both bundles, the names, and where to find users in headers."""
    found = pki.authority()
    assert found.client_ca == (pki.cluster.certificate,)
    assert found.proxy_ca == (pki.proxy.certificate,)
    assert found.allowed_names == ("front-proxy-client",)
    assert found.user_headers == ("X-Remote-User",)
    assert found.group_headers == ("X-Remote-Group",)
    assert found.uid_headers == ("X-Remote-Uid",)
    assert found.extra_prefixes == ("X-Remote-Extra-",)
    assert found.known


@pytest.mark.parametrize("value", [None, "", " \n"])
def test_without_the_front_proxys_ca_nobody_is_known(pki, value):
    """An API server without an aggregation layer writes no such key."""
    assert not pki.authority(requestheader_client_ca_file=value).known


def test_the_empty_one_believes_nobody():
    """Before the first reading."""
    assert not authority.parse({}).known
    assert authority.parse({}) == Authority()


@pytest.mark.parametrize("value", [None, "", "[]", '[""]', '["  "]'])
@pytest.mark.parametrize("field", ["uid_headers", "extra_prefixes", "allowed_names"])
def test_a_list_may_be_absent_or_empty(pki, field, value):
    """Older servers write no uid headers. A blank entry is none: as a prefix it would fit every header."""
    keys = {
        "uid_headers": "requestheader_uid_headers",
        "extra_prefixes": "requestheader_extra_headers_prefix",
        "allowed_names": "requestheader_allowed_names",
    }
    assert getattr(pki.authority(**{keys[field]: value}), field) == ()


def test_a_bundle_may_hold_several(pki):
    """While a CA is replaced: in order, with text between them."""
    both = f"# old\n{pki.proxy.pem}\n# new\n{pki.other.pem}"
    found = pki.authority(requestheader_client_ca_file=both)
    assert found.proxy_ca == (pki.proxy.certificate, pki.other.certificate)


@pytest.mark.parametrize(
    "value", ["x", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "\udcff"]
)
@pytest.mark.parametrize("key", ["client-ca-file", "requestheader-client-ca-file"])
def test_a_broken_bundle_is_named(pki, key, value):
    """Its key is told, not its content."""
    with pytest.raises(AuthorityBroken, match=f"^{key} is no PEM bundle of certificates$"):
        authority.parse(pki.data() | {key: value})


def test_half_a_bundle_is_broken(pki):
    """One good certificate does not make up for a bad one: half of a rotation is none."""
    with pytest.raises(AuthorityBroken):
        pki.authority(client_ca_file=pki.cluster.pem + pki.other.pem.replace("M", "!", 9))


@pytest.mark.parametrize("value", ["x", "{}", '"X"', "[1]", "[null]", '["a"', "\udcff"])
def test_a_broken_list_is_named(pki, value):
    """Anything but a list of strings."""
    with pytest.raises(AuthorityBroken, match=r"^requestheader-allowed-names is no JSON list of strings$"):
        pki.authority(requestheader_allowed_names=value)


def test_equal_data_is_an_equal_authority(pki):
    """Read again and unchanged, it is no news."""
    assert pki.authority() == pki.authority()
    assert pki.authority().identity == pki.authority().identity


@pytest.mark.parametrize(
    "change",
    [
        {"client_ca_file": None},
        {"requestheader_client_ca_file": None},
        {"requestheader_allowed_names": "[]"},
        {"requestheader_allowed_names": '["other"]'},
    ],
)
def test_what_decides_on_certificates_is_in_the_identity(pki, change):
    """A verdict that is remembered under an identity holds for that authority alone."""
    assert pki.authority(**change).identity != pki.authority().identity


def test_the_same_ca_in_the_other_bundle_is_another_identity(pki):
    """Swapped bundles are the worst that could be mixed up."""
    swapped = Authority(client_ca=(pki.proxy.certificate,), proxy_ca=(pki.cluster.certificate,))
    straight = Authority(client_ca=(pki.cluster.certificate,), proxy_ca=(pki.proxy.certificate,))
    assert swapped.identity != straight.identity


def test_pem_is_what_a_tls_context_takes(pki):
    """Both bundles, each certificate once."""
    found = pki.authority(client_ca_file=pki.cluster.pem + pki.proxy.pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_verify_locations(cadata=authority.pem(found))
    assert len(context.get_ca_certs()) == 2
    assert authority.pem(found).count("BEGIN") == 2


def test_pem_of_nobody_is_empty():
    """No certificate, no text."""
    assert authority.pem(Authority()) == ""


def test_an_expired_ca_is_no_broken_one(pki):
    """It counts for nothing, and takes nothing from the others."""
    old = Issuer("old", valid=EXPIRED)
    assert len(pki.authority(client_ca_file=old.pem + pki.cluster.pem).client_ca) == 2
