"""Certificates for a stand-in API server: an authority, its server, its clients."""

import datetime
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, PEM."""

    certificate: bytes
    key: bytes

    def write(self, directory: Path, name: str) -> tuple[str, str]:
        """Paths of both as files."""
        paths = directory / f"{name}.crt", directory / f"{name}.key"
        for path, content in zip(paths, (self.certificate, self.key), strict=True):
            path.write_bytes(content)
        return str(paths[0]), str(paths[1])


class Authority:
    """A cluster's CA. `strict=False`: without Authority Key Identifier, as old installers made them."""

    def __init__(self, name: str = "kubernetes", *, strict: bool = True) -> None:
        self._key, self._name, self._strict = ec.generate_private_key(ec.SECP256R1()), name, strict
        self._certificate = self._built(name, self._key, ca=True)
        self.pem = self._certificate.public_bytes(serialization.Encoding.PEM)

    def server(self, *names: str) -> Pair:
        """For 127.0.0.1, or for these names."""
        return self._pair("kube-apiserver", ExtendedKeyUsageOID.SERVER_AUTH, names)

    def client(self, name: str) -> Pair:
        return self._pair(name, ExtendedKeyUsageOID.CLIENT_AUTH, ())

    def serving(self, directory: Path, *names: str) -> ssl.SSLContext:
        """A server's context that also asks clients for certificates of this authority."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata=self.pem.decode())
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_cert_chain(*self.server(*names).write(directory, f"server-{id(self)}"))
        return context

    def _pair(self, name: str, usage: x509.ObjectIdentifier, hosts: tuple[str, ...]) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._built(name, key, usage=usage, hosts=hosts)
        encoding = serialization.Encoding.PEM
        return Pair(
            certificate.public_bytes(encoding),
            key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
        )

    def _built(self, name, key, *, ca=False, usage=None, hosts=()) -> x509.Certificate:
        now, public = datetime.datetime.now(datetime.UTC), key.public_key()
        made = (
            x509.CertificateBuilder()
            .subject_name(_named(name))
            .issuer_name(_named(self._name))
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(_key_usage(ca=ca), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        )
        if self._strict:
            issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
            made = made.add_extension(issuer, critical=False)
        if usage is not None:
            made = made.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if usage is ExtendedKeyUsageOID.SERVER_AUTH:
            made = made.add_extension(x509.SubjectAlternativeName(_hosts(hosts)), critical=False)
        return made.sign(self._key, hashes.SHA256())


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _hosts(hosts: tuple[str, ...]) -> list[x509.GeneralName]:
    return [x509.DNSName(one) for one in hosts] or [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]


def _key_usage(*, ca: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=ca,
        crl_sign=ca,
        encipher_only=False,
        decipher_only=False,
    )
