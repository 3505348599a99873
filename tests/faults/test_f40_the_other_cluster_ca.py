"""F40: a certificate of the cluster's other CA, which every kubelet and many users have, and `X-Remote-User: admin`.

Both bundles stand in one TLS context, so the handshake lets it in: attribution alone keeps it from speaking for others.
To see them fail: join both bundles in `front_proxy._judge`.
"""

from types import SimpleNamespace

import pytest
from multidict import CIMultiDict

from adapter import errors
from adapter.access import front_proxy
from adapter.access.identify import Identify
from adapter.access.permissions import Permissions
from adapter.access.tokens import Tokens
from adapter.wire.identity import Attributes
from tests.support.certificates import NOW, PROXY_NAME, Issuer, Pki
from tests.support.clock import FakeClock
from tests.support.reviewing import Reviewing

PKI = Pki()
ADMIN = CIMultiDict([("X-Remote-User", "admin"), ("X-Remote-Group", "system:masters")])
NAMES = ["system:node:n1", PROXY_NAME, "kubernetes-admin"]


async def who(leaf, *, chain=(), **changes):
    believed = SimpleNamespace(current=PKI.authority(**changes))
    tokens = Tokens(Reviewing(), FakeClock())
    return await Identify(tokens, believed).who(leaf.der, ADMIN, now=NOW, chain=chain)


@pytest.mark.parametrize("names", [None, "[]", '["front-proxy-client"]'])
@pytest.mark.parametrize("name", NAMES)
async def test_f40_its_owner_is_an_ordinary_user(name, names):
    """Whatever its common name, and whatever names are listed."""
    found = await who(PKI.cluster.leaf(name, ("system:nodes",)), requestheader_allowed_names=names)
    assert (found.name, found.proxied) == (name, False)
    assert found.groups == ("system:nodes", "system:authenticated")


async def test_f40_its_owner_is_reviewed_though_an_administrator():
    """His group in the certificate is no word of the front proxy."""
    found = await who(PKI.cluster.leaf("kubernetes-admin", ("system:masters",)))
    reviews = Reviewing()
    with pytest.raises(errors.NotAllowed):
        await Permissions(reviews, FakeClock()).check(found, Attributes("get", path="/metrics"))
    assert reviews.asked


@pytest.mark.parametrize("name", NAMES)
async def test_f40_an_intermediate_of_it_makes_no_proxies_either(name):
    """Nor one that calls itself as the front proxy's CA does."""
    between = Issuer(PKI.proxy.name, under=PKI.cluster)
    leaf = between.leaf(name)
    found = await who(leaf, chain=[leaf.der, between.der])
    assert (found.name, found.proxied) == (name, False)


async def test_f40_the_proxys_ca_makes_no_users():
    """The other way round: its certificates say nothing of users of the cluster."""
    leaf = PKI.proxy.leaf("kubernetes-admin", ("system:masters",))
    assert front_proxy.which(leaf.der, PKI.authority(), NOW) is None
    with pytest.raises(errors.NotAuthenticated):
        await who(leaf)
