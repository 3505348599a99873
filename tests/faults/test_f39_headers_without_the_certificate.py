"""F39: `X-Remote-*` without the front proxy's certificate, or with a wrong one.

To see them fail: let `front_proxy.vouched` answer `proxy=True`, or drop the check of the common name in `_judge`.
"""

from types import SimpleNamespace

import pytest
from multidict import CIMultiDict

from adapter import errors
from adapter.access.identify import Identify
from adapter.access.permissions import Permissions
from adapter.access.tokens import Tokens
from adapter.wire.identity import Attributes, User
from tests.support.certificates import NOW, PROXY_NAME, Pki
from tests.support.clock import FakeClock
from tests.support.reviewing import Reviewing

PKI = Pki()

CERTIFICATES = {
    "none": None,
    "of another CA": PKI.other.leaf(PROXY_NAME),
    "with another name": PKI.proxy.leaf("somebody"),
    "right": PKI.proxy.leaf(PROXY_NAME),
}

EXTRA = "authentication.kubernetes.io/credential-id"
KNOWN = "system:authenticated"

HEADERS = {
    "nothing": ((), None),
    "a user": (
        (("X-Remote-User", "jane"),),
        User("jane", groups=(KNOWN,), proxied=True),
    ),
    "all of a user": (
        (
            ("X-Remote-User", "jane"),
            ("X-Remote-Uid", "7"),
            ("X-Remote-Group", "a,b"),
            ("X-Remote-Group", KNOWN),
            ("X-Remote-Extra-Authentication.kubernetes.io%2fcredential-Id", "JTI=1"),
        ),
        User("jane", "7", ("a,b", KNOWN), {EXTRA: ("JTI=1",)}, proxied=True),
    ),
    "everything twice": (
        (
            ("X-Remote-User", "jane"),
            ("x-remote-user", "root"),
            ("X-Remote-Uid", "7"),
            ("X-Remote-Uid", "0"),
            ("X-Remote-Group", "dev"),
            ("x-remote-group", "ops"),
        ),
        User("jane", "7", ("dev", "ops", KNOWN), proxied=True),
    ),
    "an administrator": (
        (("X-Remote-User", "root"), ("X-Remote-Group", "system:masters")),
        User("root", groups=("system:masters", KNOWN), proxied=True),
    ),
}


def identify(reviews, *, compat=False):
    believed = SimpleNamespace(current=PKI.authority())
    return Identify(Tokens(reviews, FakeClock()), believed, compat=compat)


async def who(certificate, headers, *, compat=False):
    leaf = CERTIFICATES[certificate]
    lines = CIMultiDict(HEADERS[headers][0])
    return await identify(Reviewing(), compat=compat).who(leaf.der if leaf else None, lines, now=NOW)


@pytest.mark.parametrize("headers", HEADERS)
@pytest.mark.parametrize("certificate", CERTIFICATES)
async def test_f39_headers_count_with_the_right_certificate_only(certificate, headers):
    """The first user wins, all groups count; whoever else sends them is nobody."""
    expected = HEADERS[headers][1]
    if certificate == "right" and expected:
        assert await who(certificate, headers) == expected
    else:
        with pytest.raises(errors.NotAuthenticated):
            await who(certificate, headers)


@pytest.mark.parametrize("headers", HEADERS)
async def test_f39_compat_differs_for_who_shows_nothing_only(headers):
    """Without a certificate he is anonymous, whatever the headers say; a wrong certificate is refused."""
    assert (await who("none", headers, compat=True)).name == "system:anonymous"
    for certificate in ("of another CA", "with another name"):
        with pytest.raises(errors.NotAuthenticated):
            await who(certificate, headers, compat=True)


async def test_f39_headers_add_nothing_to_a_token():
    """Its owner does not become an administrator by writing that he is one."""
    reviews = Reviewing({"good": User("robot")})
    lines = CIMultiDict([("Authorization", "Bearer good"), *HEADERS["an administrator"][0]])
    found = await identify(reviews).who(None, lines, now=NOW)
    assert found == User("robot", groups=(KNOWN,))


@pytest.mark.parametrize(("proxied", "reviews_made"), [(True, 0), (False, 1)])
async def test_f39_administrators_skip_the_review_from_the_front_proxy_only(proxied, reviews_made):
    """A token or certificate with that group is reviewed like any other."""
    reviews = Reviewing(may={"root"})
    user = User("root", groups=("system:masters",), proxied=proxied)
    await Permissions(reviews, FakeClock()).check(user, Attributes("get", path="/metrics"))
    assert len(reviews.asked) == reviews_made
