"""Certificates as kubeadm makes them: the front proxy's CA, the cluster's CA, any other, and what they sign.

    pki = Pki()
    pki.proxy.leaf("front-proxy-client")          # no subject alternative name, for clients only
    pki.cluster.leaf("jane", organizations=("dev",))
    pki.cluster.leaf("kubelet", usages=SERVERS)   # or valid=EXPIRED, valid=NOT_YET, hosts=("a.b.svc",)
    pki.data()                                    # the auth ConfigMap's data; pki.authority() the same, parsed

All dates are fixed: what is valid is so for a real clock and for that of the tests (NOW).
"""

import datetime
import ipaddress
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from adapter.access import authority
from adapter.access.authority import Authority

CLIENTS = (ExtendedKeyUsageOID.CLIENT_AUTH,)
SERVERS = (ExtendedKeyUsageOID.SERVER_AUTH,)
ANYTHING = (ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,)
UNSAID: Sequence[x509.ObjectIdentifier] = ()
"""No extended key usage at all."""

PROXY_NAME = "front-proxy-client"


def day(year: int) -> datetime.datetime:
    return datetime.datetime(year, 1, 1, tzinfo=datetime.UTC)


NOW = day(2026)
GOOD = day(2020), day(2049)
EXPIRED = day(2020), day(2021)
NOT_YET = day(2048), day(2049)


@dataclass(frozen=True)
class Leaf:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    @property
    def key_pem(self) -> str:
        form = serialization.PrivateFormat.PKCS8
        return self.key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()

    def write(self, directory: Path, name: str) -> tuple[str, str]:
        """Paths of both as files."""
        paths = directory / f"{name}.crt", directory / f"{name}.key"
        paths[0].write_text(self.pem)
        paths[1].write_text(self.key_pem)
        return str(paths[0]), str(paths[1])


class Issuer:
    """A CA. `under`: signed by that one, an intermediate; `like`: that one's name and key once more."""

    def __init__(
        self,
        name: str,
        *,
        valid=GOOD,
        under: "Issuer | None" = None,
        like: "Issuer | None" = None,
        usages=UNSAID,
        ca: bool = True,
        signs: bool | None = True,
        path_length: int | None = None,
        with_rsa: bool = False,
    ) -> None:
        self.name = name
        self.key = like.key if like else _key(with_rsa=with_rsa)
        extensions = [(x509.BasicConstraints(ca=ca, path_length=path_length), True)]
        if signs is not None:
            extensions.append((_key_usage(signs=signs), True))
        if usages:
            extensions.append((x509.ExtendedKeyUsage(usages), False))
        subject = _named(name, ())
        self.certificate = _built(self.key, subject, valid, under or self, extensions)

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def leaf(
        self, name: str, organizations=(), *, usages=CLIENTS, valid=GOOD, hosts=(), more=(), digest=None
    ) -> Leaf:
        """What it signs for `name`. `more` are further (extension, critical)."""
        key = _key()
        extensions = [
            (x509.BasicConstraints(ca=False, path_length=None), True),
            (_key_usage(signs=False), True),
        ]
        if usages:
            extensions.append((x509.ExtendedKeyUsage(usages), False))
        if hosts:
            extensions.append((x509.SubjectAlternativeName([_host(one) for one in hosts]), False))
        subject = _named(name, organizations)
        return Leaf(_built(key, subject, valid, self, [*extensions, *more], digest=digest), key)


class Pki:
    """What a cluster has: two CAs of its own; and one that has nothing to do with it."""

    def __init__(self) -> None:
        self.proxy, self.cluster = Issuer("front-proxy-ca"), Issuer("kubernetes")
        self.other = Issuer("other")

    def data(self, **changes: str | None) -> dict[str, str]:
        """The ConfigMap's data; `changes` as in client_ca_file="...", None: without that key."""
        found = {
            "client-ca-file": self.cluster.pem,
            "requestheader-allowed-names": json.dumps([PROXY_NAME]),
            "requestheader-client-ca-file": self.proxy.pem,
            "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
            "requestheader-group-headers": '["X-Remote-Group"]',
            "requestheader-uid-headers": '["X-Remote-Uid"]',
            "requestheader-username-headers": '["X-Remote-User"]',
        }
        found |= {key.replace("_", "-"): value for key, value in changes.items()}
        return {key: value for key, value in found.items() if value is not None}

    def authority(self, **changes: str | None) -> Authority:
        return authority.parse(self.data(**changes))


def _key(*, with_rsa: bool = False) -> ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048) if with_rsa else ec.generate_private_key(ec.SECP256R1())


def _built(key, subject, valid, issuer, extensions, *, digest=None) -> x509.Certificate:
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(_named(issuer.name, ()))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(valid[0])
        .not_valid_after(valid[1])
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key()), critical=False
        )
    )
    for extension, critical in extensions:
        made = made.add_extension(extension, critical=critical)
    return made.sign(issuer.key, digest or hashes.SHA256())


def _named(name: str, organizations: Sequence[str]) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, one) for one in organizations]
    if name:
        attributes.append(x509.NameAttribute(NameOID.COMMON_NAME, name))
    return x509.Name(attributes)


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _key_usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=not signs,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )
