"""Our own certification authority: how its certificates are made, and how a Secret holds them.

    ca.crt   the CAs to trust, oldest first; the last one signs
    ca.key   the key of that last one; those of older ones are no more
    tls.crt  the serving certificate, signed by one of them
    tls.key  its key

Whoever may read the Secret can stand in for this adapter before the API server, and for nobody else: these CAs are
trusted nowhere but in the registrations that name the adapter's own Service.
"""

import datetime
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CA_CERT: Final = "ca.crt"
CA_KEY: Final = "ca.key"
CERT: Final = "tls.crt"
KEY: Final = "tls.key"
"""The names that cert-manager and kubectl give them too."""

ORGANIZATION: Final = "hpa-adapter"
"""By this our CAs are told from others."""

BACKDATED: Final = datetime.timedelta(hours=1)
"""A clock of the API server may be behind ours."""

Key = ec.EllipticCurvePrivateKey


class NotOurs(ValueError):
    """The Secret holds something that was not made here: it is not touched."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a Secret holds, as far as it can be used."""

    trusted: tuple[x509.Certificate, ...] = ()
    ca_key: Key | None = field(default=None, repr=False)
    leaf: x509.Certificate | None = None
    leaf_key: Key | None = field(default=None, repr=False)

    @property
    def issuer(self) -> x509.Certificate | None:
        """The CA that signed the serving certificate."""
        return next((one for one in self.trusted if self.leaf and signed(self.leaf, one)), None)

    def bundle(self) -> bytes:
        """The CAs to trust, PEM."""
        return b"".join(pem(one) for one in self.trusted)

    def data(self) -> dict[str, bytes]:
        """What the Secret is to hold. Only for one that is whole."""
        found = {CA_CERT: self.bundle()}
        if self.ca_key is not None:
            found[CA_KEY] = key_pem(self.ca_key)
        if self.leaf is not None and self.leaf_key is not None:
            found |= {CERT: pem(self.leaf), KEY: key_pem(self.leaf_key)}
        return found


def read(data: Mapping[str, bytes]) -> Kept:
    """What is usable in there; a key or serving certificate that does not fit is left out. Raises NotOurs."""
    if not any(data.values()):
        return Kept()
    try:
        trusted = tuple(certificates(data.get(CA_CERT, b"")))
    except ValueError as error:
        raise NotOurs(f"{CA_CERT} holds no certificates") from error
    if not all(_is_ours(one) for one in trusted):
        raise NotOurs(f"{CA_CERT} holds a CA that was not made by the adapter")
    ca_key = _key(data.get(CA_KEY, b""), trusted[-1])
    kept = Kept(trusted, ca_key)
    try:
        leaf = x509.load_pem_x509_certificate(data.get(CERT, b""))
    except ValueError:
        return kept
    leaf_key = _key(data.get(KEY, b""), leaf)
    whole = Kept(trusted, ca_key, leaf, leaf_key)
    return whole if leaf_key is not None and whole.issuer is not None else kept


def new_ca(now: datetime.datetime, lifetime: datetime.timedelta) -> tuple[x509.Certificate, Key]:
    """A CA with a name of its own: two of the same name would be taken for one another."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name(f"CA {now:%Y-%m-%d} {secrets.token_hex(4)}")
    builder = (
        _begun(name, key, now)
        .issuer_name(name)
        .not_valid_after(now + lifetime)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
    )
    return builder.sign(key, hashes.SHA256()), key


def new_leaf(
    names: Iterable[str],
    ca: tuple[x509.Certificate, Key],
    now: datetime.datetime,
    lifetime: datetime.timedelta,
) -> tuple[x509.Certificate, Key]:
    """A serving certificate for these DNS names; it ends with its CA at the latest."""
    issuer, ca_key = ca
    key = ec.generate_private_key(ec.SECP256R1())
    identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    builder = (
        _begun(_name("serving"), key, now)
        .issuer_name(issuer.subject)
        .not_valid_after(min(now + lifetime, issuer.not_valid_after_utc))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(one) for one in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False
        )
    )
    return builder.sign(ca_key, hashes.SHA256()), key


def certificates(text: bytes) -> list[x509.Certificate]:
    """The certificates of a PEM bundle, one at least. Raises ValueError."""
    return x509.load_pem_x509_certificates(text)


def signed(leaf: x509.Certificate, ca: x509.Certificate) -> bool:
    """Whether this CA signed it."""
    try:
        leaf.verify_directly_issued_by(ca)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def names_of(leaf: x509.Certificate) -> frozenset[str]:
    """The DNS names that it is for."""
    try:
        found = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return frozenset()
    return frozenset(found.get_values_for_type(x509.DNSName))


def pem(certificate: x509.Certificate) -> bytes:
    """As a file holds it."""
    return certificate.public_bytes(serialization.Encoding.PEM)


def key_pem(key: Key) -> bytes:
    """The same of a key."""
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def _begun(name: x509.Name, key: Key, now: datetime.datetime) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _name(common: str) -> x509.Name:
    parts = ((NameOID.ORGANIZATION_NAME, ORGANIZATION), (NameOID.COMMON_NAME, f"{ORGANIZATION} {common}"))
    return x509.Name([x509.NameAttribute(oid, text) for oid, text in parts])


def _is_ours(ca: x509.Certificate) -> bool:
    found = ca.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    return [one.value for one in found] == [ORGANIZATION] and signed(ca, ca)


def _key(text: bytes, certificate: x509.Certificate) -> Key | None:
    """The key to this certificate, or None if it is not that."""
    try:
        key = serialization.load_pem_private_key(text, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    fits = isinstance(key, Key) and key.public_key() == certificate.public_key()
    return key if isinstance(key, Key) and fits else None


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
