"""What a client certificate lets its holder say."""

import hashlib

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from adapter.access import front_proxy
from adapter.access.authority import Authority
from adapter.wire.identity import User
from tests.support.certificates import EXPIRED, NOW, PROXY_NAME, SERVERS, UNSAID, Issuer, day


def headers(*lines):
    return CIMultiDictProxy(CIMultiDict(lines))


# -- certificates


def test_the_front_proxys_certificate(pki):
    """Signed by the request-header CA, and its name is listed."""
    leaf = pki.proxy.leaf(PROXY_NAME)
    assert front_proxy.which(leaf.der, pki.authority(), NOW) == "proxy"
    assert front_proxy.vouched(leaf.der, pki.authority(), NOW).user is None


@pytest.mark.parametrize("name", ["", "front-proxy", "Front-Proxy-Client", "front-proxy-client "])
def test_another_name_of_that_ca_is_nobody(pki, name):
    """Names are compared exactly."""
    assert front_proxy.which(pki.proxy.leaf(name).der, pki.authority(), NOW) is None


def test_without_a_list_any_name_of_that_ca_will_do(pki):
    """The CA signs for nobody else, then."""
    for value in (None, "[]"):
        found = pki.authority(requestheader_allowed_names=value)
        assert front_proxy.which(pki.proxy.leaf("anybody").der, found, NOW) == "proxy"
        assert front_proxy.which(pki.proxy.leaf("").der, found, NOW) == "proxy"


def test_the_clusters_ca_makes_users_whatever_their_name(pki):
    """The one mistake that would let every kubelet be an administrator."""
    leaf = pki.cluster.leaf(PROXY_NAME, ("system:masters",))
    for value in (None, '["front-proxy-client"]'):
        found = pki.authority(requestheader_allowed_names=value)
        vouched = front_proxy.vouched(leaf.der, found, NOW)
        assert not vouched.proxy
        assert vouched.user.name == PROXY_NAME


def test_a_ca_in_both_bundles_makes_no_proxies_without_a_list(pki):
    """Else everybody with a certificate could be anybody."""
    both = pki.cluster.pem
    unlisted = pki.authority(requestheader_client_ca_file=both, requestheader_allowed_names="[]")
    leaf = pki.cluster.leaf("jane")
    assert front_proxy.which(leaf.der, unlisted, NOW) == "client"


def test_a_ca_in_both_bundles_makes_proxies_by_their_name(pki):
    """The list tells them from others; and the certificate is a user's as well."""
    found = pki.authority(requestheader_client_ca_file=pki.cluster.pem)
    assert front_proxy.which(pki.cluster.leaf(PROXY_NAME).der, found, NOW) == "proxy"
    assert front_proxy.vouched(pki.cluster.leaf(PROXY_NAME).der, found, NOW).user.name == PROXY_NAME
    assert front_proxy.which(pki.cluster.leaf("jane").der, found, NOW) == "client"


def test_a_strangers_certificate_is_nothing(pki):
    """Whatever it says of itself."""
    leaf = pki.other.leaf(PROXY_NAME, ("system:masters",))
    assert front_proxy.vouched(leaf.der, pki.authority(), NOW) == front_proxy.Vouched()


@pytest.mark.parametrize("flaw", [{"valid": EXPIRED}, {"usages": SERVERS}])
def test_a_flawed_certificate_is_nothing(pki, flaw):
    """Of either CA."""
    for issuer in (pki.proxy, pki.cluster):
        assert front_proxy.which(issuer.leaf(PROXY_NAME, **flaw).der, pki.authority(), NOW) is None


def test_a_certificate_that_does_not_say_what_it_is_for_will_do(pki):
    """As in Go."""
    assert front_proxy.which(pki.proxy.leaf(PROXY_NAME, usages=UNSAID).der, pki.authority(), NOW) == "proxy"


@pytest.mark.parametrize("content", [b"", b"x", b"\x30\x03\x02\x01\x01"])
def test_bytes_that_are_no_certificate_are_nothing(pki, content):
    """Neither as the certificate nor as what came with it."""
    leaf = pki.proxy.leaf(PROXY_NAME)
    assert front_proxy.which(content, pki.authority(), NOW) is None
    assert front_proxy.which(leaf.der, pki.authority(), NOW, [content]) is None


