"""F43: weak TLS. Real handshakes with clients that can do less, or want more, than we allow."""

import ssl
import warnings

import pytest

from adapter.settings import Serving
from tests.support import doors
from tests.support.certificates import Pki
from tests.support.doors import open_door, trust

pytestmark = pytest.mark.timeout(20)


def client(*, newest=ssl.TLSVersion.TLSv1_2, ciphers: str = "DEFAULT") -> ssl.SSLContext:
    """A client that speaks no newer version than this, with these suites; its own level of care is nil."""
    context = trust()
    with warnings.catch_warnings():  # Python warns of old versions, as it should
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = newest
    context.set_ciphers(f"{ciphers}:@SECLEVEL=0")
    return context


async def spoken(door, context: ssl.SSLContext) -> tuple[str, str]:
    """(version, suite) of a connection with a request answered. Raises OSError."""
    peer = await door.connect(context)
    assert (await peer.get())[0] == 200
    tls = peer.writer.get_extra_info("ssl_object")
    assert tls.compression() is None
    assert tls.selected_alpn_protocol() in {None, "http/1.1"}
    return tls.version(), tls.cipher()[0]


@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
async def test_f43_versions_below_1_2_are_refused(newest):
    """The handshake fails and is counted. (asyncio sends no alert; that a newer client is served is shown below.)"""
    async with open_door() as door:
        with pytest.raises(OSError):
            await door.connect(client(newest=newest))
        assert door.closed == {"handshake_failed": 1}


@pytest.mark.parametrize(
    "ciphers",
    [
        "ECDHE-ECDSA-AES128-SHA",
        "ECDHE-ECDSA-AES128-SHA256",
        "ECDHE-ECDSA-AES256-CCM",
        "AES128-GCM-SHA256",
        "AES128-SHA",
        "DHE-RSA-AES128-GCM-SHA256",
        "aNULL",
        "eNULL",
    ],
)
async def test_f43_suites_without_forward_secrecy_or_authentication_are_refused(ciphers):
    """CBC, static RSA, finite fields, anonymous, plain, and what is not commonly forward secret and authenticated."""
    async with open_door() as door:
        with pytest.raises(OSError):
            await door.connect(client(ciphers=ciphers))
        assert door.closed == {"handshake_failed": 1}


async def test_f43_1_2_and_1_3_are_spoken():
    """The newest that a caller can."""
    async with open_door() as door:
        version, suite = await spoken(door, client())
        assert version == "TLSv1.2"
        assert suite.startswith("ECDHE-ECDSA-")
        assert (await spoken(door, trust()))[0] == "TLSv1.3"


async def test_f43_floor_can_be_raised_and_suites_narrowed():
    """By the flags."""
    async with open_door(tls=doors.contexts(Serving(tls_min_version="VersionTLS13"))) as door:
        with pytest.raises(OSError):
            await door.connect(client())
        assert (await spoken(door, trust()))[0] == "TLSv1.3"
    narrow = Serving(tls_cipher_suites=("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",))
    async with open_door(tls=doors.contexts(narrow)) as door:
        assert (await spoken(door, client()))[1] == "ECDHE-ECDSA-AES256-GCM-SHA384"


async def resumed(door, context: ssl.SSLContext, session: ssl.SSLSession | None):
    """(session, whether it was resumed) of a connection that offers `session`. Raises OSError."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost", session=session)
    peer = await door.connect_plainly()

    async def on(step):
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                await peer.send(outgoing.read())
                incoming.write(await peer.reader.read(65536))

    await on(tls.do_handshake)
    tls.write(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    await peer.send(outgoing.read())
    await on(lambda: tls.read(65536))
    await peer.close()
    return tls.session, tls.session_reused


async def test_f43_no_tickets_are_given():
    """In neither version: who comes again is looked at again."""
    async with open_door() as door:
        for context in (client(), trust()):
            session, _ = await resumed(door, context, None)
            assert not session.has_ticket
            if context.maximum_version != ssl.TLSVersion.TLSv1_2:
                assert not (await resumed(door, context, session))[1]


async def test_f43_no_session_outlives_a_change_of_cas():
    """TLS 1.2 remembers sessions without tickets; with the context that remembers them they are gone."""
    contexts, pki, context = doors.contexts(), Pki(), client()
    async with open_door(tls=contexts) as door:
        contexts.update(pki.proxy.pem + pki.cluster.pem)
        session, _ = await resumed(door, context, None)
        assert (await resumed(door, context, session))[1]
        contexts.update(pki.cluster.pem)
        assert not (await resumed(door, context, session))[1]
