"""A serving pair that signs itself, for who has none: made once in a directory, and used again."""

import datetime
import ipaddress
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CERT_NAME: Final = "apiserver.crt"
KEY_NAME: Final = "apiserver.key"
"""The names that Go's API servers give the pair, so that an existing directory is used again."""

LIFETIME: Final = datetime.timedelta(days=365)
"""As Go's self-signed pair."""

RENEWAL: Final = datetime.timedelta(days=30)
"""A pair of ours with less life than this is made anew."""

OWN_NAME: Final = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hpa-adapter self-signed")])
"""By this a pair that was made here is told from one that somebody put there."""


def ensure(directory: Path, now: datetime.datetime) -> tuple[Path, Path]:
    """(certificate, key) in `directory`, made if there is none, or if ours is old. Raises OSError."""
    cert, key = directory / CERT_NAME, directory / KEY_NAME
    if not (cert.exists() and key.exists()) or _ours_and_old(cert, now):
        directory.mkdir(parents=True, exist_ok=True)
        _make(cert, key, now=now)
    return cert, key


def _ours_and_old(path: Path, now: datetime.datetime) -> bool:
    try:
        cert = x509.load_pem_x509_certificate(path.read_bytes())
    except (OSError, ValueError):
        return False  # not ours to judge: loading it will say what is wrong
    return cert.issuer == OWN_NAME and cert.not_valid_after_utc - now < RENEWAL


def _make(cert: Path, key: Path, *, now: datetime.datetime) -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    built = (
        x509.CertificateBuilder()
        .subject_name(OWN_NAME)
        .issuer_name(OWN_NAME)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(private.public_key()), critical=False)
        .sign(private, hashes.SHA256())
    )
    key.touch(mode=0o600)
    key.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    cert.write_bytes(built.public_bytes(serialization.Encoding.PEM))


def _usage() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
