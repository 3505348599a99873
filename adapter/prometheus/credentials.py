"""The login in force, while somebody else rotates what it is made of. Its secrets are in no line of the log."""

import ssl
from functools import partial
from typing import Final, Protocol

from adapter.flights import Flights
from adapter.prometheus import faults, login
from adapter.prometheus.login import Contents, CredentialsUnusable, Login, Paths
from adapter.telemetry import logs
from adapter.telemetry.clock import Clock

LOOK_SECONDS: Final = 10.0
"""How often the files are looked at, at most; what is new must be in use within 60 s."""

NEXT_STEP: Final = "check the files that the --prometheus-... flags name"

log = logs.get("prometheus")


class Lender(Protocol):
    """Who lends the credentials of a kubeconfig (kube.lending)."""

    async def lend(self) -> tuple[ssl.SSLContext, str | None, str | None]:
        """TLS, the Authorization header, the server's name. Raises ValueError, which says why there are none."""
        ...

    def outdated(self, *, refused: bool) -> bool:
        """Whether asking again may give others; `refused`: the backend did not take these."""
        ...


class Credentials:
    """This has the login for each request: another one once a file has changed, the old one while that is unusable."""

    def __init__(self, clock: Clock, paths: Paths | None = None, lender: Lender | None = None) -> None:
        self._clock, self._paths, self._lender = clock, paths or Paths(), lender
        self._login: Login | None = None
        self._digest: tuple[bytes, ...] = ()
        self._look_at = clock.monotonic()
        self._trouble = ""
        self._rejected: Login | None = None
        self._flights = Flights()

    async def require(self) -> None:
        """Raises CredentialsUnusable if there are none: for those who would rather not start."""
        await self._look(refused=False)
        if self._login is None:
            raise CredentialsUnusable(self._trouble)

    async def now(self) -> Login:
        """The login for a request that begins now. Raises BackendUnavailable if there has never been one."""
        if self._clock.monotonic() >= self._look_at:
            await self._look(refused=False)
        if self._login is None:
            raise faults.unavailable("our credentials for it cannot be read")
        return self._login

    async def instead_of(self, refused: Login) -> Login:
        """The login to try once more with, after the backend has refused one; the same one if there is no other."""
        if self._login is refused:
            await self._look(refused=True)
        return self._login or refused

    def rejected(self, refused: Login) -> None:
        """The backend takes no login that we have: a line for each that it refuses, not for each request."""
        if refused is not self._rejected:
            self._rejected = refused
            log.warning("backend_credentials_rejected", extra={"next": NEXT_STEP})

    async def close(self) -> None:
        """End what is under way."""
        await self._flights.close()

    async def _look(self, *, refused: bool) -> None:
        await self._flights.join("login", partial(self._renew_if_changed, refused=refused))

    async def _renew_if_changed(self, *, refused: bool) -> None:
        self._look_at = self._clock.monotonic() + LOOK_SECONDS
        contents = login.read(self._paths)
        if self._is_news(contents, refused=refused):
            await self._renew(contents)

    def _is_news(self, contents: Contents, *, refused: bool) -> bool:
        if self._login is None or self._trouble or contents.digest() != self._digest:
            return True
        return self._lender is not None and self._lender.outdated(refused=refused)

    async def _renew(self, contents: Contents) -> None:
        try:
            found = login.make(self._paths, contents, await self._lent())
        except (CredentialsUnusable, ValueError) as error:
            self._fails(str(error))
            return
        if self._login is not None or self._trouble:
            log.info("backend_credentials_changed")
        self._login, self._digest, self._trouble = found, contents.digest(), ""

    async def _lent(self) -> Login:
        return Login() if self._lender is None else Login(*await self._lender.lend())

    def _fails(self, text: str) -> None:
        if text != self._trouble:
            log.warning("backend_credentials_unusable", extra={"text": text, "next": NEXT_STEP})
        self._trouble = text
