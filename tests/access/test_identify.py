"""Who asks, in the order of Go's servers."""

from types import SimpleNamespace

import pytest
from multidict import CIMultiDict

from adapter import errors
from adapter.access import identify
from adapter.access.authority import Authority
from adapter.access.identify import Identify
from adapter.access.tokens import Tokens
from adapter.wire.identity import User
from tests.support.certificates import EXPIRED, NOW, PROXY_NAME, Issuer

BY_PROXY = (("X-Remote-User", "jane"), ("X-Remote-Group", "dev"))
BY_TOKEN = ("Authorization", "Bearer good")
BAD_TOKEN = ("Authorization", "Bearer bad")
ROBOT = User("robot", "8", ("ci",))


class Door:
    """`who(leaf, *headers)` as the server would ask it."""

    def __init__(self, pki, reviews, clock):
        reviews.users["good"] = ROBOT
        self.reviews = reviews
        self.believed = SimpleNamespace(current=pki.authority())
        self.tokens = Tokens(reviews, clock)

    async def who(self, leaf, *lines, compat=False, chain=()):
        found = Identify(self.tokens, self.believed, compat=compat)
        certificate = leaf.der if leaf else None
        return await found.who(certificate, CIMultiDict(lines), now=NOW, chain=chain)


@pytest.fixture
def door(pki, reviews, clock):
    return Door(pki, reviews, clock)


async def test_the_front_proxy_speaks_for_others(door, pki):
    """The user of its headers, who is authenticated."""
    found = await door.who(pki.proxy.leaf(PROXY_NAME), *BY_PROXY)
    assert found == User("jane", groups=("dev", "system:authenticated"), proxied=True)


async def test_callers_without_groups_are_authenticated(door, pki):
    """The API server's own discovery comes so, and would be refused by RBAC without that group."""
    found = await door.who(pki.proxy.leaf(PROXY_NAME), ("X-Remote-User", "system:kube-aggregator"))
    assert found.groups == ("system:authenticated",)


async def test_the_front_proxy_alone_is_nobody(door, pki):
    """Its certificate is not that of a user of the cluster."""
    for compat in (False, True):
        with pytest.raises(errors.NotAuthenticated):
            await door.who(pki.proxy.leaf(PROXY_NAME), compat=compat)


async def test_a_client_is_itself(door, pki):
    """Whatever headers it sends."""
    found = await door.who(pki.cluster.leaf("joe", ("ops",)), *BY_PROXY, BY_TOKEN)
    assert (found.name, found.groups, found.proxied) == ("joe", ("ops", "system:authenticated"), False)
    assert door.reviews.asked == []


async def test_a_token_is_its_owners(door):
    """With his uid and groups, and authenticated."""
    found = await door.who(None, BY_TOKEN)
    assert found == User("robot", "8", ("ci", "system:authenticated"))


async def test_a_good_token_makes_up_for_a_bad_certificate(door, pki):
    """As in Go: one credential that is good suffices."""
    for leaf in (pki.other.leaf("x"), pki.cluster.leaf("x", valid=EXPIRED), pki.proxy.leaf("x")):
        assert (await door.who(leaf, BY_TOKEN)).name == "robot"


async def test_the_front_proxy_may_come_with_a_token_of_its_own(door, pki):
    """Without the headers it speaks for nobody else."""
    assert (await door.who(pki.proxy.leaf(PROXY_NAME), BY_TOKEN)).name == "robot"


async def test_headers_go_before_the_token(door, pki):
    """The front proxy removes tokens; one that is left is not looked at."""
    assert (await door.who(pki.proxy.leaf(PROXY_NAME), *BY_PROXY, BY_TOKEN)).name == "jane"
    assert door.reviews.asked == []


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize("lines", [[BAD_TOKEN], [BAD_TOKEN, *BY_PROXY]])
async def test_a_bad_token_is_refused(door, lines, compat):
    """It is not as if nothing had been shown."""
    with pytest.raises(errors.NotAuthenticated, match=r"^Unauthorized$"):
        await door.who(None, *lines, compat=compat)