def test_time_goes_on_for_what_is_remembered(pki):
    """A certificate that was good is refused once it has expired, though its verdict is remembered."""
    leaf = pki.proxy.leaf(PROXY_NAME, valid=(day(2025), day(2027)))
    seen = [front_proxy.which(leaf.der, pki.authority(), day(year)) for year in (2024, 2026, 2028, 2026)]
    assert seen == [None, "proxy", None, "proxy"]


def test_the_authority_in_force_decides_on_what_is_remembered(pki):
    """Another authority is another verdict, at once, and back again."""
    leaf = pki.proxy.leaf(PROXY_NAME)
    without = pki.authority(requestheader_client_ca_file=pki.other.pem)
    order = (pki.authority(), without, Authority(), pki.authority())
    assert [front_proxy.which(leaf.der, one, NOW) for one in order] == ["proxy", None, None, "proxy"]


def test_signatures_are_checked_once(pki):
    """The second question is answered from memory: a tenth of a millisecond is much for each request."""
    leaf, found = pki.proxy.leaf(PROXY_NAME), pki.authority()
    assert front_proxy._judged(leaf.der, found, ()) is front_proxy._judged(leaf.der, pki.authority(), ())
    assert front_proxy._judge(leaf.der, found, ()) is not front_proxy._judge(leaf.der, found, ())


def test_memory_is_bounded(pki):
    """However many certificates come."""
    for number in range(front_proxy.MOST_REMEMBERED + 10):
        front_proxy.which(number.to_bytes(4, "big"), pki.authority(), NOW)
    assert len(front_proxy._remembered) == front_proxy.MOST_REMEMBERED


def test_a_chain_counts_where_it_is_known(pki):
    """And is a question of its own: without it the same certificate is nothing."""
    between = Issuer("between", under=pki.proxy)
    leaf = between.leaf(PROXY_NAME)
    chain = [leaf.der, between.der]
    order = [(), chain, (), chain]
    seen = [front_proxy.which(leaf.der, pki.authority(), NOW, one) for one in order]
    assert seen == [None, "proxy", None, "proxy"]


# -- the holder himself


def test_a_client_is_what_its_certificate_says(pki):
    """Name, groups, and which credential it was."""
    leaf = pki.cluster.leaf("jane", ("dev", "ops"))
    expected = "X509SHA256=" + hashlib.sha256(leaf.der).hexdigest()
    assert front_proxy.vouched(leaf.der, pki.authority(), NOW).user == User(
        "jane", groups=("dev", "ops"), extra={"authentication.kubernetes.io/credential-id": (expected,)}
    )


def test_a_client_without_a_name_is_nobody(pki):
    """An organization alone names no user."""
    leaf = pki.cluster.leaf("", ("dev",))
    assert front_proxy.which(leaf.der, pki.authority(), NOW) is None


# -- headers


def test_one_of_each(pki):
    """The usual request of an API server."""
    found = front_proxy.proxied_user(
        headers(
            ("Accept", "*/*"),
            ("X-Remote-User", "jane"),
            ("X-Remote-Uid", "7"),
            ("X-Remote-Group", "dev"),
            ("X-Remote-Extra-Scopes", "view"),
        ),
        pki.authority(),
    )
    assert found == User("jane", "7", ("dev",), {"scopes": ("view",)}, proxied=True)


def test_names_in_any_case(pki):
    """HTTP has it so."""
    found = front_proxy.proxied_user(
        headers(("x-remote-user", "Jane"), ("X-REMOTE-GROUP", "Dev"), ("x-ReMoTe-EXTRA-Scopes", "View")),
        pki.authority(),
    )
    assert found == User("Jane", "", ("Dev",), {"scopes": ("View",)}, proxied=True)


def test_one_line_per_group(pki):
    """A comma is a part of a name; empty lines are none; the order stays."""
    lines = [("X-Remote-Group", group) for group in ("b,c", "", "a", "b,c")]
    found = front_proxy.proxied_user(headers(("X-Remote-User", "jane"), *lines), pki.authority())
    assert found.groups == ("b,c", "a", "b,c")


