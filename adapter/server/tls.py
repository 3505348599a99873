"""The serving certificate: a pair from files, or one that signs itself (docs/contract.md 3.3)."""

import datetime
import ipaddress
import ssl
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from adapter.settings import Serving

CERT_NAME: Final = "apiserver.crt"
KEY_NAME: Final = "apiserver.key"
"""The names that Go's API servers give the pair, so that an existing directory is used again."""

LIFETIME: Final = datetime.timedelta(days=365)
"""As Go's self-signed pair."""

RENEWAL: Final = datetime.timedelta(days=30)
"""A pair of ours with less life than this is made anew at the next start."""

OWN_NAME: Final = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hpa-adapter self-signed")])
"""By this a pair that was made here is told from one that somebody put there."""

CIPHERS: Final = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""TLS 1.2 with forward secrecy and authenticated encryption only; 1.3 has no other kind."""


class CertificateRefused(Exception):
    """The pair cannot be used: the text names the file and says why."""


def context(serving: Serving, *, now: datetime.datetime) -> ssl.SSLContext:
    """The TLS context of the server. Raises CertificateRefused."""
    cert, key = pair(serving, now=now)
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.set_ciphers(CIPHERS)
    made.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    made.set_alpn_protocols(["http/1.1"])
    try:
        made.load_cert_chain(cert, key)
    except (OSError, ssl.SSLError) as error:
        raise CertificateRefused(f"{cert} and {key} cannot be used as serving pair: {error}") from error
    return made


def pair(serving: Serving, *, now: datetime.datetime) -> tuple[Path, Path]:
    """(certificate, key): the given files, else those in cert_dir, which are made if they are not there."""
    if bool(serving.cert_file) != bool(serving.key_file):
        raise CertificateRefused(
            "--tls-cert-file and --tls-private-key-file belong together: give both or none"
        )
    if serving.cert_file:
        return Path(serving.cert_file), Path(serving.key_file)
    directory = Path(serving.cert_dir)
    cert, key = directory / CERT_NAME, directory / KEY_NAME
    if not (cert.exists() and key.exists()) or _ours_and_old(cert, now):
        try:
            directory.mkdir(parents=True, exist_ok=True)
            _make(cert, key, now=now)
        except OSError as error:
            raise CertificateRefused(
                f"no serving pair in {directory}, and none can be written there: {error}; "
                "give --tls-cert-file and --tls-private-key-file, or a writable --cert-dir"
            ) from error
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
