"""What the backend is shown of us, and whose certificate we take for its own: made from files.

What is read here is a secret: no text of an error and no `repr` holds any of it.
"""

import contextlib
import hashlib
import os
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from adapter.settings import Prometheus

MAX_FILE_BYTES: Final = 1024 * 1024
"""A bundle of all public CAs has a quarter of that."""


class CredentialsUnusable(Exception):
    """This says why there are none: the file and what is wrong with it, nothing of its content."""


@dataclass(frozen=True, slots=True, eq=False)
class Login:
    """What goes with a request. `tls`: True means the system's roots, and no certificate of ours."""

    tls: ssl.SSLContext | bool = True
    authorization: str | None = field(default=None, repr=False)
    server_name: str | None = None
    """Whose certificate the backend must have, if not that of the host in its address."""


@dataclass(frozen=True, slots=True)
class Paths:
    """The files; each may be "", which means none."""

    ca: str = ""
    cert: str = ""
    key: str = ""
    token: str = ""
    strict: bool = True
    """Whether a CA needs an Authority Key Identifier (settings.Kubernetes.disable_strict_x509)."""


@dataclass(frozen=True, slots=True, repr=False)
class Contents:
    """What the files held at one moment; None: no such file, or none that can be read."""

    ca: bytes | None
    cert: bytes | None
    key: bytes | None
    token: bytes | None

    def digest(self) -> tuple[bytes, ...]:
        """Differs where the content does."""
        parts = (self.ca, self.cert, self.key, self.token)
        return tuple(b"" if one is None else hashlib.sha256(one).digest() for one in parts)


def choose(settings: Prometheus, *, service_account: str, strict: bool = True) -> Paths:
    """The files that count, by upstream's precedence (docs/upstream.md 1); `service_account` is a directory."""
    token, way = settings.token_file, settings.auth_in_cluster or settings.auth_kubeconfig
    cert = key = ""
    if settings.client_cert_file and settings.client_key_file and (settings.ca_file or not way):
        cert, key = settings.client_cert_file, settings.client_key_file
    if settings.auth_in_cluster and not settings.ca_file:
        mounted = Path(service_account)
        return Paths(str(mounted / "ca.crt"), token=token or str(mounted / "token"), strict=strict)
    return Paths(settings.ca_file, cert, key, token, strict)


def read(paths: Paths) -> Contents:
    """What the files hold now."""
    return Contents(*map(_content, (paths.ca, paths.cert, paths.key, paths.token)))


def make(paths: Paths, contents: Contents, under: Login) -> Login:
    """The login of these contents; what they leave open is as in `under`. Raises CredentialsUnusable."""
    return Login(
        tls=_tls(paths, contents) if paths.ca or paths.cert else under.tls,
        authorization=_bearer(paths, contents) if paths.token else under.authorization,
        server_name=under.server_name,
    )


def _content(path: str) -> bytes | None:
    try:
        with Path(path).open("rb") as file:
            return file.read(MAX_FILE_BYTES)
    except OSError:
        return None


def _tls(paths: Paths, contents: Contents) -> ssl.SSLContext:
    context = _trusting(paths, contents)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if not paths.strict:
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if paths.cert:
        _show(context, paths, contents)
    return context


def _trusting(paths: Paths, contents: Contents) -> ssl.SSLContext:
    if not paths.ca:
        return ssl.create_default_context()
    with _as_file(_needed(paths.ca, contents.ca)) as name:
        try:
            return ssl.create_default_context(cafile=name)
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            raise CredentialsUnusable(f"{paths.ca}: no PEM bundle of certificates") from error


def _show(context: ssl.SSLContext, paths: Paths, contents: Contents) -> None:
    """Have `context` show our certificate. It is read as it was when it was hashed."""
    pair = _needed(paths.key, contents.key) + b"\n" + _needed(paths.cert, contents.cert)
    with _as_file(pair) as name:
        try:
            context.load_cert_chain(name, password=_no_password)
        except (OSError, ValueError) as error:
            reason = (getattr(error, "reason", None) or "unreadable").lower().replace("_", " ")
            raise CredentialsUnusable(
                f"{paths.cert} and {paths.key} are no pair of certificate and key, PEM, without a password: {reason}"
            ) from error


def _bearer(paths: Paths, contents: Contents) -> str:
    token = _needed(paths.token, contents.token).strip()  # most end in a line break, which no header may hold
    if not token:
        raise CredentialsUnusable(f"{paths.token}: it is empty")
    if any(byte <= ord(" ") or byte >= 0x7F for byte in token):  # noqa: PLR2004 - DEL, and all that is not ASCII
        raise CredentialsUnusable(f"{paths.token}: no bearer token, for it holds more than printable ASCII")
    return f"Bearer {token.decode('ascii')}"


def _needed(path: str, content: bytes | None) -> bytes:
    if content is None:
        raise CredentialsUnusable(f"{path}: it cannot be read")
    return content


def _no_password() -> str:
    """Without it OpenSSL would ask for one on the terminal."""
    return ""


@contextlib.contextmanager
def _as_file(content: bytes) -> Iterator[str]:
    """A file in memory: OpenSSL reads files only, and those on the disk may be others by now."""
    descriptor = os.memfd_create("adapter")
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(content)
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
