"""Who may be believed: the ConfigMap kube-system/extension-apiserver-authentication as data. Pure."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding

CLIENT_CA: Final = "client-ca-file"
PROXY_CA: Final = "requestheader-client-ca-file"
ALLOWED_NAMES: Final = "requestheader-allowed-names"
USER_HEADERS: Final = "requestheader-username-headers"
GROUP_HEADERS: Final = "requestheader-group-headers"
UID_HEADERS: Final = "requestheader-uid-headers"
EXTRA_PREFIXES: Final = "requestheader-extra-headers-prefix"

_names = msgspec.json.Decoder(list[str])


class AuthorityBroken(ValueError):
    """This ConfigMap cannot be used; the text says which key and why."""


@dataclass(frozen=True, slots=True)
class Authority:
    """Whom to believe. The empty one believes nobody."""

    client_ca: tuple[x509.Certificate, ...] = ()
    """Sign the certificates of ordinary users."""

    proxy_ca: tuple[x509.Certificate, ...] = ()
    """Sign the front proxy's."""

    allowed_names: tuple[str, ...] = ()
    """Common names of front proxies; none: any that `proxy_ca` signed."""

    user_headers: tuple[str, ...] = ()
    group_headers: tuple[str, ...] = ()
    uid_headers: tuple[str, ...] = ()
    extra_prefixes: tuple[str, ...] = ()

    identity: bytes = field(init=False, repr=False)
    """Differs for authorities that would judge a certificate differently."""

    def __post_init__(self) -> None:
        bundles = tuple(map(_fingerprints, (self.client_ca, self.proxy_ca)))
        digest = hashlib.sha256(repr((bundles, self.allowed_names)).encode()).digest()
        object.__setattr__(self, "identity", digest)

    @property
    def known(self) -> bool:
        """Whether there is anybody who may speak for others."""
        return bool(self.proxy_ca)


def parse(data: Mapping[str, str]) -> Authority:
    """The authority that the ConfigMap's `data` names. Raises AuthorityBroken.

    A key that is absent, as the uid headers are before Kubernetes 1.33, means none.
    """
    return Authority(
        client_ca=_bundle(data, CLIENT_CA),
        proxy_ca=_bundle(data, PROXY_CA),
        allowed_names=_strings(data, ALLOWED_NAMES),
        user_headers=_strings(data, USER_HEADERS),
        group_headers=_strings(data, GROUP_HEADERS),
        uid_headers=_strings(data, UID_HEADERS),
        extra_prefixes=_strings(data, EXTRA_PREFIXES),
    )


def pem(authority: Authority) -> str:
    """Both bundles, each certificate once: what the TLS context may let in. Who is who is decided afterwards."""
    distinct = dict.fromkeys((*authority.proxy_ca, *authority.client_ca))
    return "".join(one.public_bytes(Encoding.PEM).decode("ascii") for one in distinct)


def _fingerprints(bundle: tuple[x509.Certificate, ...]) -> tuple[bytes, ...]:
    return tuple(one.fingerprint(hashes.SHA256()) for one in bundle)


def _bundle(data: Mapping[str, str], key: str) -> tuple[x509.Certificate, ...]:
    text = data.get(key, "")
    if not text.strip():
        return ()
    try:
        return tuple(x509.load_pem_x509_certificates(text.encode()))
    except ValueError as error:  # UnicodeEncodeError is one
        raise AuthorityBroken(f"{key} is no PEM bundle of certificates") from error


def _strings(data: Mapping[str, str], key: str) -> tuple[str, ...]:
    """A blank entry is left out: as a prefix it would make every header a part of the user."""
    text = data.get(key, "")
    try:
        return tuple(one.strip() for one in _names.decode(text) if one.strip()) if text.strip() else ()
    except (msgspec.MsgspecError, UnicodeEncodeError) as error:
        raise AuthorityBroken(f"{key} is no JSON list of strings") from error