@pytest.mark.parametrize("compat", [False, True])
async def test_a_bad_certificate_is_refused(door, pki, compat):
    """Nor is that."""
    with pytest.raises(errors.NotAuthenticated):
        await door.who(pki.other.leaf("joe"), *BY_PROXY, compat=compat)


@pytest.mark.parametrize(
    "lines", [[], BY_PROXY, [("Authorization", "Basic eA==")], [("Authorization", "Bearer")]]
)
async def test_who_shows_nothing_is_refused(door, lines):
    """Nobody is anonymous here."""
    with pytest.raises(errors.NotAuthenticated):
        await door.who(None, *lines)
    assert door.reviews.asked == []


@pytest.mark.parametrize(
    "lines", [[], BY_PROXY, [("Authorization", "Basic eA==")], [("Authorization", "Bearer")]]
)
async def test_compat_calls_him_anonymous(door, lines):
    """As upstream does; what he may is the API server's to say."""
    assert await door.who(None, *lines, compat=True) == User(
        "system:anonymous", groups=("system:unauthenticated",)
    )


async def test_the_anonymous_user_of_others_is_refused_too(door, pki, reviews):
    """Neither the front proxy nor a token makes him somebody."""
    reviews.users["good"] = User("system:anonymous")
    leaf, line = pki.proxy.leaf(PROXY_NAME), ("X-Remote-User", "system:anonymous")
    with pytest.raises(errors.NotAuthenticated):
        await door.who(leaf, line)
    with pytest.raises(errors.NotAuthenticated):
        await door.who(None, BY_TOKEN)
    found = await door.who(leaf, line, ("X-Remote-Group", "system:unauthenticated"), compat=True)
    assert found.groups == ("system:unauthenticated",)


@pytest.mark.parametrize("compat", [False, True])
async def test_nobody_is_known_before_the_authority(door, pki, compat):
    """Not even the owner of a good token: probes alone are answered."""
    door.believed.current = Authority(client_ca=(pki.cluster.certificate,))
    for leaf, line in ((None, BY_TOKEN), (pki.cluster.leaf("joe"), BY_TOKEN), (None, BY_PROXY[0])):
        with pytest.raises(errors.NotAuthenticated):
            await door.who(leaf, line, compat=compat)
    assert door.reviews.asked == []


async def test_a_token_that_cannot_be_reviewed_is_no_bad_token(door, reviews):
    """The caller is told that it is not his fault."""
    reviews.failures += [errors.AccessUnknown("down")] * 2
    with pytest.raises(errors.AccessUnknown):
        await door.who(None, BY_TOKEN)


async def test_a_chain_is_looked_at(door, pki):
    """Where Python tells it."""
    between = Issuer("between", under=pki.proxy)
    leaf = between.leaf(PROXY_NAME)
    assert (await door.who(leaf, *BY_PROXY, chain=[leaf.der, between.der])).name == "jane"
    with pytest.raises(errors.NotAuthenticated):
        await door.who(leaf, *BY_PROXY)


@pytest.mark.parametrize(
    ("value", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer abc", "abc"),
        ("BEARER  abc ", "abc"),
        ("Bearer abc def", "abc"),
        ("Bearer", ""),
        ("Bearer ", ""),
        ("Basic abc", ""),
        ("Bearerabc", ""),
        ("", ""),
    ],
)
def test_where_a_token_stands(value, token):
    """Behind the word, in any case of it."""
    assert identify.bearer(CIMultiDict([("authorization", value)])) == token


def test_the_first_authorization_counts():
    """As in Go; a second one cannot add to it."""
    lines = [("Authorization", "Basic x"), ("Authorization", "Bearer abc")]
    assert identify.bearer(CIMultiDict(lines)) == ""
    assert identify.bearer(CIMultiDict()) == ""
