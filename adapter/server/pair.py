"""The serving certificate and its key: where they come from, whether they are fit, and how OpenSSL gets them."""

import contextlib
import datetime
import os
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509

from adapter.server import self_signed
from adapter.settings import Serving


class CertificateRefused(ValueError):
    """The pair cannot be used: the text names the file and says why."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate with its chain and the key to it, both PEM. `source` is what a refusal calls them."""

    cert: bytes
    key: bytes = field(repr=False)
    source: str = field(default="the serving pair", compare=False)

    def expires(self) -> datetime.datetime:
        """When the certificate ends. Raises CertificateRefused."""
        return self._leaf().not_valid_after_utc

    def valid(self, now: datetime.datetime) -> bool:
        """Whether the certificate is of this time. Raises CertificateRefused."""
        leaf = self._leaf()
        return leaf.not_valid_before_utc <= now <= leaf.not_valid_after_utc

    def check(self, now: datetime.datetime) -> None:
        """Raises CertificateRefused if it is not of this time."""
        if not self.valid(now):
            raise CertificateRefused(f"{self.source}: the certificate has ended, or has not begun")

    def load_into(self, context: ssl.SSLContext) -> None:
        """Make `context` serve with this. Raises CertificateRefused, also if the key belongs to another one.

        OpenSSL reads files only, so it gets two that are in memory: what is loaded is just what was judged, however
        often the files on disk are written, and no disk need be writable.
        """
        try:
            with _in_memory(self.cert) as cert, _in_memory(self.key) as key:
                context.load_cert_chain(cert, key, password=self._no_password)
        except (OSError, ValueError) as error:
            raise CertificateRefused(f"{self.source} cannot be used: {_words(error)}") from error

    def _leaf(self) -> x509.Certificate:
        try:
            return x509.load_pem_x509_certificate(self.cert)
        except ValueError as error:
            raise CertificateRefused(f"{self.source}: the certificate cannot be read") from error

    def _no_password(self) -> str:
        """OpenSSL asks for it where the key has one; else it would ask at the terminal, and wait."""
        raise CertificateRefused(
            f"{self.source}: the key is encrypted, and there is no flag for its password"
        )


class PairFiles:
    """The pair of the settings: the given files, else those in cert_dir, which are made if they are not there."""

    def __init__(self, serving: Serving) -> None:
        if bool(serving.cert_file) != bool(serving.key_file):
            raise CertificateRefused(
                "--tls-cert-file and --tls-private-key-file belong together: give both or none"
            )
        self._serving = serving

    def read(self, now: datetime.datetime) -> Pair:
        """What is there now, not yet judged. Raises CertificateRefused where nothing can be read."""
        cert, key = self._paths(now)
        try:
            return Pair(cert.read_bytes(), key.read_bytes(), f"{cert} with {key}")
        except OSError as error:
            raise CertificateRefused(f"{cert} with {key} cannot be read: {_words(error)}") from error

    def _paths(self, now: datetime.datetime) -> tuple[Path, Path]:
        if self._serving.cert_file:
            return Path(self._serving.cert_file), Path(self._serving.key_file)
        directory = Path(self._serving.cert_dir)
        try:
            return self_signed.ensure(directory, now)
        except OSError as error:
            raise CertificateRefused(
                f"no serving pair in {directory}, and none can be written there: {_words(error)}; "
                "give --tls-cert-file and --tls-private-key-file, or a writable --cert-dir"
            ) from error


@contextlib.contextmanager
def _in_memory(data: bytes) -> Iterator[str]:
    """The path of a file with this content that is on no disk."""
    with os.fdopen(os.memfd_create("serving-pair"), "wb") as file:
        file.write(data)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}"


def _words(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return error.reason.replace("_", " ").lower() if error.reason else "one is no PEM, or is cut off"
    return getattr(error, "strerror", None) or str(error)
