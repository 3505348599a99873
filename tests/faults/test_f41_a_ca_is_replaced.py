"""F41: the front proxy's CA is replaced, and the old one removed.

A connection that is open, or resumed, shows a certificate that was verified long ago; so each request is judged by the
authority in force. To see them fail: leave `authority.identity` out of the key in `front_proxy._judged`.
"""

import pytest
from multidict import CIMultiDict

from adapter import errors
from adapter.access.identify import Identify
from adapter.access.tokens import Tokens
from adapter.flows.authority import AuthorityFlow
from tests.support.certificates import NOW, PROXY_NAME, Issuer, Pki, day
from tests.support.clock import FakeClock
from tests.support.reviewing import Reviewing

JANE = CIMultiDict([("X-Remote-User", "jane")])


class Rotation:
    """A cluster whose ConfigMap the test rewrites."""

    def __init__(self):
        self.pki = Pki()
        self.new = Issuer("front-proxy-ca")
        self.old_leaf, self.new_leaf = self.pki.proxy.leaf(PROXY_NAME), self.new.leaf(PROXY_NAME)
        self.data = self.pki.data()
        self.flow = AuthorityFlow(self)
        self.identify = Identify(Tokens(Reviewing(), FakeClock()), self.flow)

    async def read(self):
        return self.data

    async def bundle(self, *issuers):
        self.data = self.pki.data(requestheader_client_ca_file="".join(one.pem for one in issuers))
        await self.flow.once()

    async def known(self, leaf, now=NOW):
        try:
            await self.identify.who(leaf.der, JANE, now=now)
        except errors.NotAuthenticated:
            return False
        return True


@pytest.fixture
async def rotation():
    found = Rotation()
    await found.flow.once()
    return found


async def test_f41_a_new_ca_is_believed_once_it_is_read(rotation):
    """While both are there, both are: no request is lost."""
    assert [await rotation.known(one) for one in (rotation.old_leaf, rotation.new_leaf)] == [True, False]
    await rotation.bundle(rotation.pki.proxy, rotation.new)
    assert [await rotation.known(one) for one in (rotation.old_leaf, rotation.new_leaf)] == [True, True]


async def test_f41_a_removed_ca_is_refused_at_the_next_question(rotation):
    """Also for a certificate that was believed a moment ago, on the same connection."""
    for _ in range(3):
        assert await rotation.known(rotation.old_leaf)
    await rotation.bundle(rotation.new)
    assert [await rotation.known(one) for one in (rotation.old_leaf, rotation.new_leaf)] == [False, True]


async def test_f41_a_ca_that_comes_back_is_believed_again(rotation):
    """A rotation that is undone."""
    await rotation.bundle(rotation.new)
    assert not await rotation.known(rotation.old_leaf)
    await rotation.bundle(rotation.pki.proxy)
    assert await rotation.known(rotation.old_leaf)


async def test_f41_a_name_that_is_struck_off_is_refused_at_the_next_question(rotation):
    """The list of names is a part of it."""
    assert await rotation.known(rotation.old_leaf)
    rotation.data = rotation.pki.data(requestheader_allowed_names='["other"]')
    await rotation.flow.once()
    assert not await rotation.known(rotation.old_leaf)


async def test_f41_a_removed_client_ca_is_refused_at_the_next_question(rotation):
    """The same for ordinary users."""
    leaf = rotation.pki.cluster.leaf("joe")
    assert await rotation.known(leaf)
    rotation.data = rotation.pki.data(client_ca_file=rotation.pki.other.pem)
    await rotation.flow.once()
    assert not await rotation.known(leaf)


async def test_f41_a_certificate_that_expires_is_refused_at_the_next_question(rotation):
    """An open connection does not prolong it."""
    leaf = rotation.pki.proxy.leaf(PROXY_NAME, valid=(day(2025), day(2027)))
    assert [await rotation.known(leaf, now=day(year)) for year in (2026, 2028)] == [True, False]


async def test_f41_a_broken_bundle_changes_nothing(rotation):
    """Half of it was written: the next reading will have it all."""
    rotation.data = rotation.pki.data(requestheader_client_ca_file=rotation.new.pem[:200])
    assert not await rotation.flow.once()
    assert await rotation.known(rotation.old_leaf)
