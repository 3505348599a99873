"""Which versions and cipher suites of TLS are offered: ours, or fewer if the settings say so. Never weaker ones.

TLS 1.2 with forward secrecy and authenticated encryption; TLS 1.3 has no other kind, and its suites cannot be chosen
one by one (nor in Go).
"""

import ssl
from dataclasses import dataclass
from typing import Final

from adapter.settings import Serving

OPENSSL_NAMES: Final = {
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
}
"""All of TLS 1.2 that is offered, in the order of preference, by the names that the flag takes."""

OLDER_NAMES: Final = {
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305": "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305": "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
}
"""Go takes these too."""

TLS13_NAMES: Final = frozenset(
    {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}
)

MINIMA: Final = {
    "": ssl.TLSVersion.TLSv1_2,
    "VersionTLS10": ssl.TLSVersion.TLSv1_2,
    "VersionTLS11": ssl.TLSVersion.TLSv1_2,
    "VersionTLS12": ssl.TLSVersion.TLSv1_2,
    "VersionTLS13": ssl.TLSVersion.TLSv1_3,
}


class SuitesRefused(Exception):
    """The settings leave nothing to offer, or name what is not there: the text names the flag."""


@dataclass(frozen=True, slots=True)
class Suites:
    """What is offered. `ciphers` is for OpenSSL, and about TLS 1.2 only."""

    minimum: ssl.TLSVersion
    ciphers: str
    left_out: tuple[str, ...] = ()
    """Names that were asked for and are too weak, or unknown."""

    def apply(self, context: ssl.SSLContext) -> None:
        """Make this what `context` offers."""
        context.minimum_version = self.minimum
        context.set_ciphers(self.ciphers)


def of(serving: Serving) -> Suites:
    """What these settings allow of what is offered. Raises SuitesRefused."""
    minimum = MINIMA.get(serving.tls_min_version)
    if minimum is None:
        known = ", ".join(filter(None, MINIMA))
        raise SuitesRefused(
            f"--tls-min-version: there is no {serving.tls_min_version}; there are {known} (below 1.2: 1.2)"
        )
    if not serving.tls_cipher_suites:
        return Suites(minimum, ":".join(OPENSSL_NAMES.values()))
    names = [OLDER_NAMES.get(one, one) for one in serving.tls_cipher_suites]
    offered = [openssl for name, openssl in OPENSSL_NAMES.items() if name in names]
    left_out = tuple(one for one in names if one not in OPENSSL_NAMES and one not in TLS13_NAMES)
    if offered:
        return Suites(minimum, ":".join(offered), left_out)
    if minimum is ssl.TLSVersion.TLSv1_3 or TLS13_NAMES & set(names):
        return Suites(ssl.TLSVersion.TLSv1_3, ":".join(OPENSSL_NAMES.values()), left_out)
    raise SuitesRefused(
        "--tls-cipher-suites: none of these is forward secret and authenticated; leave the flag out, or name some of "
        + ", ".join(OPENSSL_NAMES)
    )
