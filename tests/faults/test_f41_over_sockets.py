"""F41 over real connections: what a CA signed counts as long as that CA is published, and not a request longer.

To see it fail: let `Vouched.admit` remember the user of a connection.
"""

import ssl

import pytest

from adapter.access.authority import pem
from adapter.access.identify import Identify
from adapter.access.permissions import Permissions
from adapter.access.tokens import Tokens
from adapter.flows.authority import AuthorityFlow
from adapter.server.admission import Vouched
from adapter.telemetry.clock import SystemClock
from tests.support import doors
from tests.support.certificates import PROXY_NAME, Issuer, Pki
from tests.support.doors import open_door
from tests.support.kit import PODS, goroutines
from tests.support.reviewing import Reviewing

pytestmark = pytest.mark.timeout(30)

MASTERS = "X-Remote-User: admin\r\nX-Remote-Group: system:masters\r\n"


class Published:
    """The auth ConfigMap, as it is at the moment."""

    def __init__(self, *issuers: Issuer) -> None:
        self.pki, self.issuers = Pki(), issuers

    async def read(self):
        return self.pki.data(requestheader_client_ca_file="".join(one.pem for one in self.issuers))


@pytest.fixture
async def stage():
    """(door, flow that reads what is published, published) of an adapter that believes the old CA."""
    published = Published(Issuer("old proxy CA"))
    contexts, clock, reviews = doors.contexts(), SystemClock(), Reviewing()
    flow = AuthorityFlow(published, changed=lambda authority: contexts.update(pem(authority)))
    await flow.once()
    admission = Vouched(Identify(Tokens(reviews, clock), flow), Permissions(reviews, clock), clock)
    kit = await goroutines(admission=admission)
    kit.backend.samples = [({"pod": "web-1"}, 1.0)]
    async with open_door(kit.entrance.handle, tls=contexts) as door:
        yield door, flow, published


def proxy(issuer: Issuer, tmp_path) -> ssl.SSLContext:
    client = doors.trust()
    client.load_cert_chain(*issuer.leaf(PROXY_NAME).write(tmp_path, "proxy"))
    return client


async def test_f41_removed_ca_is_refused_on_the_next_request_of_an_open_connection(stage, tmp_path):
    """While both CAs are published both connections are served; then the old one gets 401 and its end."""
    door, flow, published = stage
    (old,), new = published.issuers, Issuer("new proxy CA")
    before = await door.connect(proxy(old, tmp_path))
    assert (await before.get(f"{PODS}/*/goroutines", MASTERS))[0] == 200
    published.issuers = (old, new)
    await flow.once()
    after = await door.connect(proxy(new, tmp_path))
    for peer in (before, after):
        assert (await peer.get(f"{PODS}/*/goroutines", MASTERS))[0] == 200
    published.issuers = (new,)
    await flow.once()
    status, headers, _ = await before.get(f"{PODS}/*/goroutines", MASTERS)
    assert (status, headers["Connection"]) == (401, "close")
    assert (await after.get(f"{PODS}/*/goroutines", MASTERS))[0] == 200


async def test_f41_new_connection_with_a_certificate_of_the_removed_ca_gets_no_answer(stage, tmp_path):
    """It falls out of the handshake: Python has no way to let it in unverified (docs/decisions, 6)."""
    door, flow, published = stage
    client = proxy(published.issuers[0], tmp_path)
    published.issuers = (Issuer("new proxy CA"),)
    await flow.once()
    with pytest.raises((ConnectionError, ssl.SSLError, EOFError)):
        await (await door.connect(client)).get("/apis", MASTERS)
