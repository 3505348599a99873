"""The TLS of the next connection: which certificate we show, and whose certificates we ask for.

A context is made anew at each change and never changed itself: a connection keeps the one that it began with, and
with it go the sessions that OpenSSL remembers, so that none is resumed under CAs that are no longer in force
(docs/faults.md F41).
"""

import asyncio
import datetime
import ssl
from typing import Final

from adapter.server import suites
from adapter.server.pair import Pair, PairFiles
from adapter.server.suites import Suites
from adapter.settings import Serving
from adapter.telemetry import logs

DAY_SECONDS: Final = 86400.0

WARNINGS: Final = (7 * DAY_SECONDS, DAY_SECONDS)
"""A line is logged when the certificate ends sooner than this, once for each of these."""

log = logs.get("tls")


class Contexts:
    """This makes contexts from a serving pair and the CAs of callers, and has the one in force."""

    def __init__(self, pair: Pair, offered: Suites) -> None:
        self._pair, self._offered, self._callers = pair, offered, ""
        self._context = self._made(pair, "")
        self._warned = len(WARNINGS) + 1
        self.not_after = pair.expires()
        if offered.left_out:
            log.warning("cipher_suites_left_out", extra={"suites": ", ".join(offered.left_out)})

    @property
    def pair(self) -> Pair:
        """The pair in force."""
        return self._pair

    def current(self) -> ssl.SSLContext:
        """The context for a connection that begins now."""
        return self._context

    def update(self, ca_pem: str) -> None:
        """Ask callers for certificates of these CAs; of none, if there are none. Unusable ones change nothing."""
        if ca_pem.strip() == self._callers:
            return
        try:
            self._context = self._made(self._pair, ca_pem.strip())
        except (ssl.SSLError, ValueError) as error:
            log.warning(
                "client_ca_rejected", extra={"text": str(error), "next": "those of before are asked for"}
            )
        else:
            self._callers = ca_pem.strip()

    def update_pair(self, cert: bytes, key: bytes, *, source: str = "the serving pair") -> None:
        """Serve with this pair (PEM). Raises CertificateRefused, and nothing has changed."""
        pair = Pair(cert, key, source)
        not_after = pair.expires()
        self._context = self._made(pair, self._callers)
        self._pair, self.not_after, self._warned = pair, not_after, len(WARNINGS) + 1

    def expires_in(self, now: float) -> float:
        """Seconds until the certificate in force ends; negative when it has."""
        return self.not_after.timestamp() - now

    def describe(self, now: float) -> str:
        """The same for people."""
        seconds = self.expires_in(now)
        span = str(datetime.timedelta(seconds=round(abs(seconds))))
        return f"expires in {span}" if seconds >= 0 else f"EXPIRED {span} ago"

    def warn(self, now: float) -> None:
        """A line when the end is near, and another when it is there; each once."""
        left = self.expires_in(now)
        stage = sum(left >= limit for limit in (*WARNINGS, 0.0))
        if stage < self._warned:
            level = log.error if left < 0 else log.warning
            level("certificate_expires", extra={"seconds": round(left), "source": self._pair.source})
        self._warned = min(self._warned, stage)

    def _made(self, pair: Pair, callers: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._offered.apply(context)
        # Without tickets a client must be seen in full each time; TLS 1.3 has a switch of its own for them.
        context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION | ssl.OP_NO_TICKET
        context.num_tickets = 0
        context.set_alpn_protocols(["http/1.1"])
        pair.load_into(context)
        if callers:
            context.load_verify_locations(cadata=callers)
            # As in Go, whatever is in the bundle is trusted, an intermediate too.
            context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
            # Python has no "ask, but do not verify": who shows a certificate of another CA is not let in.
            context.verify_mode = ssl.CERT_OPTIONAL
        return context


def contexts(serving: Serving, now: datetime.datetime) -> Contexts:
    """The contexts of these settings, as their files are now. Raises CertificateRefused, SuitesRefused."""
    return Contexts(PairFiles(serving).read(now), suites.of(serving))


def peer_certificate(transport: asyncio.BaseTransport | None) -> bytes | None:
    """The caller's certificate (DER), which a CA of the handshake's time has signed; None if none was shown."""
    tls: ssl.SSLObject | None = transport.get_extra_info("ssl_object") if transport is not None else None
    return tls.getpeercert(binary_form=True) if tls is not None else None


def asked_for_certificate(transport: asyncio.BaseTransport | None) -> bool:
    """Whether the handshake asked the caller for one; True where there was no handshake."""
    tls: ssl.SSLObject | None = transport.get_extra_info("ssl_object") if transport is not None else None
    return tls is None or tls.context.verify_mode != ssl.CERT_NONE
