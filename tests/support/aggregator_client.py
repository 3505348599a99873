"""How an API server talks to an extension API server: TLS by the Service's name, its own certificate, Go's error texts."""

import asyncio
import contextlib
import errno
import gzip
import os
import socket
import ssl
from dataclasses import dataclass

import aiohttp
import yarl
from cryptography import x509

from tests.support.aggregator_service import Place
from tests.support.aggregator_wire import Headers, Outgoing

IDLE_SECONDS = 90.0
NO_HEADERS = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
"""What aiohttp would add."""

UNKNOWN_AUTHORITY = (18, 19, 20, 21)
EXPIRED = (9, 10)
OTHER_NAME = 62
"""OpenSSL's numbers of what is wrong with a certificate."""

X509 = "tls: failed to verify certificate: x509: "


@dataclass(frozen=True)
class Way:
    """What makes a connection to a Service one that may be used again."""

    server_name: str
    """SERVICE.NAMESPACE.svc: asked for and verified, whatever address is dialled."""

    ca_bundle: bytes
    skip_verify: bool = False


class Unreachable(Exception):
    """No answer; the text is Go's."""


class NoTransport(Exception):
    """The APIService is such that no connection can even be tried."""


@dataclass(frozen=True)
class Answer:
    """What came back. The body is as it was sent, but un-gzipped if only the transport had asked for gzip."""

    status: int
    headers: Headers
    body: bytes


class Client:
    """Connections to extension API servers, with one front-proxy certificate."""

    def __init__(self, front_proxy: tuple[str, str]) -> None:
        self.front_proxy = front_proxy
        """Paths of certificate and key; read again for each new session."""

        self._sessions: dict[Way, aiohttp.ClientSession] = {}

    async def close(self) -> None:
        for way in list(self._sessions):
            await self.forget(way)

    async def forget(self, way: Way) -> None:
        """Close its connections: the API server does so when a check fails."""
        session = self._sessions.pop(way, None)
        if session is not None:
            await session.close()

    async def send(self, way: Way, place: Place, outgoing: Outgoing, headers: Headers) -> Answer:
        """One request and its whole answer. Raises Unreachable, NoTransport; no time limit of its own."""
        session = self._session(way)
        url = yarl.URL(f"https://{place.address}:{place.port}{outgoing.target}", encoded=True)
        try:
            async with session.request(
                outgoing.method,
                url,
                headers=headers,
                data=outgoing.body or None,
                allow_redirects=False,
                server_hostname=way.server_name,
            ) as response:
                body = await response.read()
        except (aiohttp.ClientError, OSError) as error:
            raise Unreachable(await self._text(error, way, place)) from error
        found = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers]
        if headers[-1] == ("Accept-Encoding", "gzip") and response.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
            found = [one for one in found if one[0].lower() not in ("content-encoding", "content-length")]
        return Answer(response.status, found, body)

    def _session(self, way: Way) -> aiohttp.ClientSession:
        if way not in self._sessions:
            connector = aiohttp.TCPConnector(ssl=self._context(way), limit=0, keepalive_timeout=IDLE_SECONDS)
            self._sessions[way] = aiohttp.ClientSession(
                connector=connector,
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=NO_HEADERS,
                timeout=aiohttp.ClientTimeout(),
                max_line_size=2**20,
                max_field_size=2**20,
            )
        return self._sessions[way]

    def _context(self, way: Way) -> ssl.SSLContext:
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        made.minimum_version = ssl.TLSVersion.TLSv1_2
        made.hostname_checks_common_name = False
        made.set_alpn_protocols(["h2", "http/1.1"])
        made.load_cert_chain(*self.front_proxy)
        if way.skip_verify:
            made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
        elif way.ca_bundle:
            try:
                made.load_verify_locations(cadata=way.ca_bundle.decode())
            except (ssl.SSLError, ValueError) as error:
                text = "unable to load root certificates: unable to parse bytes as PEM block"
                raise NoTransport(text) from error
        else:
            made.load_default_certs()
        return made

    async def _text(self, error: Exception, way: Way, place: Place) -> str:
        cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
        if isinstance(cause, ssl.SSLCertVerificationError):
            return await _of_certificate(cause, way, place)
        if isinstance(cause, ssl.SSLError):
            return f"remote error: tls: {(cause.reason or 'handshake failure').lower().replace('_', ' ')}"
        if isinstance(error, aiohttp.ServerDisconnectedError):
            return "EOF"
        number = getattr(cause, "errno", None) or errno.ECONNRESET
        where = (
            f"dial tcp {place.shown}: connect" if isinstance(error, aiohttp.ClientConnectorError) else "read"
        )
        return f"{where}: {os.strerror(number).lower()}"


async def _of_certificate(error: ssl.SSLCertVerificationError, way: Way, place: Place) -> str:
    if error.verify_code in UNKNOWN_AUTHORITY:
        return f"{X509}certificate signed by unknown authority"
    if error.verify_code in EXPIRED:
        return f"{X509}certificate has expired or is not yet valid"
    if error.verify_code != OTHER_NAME:
        return f"{X509}{error.verify_message}"
    names = await _names(place, way.server_name)
    if not names:
        return f"{X509}certificate is not valid for any names, but wanted to match {way.server_name}"
    return f"{X509}certificate is valid for {', '.join(names)}, not {way.server_name}"


async def _names(place: Place, server_name: str) -> list[str]:
    """The names in the certificate that stands there, for the text only."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with contextlib.suppress(OSError, x509.ExtensionNotFound):
        _, writer = await asyncio.open_connection(
            place.address, place.port, ssl=context, server_hostname=server_name, family=socket.AF_INET
        )
        der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        await writer.wait_closed()
        names = x509.load_der_x509_certificate(der).extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        )
        return [str(one) for one in names.value.get_values_for_type(x509.DNSName)]
    return []
