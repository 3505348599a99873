"""Who signed a client's certificate, and when that counts: what Go's verifier asks, for one bundle at a time. Pure.

The TLS handshake has verified the certificate already, but against all bundles together: it does not tell which of
them vouched, and a CA that has been removed since still stands behind connections that are open.
"""

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.x509.oid import ExtendedKeyUsageOID

MOST_BETWEEN: Final = 3
"""Intermediate CAs that are looked at; a cluster has none or one. Each more multiplies the work."""

MALFORMED: Final = (ValueError, x509.DuplicateExtension, x509.InvalidVersion, x509.UnsupportedGeneralNameType)
"""What cryptography raises for bytes that are no certificate, or for extensions that are none."""

_FITTING: Final = frozenset({ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE})

Extension = TypeVar("Extension", bound=x509.ExtensionType)


@dataclass(frozen=True, slots=True)
class Span:
    """The time in which all certificates of one path are valid."""

    begin: datetime.datetime
    end: datetime.datetime

    def holds(self, now: datetime.datetime) -> bool:
        """Whether `now` lies within, the ends included."""
        return self.begin <= now <= self.end

    def overlap(self, other: "Span") -> "Span":
        """The time within both; it may hold no moment at all."""
        return Span(max(self.begin, other.begin), min(self.end, other.end))


def spans(
    leaf: x509.Certificate, roots: Sequence[x509.Certificate], chain: Sequence[x509.Certificate] = ()
) -> tuple[Span, ...]:
    """When one of `roots` vouches for `leaf`, as a client's certificate: one span for each path between them.

    `chain` is what the peer sent with it: intermediates, in any order; what is none is passed over.
    """
    if not _fits_clients(leaf):
        return ()
    signers = [one for one in roots if _fits_clients(one) and _is_ca(one)]
    between = [one for one in chain if _fits_clients(one) and _is_ca(one)][:MOST_BETWEEN]
    return tuple(_paths(leaf, signers, between, below=0))


def _paths(
    lower: x509.Certificate,
    signers: Sequence[x509.Certificate],
    between: Sequence[x509.Certificate],
    *,
    below: int,
) -> Iterator[Span]:
    """One span for each path from `lower` up; `below` intermediates lie under the next one."""
    span = Span(lower.not_valid_before_utc, lower.not_valid_after_utc)
    for signer in signers:
        if _signed(lower, signer, below):
            yield span.overlap(Span(signer.not_valid_before_utc, signer.not_valid_after_utc))
    for one in between:
        if _signed(lower, one, below):
            others = [other for other in between if other is not one]
            yield from map(span.overlap, _paths(one, signers, others, below=below + 1))


def _signed(lower: x509.Certificate, upper: x509.Certificate, below: int) -> bool:
    """Whether `upper` signed `lower`, and may have so many intermediates under it.

    cryptography takes no signature over SHA-1 or MD5, which could be forged.
    """
    length = upper.extensions.get_extension_for_class(x509.BasicConstraints).value.path_length
    if length is not None and length < below:
        return False
    try:
        lower.verify_directly_issued_by(upper)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def _is_ca(certificate: x509.Certificate) -> bool:
    constraints = _extension(certificate, x509.BasicConstraints)
    usage = _extension(certificate, x509.KeyUsage)
    return constraints is not None and constraints.ca and (usage is None or usage.key_cert_sign)


def _fits_clients(certificate: x509.Certificate) -> bool:
    """Whether it may stand behind a client: it says so, or does not say what it is for."""
    try:
        usage = _extension(certificate, x509.ExtendedKeyUsage)
    except MALFORMED:
        return False
    return usage is None or not _FITTING.isdisjoint(usage)


def _extension(certificate: x509.Certificate, kind: type[Extension]) -> Extension | None:
    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return None