def test_the_first_user_wins(pki):
    """As in Go: the first line of a header, the first header that has one."""
    found = pki.authority(requestheader_username_headers='["X-First", "X-Remote-User"]')
    lines = [("X-Remote-User", "jane"), ("X-Remote-User", "root")]
    assert front_proxy.proxied_user(headers(*lines), found).name == "jane"
    assert front_proxy.proxied_user(headers(*lines, ("X-First", "joe")), found).name == "joe"
    assert front_proxy.proxied_user(headers(*lines, ("X-First", "")), found).name == "jane"


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [("X-Remote-User", "")],
        [("X-Remote-User", ""), ("X-Remote-User", "jane")],
        [("X-Remote-Group", "system:masters"), ("X-Remote-Uid", "7")],
    ],
)
def test_without_a_name_there_is_no_user(pki, lines):
    """Groups alone are nobody's."""
    assert front_proxy.proxied_user(headers(*lines), pki.authority()) is None


@pytest.mark.parametrize(
    "key",
    [
        "requestheader_username_headers",
        "requestheader_group_headers",
        "requestheader_uid_headers",
        "requestheader_extra_headers_prefix",
    ],
)
def test_headers_that_are_not_named_are_ignored(pki, key):
    """Which ones count is the API server's to say."""
    lines = [
        ("X-Remote-User", "jane"),
        ("X-Remote-Uid", "7"),
        ("X-Remote-Group", "dev"),
        ("X-Remote-Extra-A", "b"),
    ]
    found = front_proxy.proxied_user(headers(*lines), pki.authority(**{key: None}))
    if "username" in key:
        assert found is None
    else:
        assert (not found.groups, not found.uid, not found.extra) == (
            "group" in key,
            "uid" in key,
            "extra" in key,
        )


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Scopes", "scopes"),
        ("Authentication.kubernetes.io%2fcredential-Id", "authentication.kubernetes.io/credential-id"),
        ("A%2FB", "a/b"),
        ("A%C3%89", "aÉ"),
        ("A%", "a%"),
        ("A%2", "a%2"),
        ("A%2Fb%zz", "a%2fb%zz"),
        ("A%25", "a%"),
        ("", ""),
    ],
)
def test_keys_of_extras(pki, name, key):
    """In lower case first, decoded after; what does not decode stays as it is."""
    lines = [("X-Remote-User", "jane"), (f"X-Remote-Extra-{name}", "v")]
    assert front_proxy.proxied_user(headers(*lines), pki.authority()).extra == {key: ("v",)}


def test_extras_have_all_their_values(pki):
    """Of each spelling of their key, in order."""
    lines = [
        ("X-Remote-User", "j"),
        ("X-Remote-Extra-A", "2"),
        ("x-remote-extra-a", "1"),
        ("X-Remote-Extra-B", ""),
    ]
    assert front_proxy.proxied_user(headers(*lines), pki.authority()).extra == {"a": ("2", "1"), "b": ("",)}


def test_several_prefixes(pki):
    """Each is looked for."""
    found = pki.authority(requestheader_extra_headers_prefix='["X-Remote-Extra-", "X-Old-"]')
    lines = [("X-Remote-User", "jane"), ("X-Remote-Extra-A", "1"), ("X-Old-A", "2")]
    assert front_proxy.proxied_user(headers(*lines), found).extra == {"a": ("1", "2")}


@pytest.mark.parametrize("name", ["X-Remote-User", "X-Remote-Uid", "X-Remote-Group", "X-Remote-Extra-A"])
def test_what_is_no_text_is_refused(pki, name):
    """A byte that is not UTF-8: replaced, it could be the name of another."""
    value = b"j\xff".decode("utf-8", "surrogateescape")
    lines = [("X-Remote-User", "jane"), (name, value)] if name != "X-Remote-User" else [(name, value)]
    assert front_proxy.proxied_user(headers(*lines), pki.authority()) is None


def test_other_letters_are_text(pki):
    """Names may be in any language."""
    assert front_proxy.proxied_user(headers(("X-Remote-User", "Жанна")), pki.authority()).name == "Жанна"
