"""What a client certificate lets its holder say: speak for others, or for himself. Pure.

Both CA bundles stand in one TLS context, so a handshake that succeeds tells only that one of them vouched. Which one
decides everything: if a certificate of the cluster's CA were taken for the front proxy's, whoever has any such
certificate could be anybody. So each request is judged anew against the authority in force; only the arithmetic of
signatures is remembered.
"""

import datetime
import hashlib
import re
import urllib.parse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from cachetools import LRUCache
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.x509.oid import NameOID

from adapter.access import issuance
from adapter.access.authority import Authority
from adapter.access.issuance import Span
from adapter.wire.identity import User

MOST_REMEMBERED: Final = 1024
"""Certificates that are in use at once: a cluster has one front proxy per API server, and few direct callers."""

CREDENTIAL_ID: Final = "authentication.kubernetes.io/credential-id"

_BAD_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_NO_TEXT: Final = re.compile("[\ud800-\udfff]")
"""What bytes that are not UTF-8 have become. Go's servers would make different names the same."""


class Headers(Protocol):
    """Headers of a request, found in any case of their names (aiohttp's)."""

    def getall(self, key: str, default: list[str]) -> list[str]:
        """All values of one name, in order."""
        ...

    def items(self) -> Iterable[tuple[str, str]]:
        """Each line."""
        ...


@dataclass(frozen=True, slots=True)
class Vouched:
    """What a certificate is good for now: `proxy`, to speak for others; `user`, who its holder is himself."""

    proxy: bool = False
    user: User | None = None


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What one authority says of a certificate, at any time."""

    proxy: tuple[Span, ...] = ()
    client: tuple[Span, ...] = ()
    user: User | None = None


_remembered: Final[LRUCache[bytes, _Verdict]] = LRUCache(MOST_REMEMBERED)
"""By certificate and authority: a verdict is a fact about both, whoever asks and whenever."""


def vouched(
    certificate: bytes, authority: Authority, now: datetime.datetime, chain: Sequence[bytes] = ()
) -> Vouched:
    """What the peer's certificate (DER) is good for at `now`; `chain` is what else it sent, if that is known."""
    verdict = _judged(certificate, authority, chain)
    is_client = any(span.holds(now) for span in verdict.client)
    return Vouched(any(span.holds(now) for span in verdict.proxy), verdict.user if is_client else None)


def which(
    certificate: bytes, authority: Authority, now: datetime.datetime, chain: Sequence[bytes] = ()
) -> Literal["proxy", "client"] | None:
    """The same in a word. None: the certificate is good for nothing, or not any more."""
    found = vouched(certificate, authority, now, chain)
    if found.proxy:
        return "proxy"
    return "client" if found.user else None


def proxied_user(headers: Headers, authority: Authority) -> User | None:
    """Whom the front proxy speaks for; None if it does not say, or not in text.

    Call it for a front proxy only: anybody can send these headers.
    """
    name = _first(headers, authority.user_headers)
    uid = _first(headers, authority.uid_headers)
    groups = tuple(filter(None, _all(headers, authority.group_headers)))
    extra = _extra(headers, authority.extra_prefixes)
    texts = (name, uid, *groups, *extra, *(one for values in extra.values() for one in values))
    if not name or any(map(_NO_TEXT.search, texts)):
        return None
    return User(name, uid, groups, extra, proxied=True)


def client_user(certificate: x509.Certificate) -> User | None:
    """Its holder himself: the common name, with the organizations as groups. None without a name."""
    name = _common_name(certificate)
    if not name:
        return None
    groups = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    digest = certificate.fingerprint(hashes.SHA256()).hex()
    return User(
        name,
        groups=tuple(str(one.value) for one in groups),
        extra={CREDENTIAL_ID: (f"X509SHA256={digest}",)},
    )


# -- certificates


def _judged(certificate: bytes, authority: Authority, chain: Sequence[bytes]) -> _Verdict:
    digests = [hashlib.sha256(one).digest() for one in (certificate, *chain)]
    key = b"".join([authority.identity, *digests])
    verdict = _remembered.get(key)
    if verdict is None:
        verdict = _remembered[key] = _judge(certificate, authority, chain)
    return verdict


def _judge(certificate: bytes, authority: Authority, chain: Sequence[bytes]) -> _Verdict:
    try:
        leaf = x509.load_der_x509_certificate(certificate)
        between = [x509.load_der_x509_certificate(one) for one in chain]
        client = issuance.spans(leaf, authority.client_ca, between)
        proxy = issuance.spans(leaf, authority.proxy_ca, between)
        user = client_user(leaf)
        name = _common_name(leaf)
    except issuance.MALFORMED:
        return _Verdict()
    # Without a list of names a CA that is in both bundles would make every user a front proxy.
    listed = name in authority.allowed_names if authority.allowed_names else not client
    return _Verdict(proxy if listed else (), client if user else (), user)


def _common_name(certificate: x509.Certificate) -> str:
    """The last one, of several: so does Go."""
    found = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[-1].value) if found else ""


# -- headers


def _first(headers: Headers, names: Iterable[str]) -> str:
    """The first line of the first of these headers that is there and not empty."""
    firsts = (headers.getall(name, [""])[0] for name in names)
    return next(filter(None, firsts), "")


def _all(headers: Headers, names: Iterable[str]) -> Iterable[str]:
    return (value for name in names for value in headers.getall(name, []))


def _extra(headers: Headers, prefixes: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What follows a prefix is a key, in lower case and percent-encoded; each line is one more value of it."""
    found: dict[str, tuple[str, ...]] = {}
    for prefix in map(str.lower, prefixes):
        for name, value in headers.items():
            lower = name.lower()
            if lower.startswith(prefix):
                key = _decoded(lower.removeprefix(prefix))
                found[key] = (*found.get(key, ()), value)
    return found


def _decoded(key: str) -> str:
    return key if _BAD_ESCAPE.search(key) else urllib.parse.unquote(key)
