"""What the backend is shown of us, and whose certificate we take for its own: from files that somebody rotates.

What is read here is a secret: no text of an error, no line of the log and no `repr` holds any of it.
"""

import asyncio
import contextlib
import hashlib
import os
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from adapter.flights import Flights
from adapter.prometheus import faults
from adapter.settings import Prometheus
from adapter.telemetry import logs
from adapter.telemetry.clock import Clock

LOOK_SECONDS: Final = 10.0
"""How often the files are looked at, at most; what is new must be in use within 60 s."""

MAX_FILE_BYTES: Final = 1024 * 1024
"""A bundle of all public CAs has a quarter of that."""

log = logs.get("prometheus")


class CredentialsUnusable(Exception):
    """This says why there are none: the file and what is wrong with it, nothing of its content."""


@dataclass(frozen=True, slots=True, eq=False)
class Login:
    """What goes with a request. `tls`: True means the system's roots, and no certificate of ours."""

    tls: ssl.SSLContext | bool = True
    authorization: str | None = field(default=None, repr=False)
    server_name: str | None = None
    """Whose certificate the backend must have, if not that of the host in its address."""


class Lender(Protocol):
    """Who has credentials of a kubeconfig to lend (kube.lending)."""

    async def lend(self) -> tuple[ssl.SSLContext, str | None, str | None]:
        """TLS, the Authorization header, the server's name. Raises ValueError, which says why there are none."""
        ...

    def outdated(self, *, refused: bool) -> bool:
        """Whether asking again may give others; `refused`: the backend did not take these."""
        ...


@dataclass(frozen=True, slots=True)
class Paths:
    """The files; each may be "", which means none. `strict`: see settings.Kubernetes.disable_strict_x509."""

    ca: str = ""
    cert: str = ""
    key: str = ""
    token: str = ""
    strict: bool = True


@dataclass(frozen=True, slots=True, repr=False)
class _Contents:
    """What the files held at one moment; None: there is no such file."""

    ca: bytes | None
    cert: bytes | None
    key: bytes | None
    token: bytes | None

    def digest(self) -> bytes:
        """Differs where the content does."""
        parts = [b"-" if one is None else hashlib.sha256(one).digest() for one in self._all()]
        return hashlib.sha256(b"|".join(parts)).digest()

    def _all(self) -> tuple[bytes | None, ...]:
        return self.ca, self.cert, self.key, self.token


class Credentials:
    """This keeps the login in force: renewed when a file changes, kept when a new one is unusable."""

    def __init__(self, paths: Paths, clock: Clock, lender: Lender | None = None) -> None:
        self._paths, self._clock, self._lender = paths, clock, lender
        self._login: Login | None = None
        self._digest, self._look_at = b"", clock.monotonic()
        self._trouble, self._told_of = "", None
        self._flights = Flights()

    async def now(self) -> Login:
        """The login for a request that begins now. Raises BackendUnavailable if there never was one."""
        if self._clock.monotonic() >= self._look_at:
            await self._flights.join("login", lambda: self._look(refused=False))
        if self._login is None:
            raise faults.unavailable("our credentials for the backend cannot be read")
        return self._login
