"""Whom to believe, read again and again: CAs rotate, and what was removed must be refused soon.

A plain get every READ_SECONDS, not a watch: it is one small object, and there is no stream to lose unnoticed.
"""

import asyncio
import random as randomness
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Protocol

from adapter import errors
from adapter.access import authority
from adapter.access.authority import Authority
from adapter.flows.backoff import Backoff
from adapter.telemetry import logs

READ_SECONDS: Final = 15.0
"""A new CA must be known within 60 s. kube-apiserver publishes it long before it signs with it."""

JITTER: Final = 0.1
"""Part of that by which replicas drift apart."""

KEPT: Final = "the last good one stays in force; the API server writes this ConfigMap anew by itself"
"""A deletion is no rotation: it must not take all replicas off the air at once (docs/design.md D5)."""

AMBIGUOUS: Final = (
    "one CA signs front proxies and ordinary users, and no names tell them apart: none is a front proxy"
)
NAME_THEM: Final = (
    "give --requestheader-allowed-names to kube-apiserver, or a CA of its own to the front proxy"
)

log = logs.get("authority")


class AuthoritySource(Protocol):
    """Where it is written (kube.authentication)."""

    async def read(self) -> Mapping[str, str] | None:
        """The data of the ConfigMap; None: there is none. Raises AccessUnknown."""
        ...


def _nobody_told(_authority: Authority) -> None:
    """Nobody needs to know."""


class AuthorityFlow:
    """This keeps `current`, the authority in force. Until there is one it believes nobody."""

    def __init__(
        self,
        source: AuthoritySource,
        *,
        changed: Callable[[Authority], object] = _nobody_told,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = randomness.random,
    ) -> None:
        """`changed` is told each new authority before it is in force.

        If it raises ValueError or OSError (ssl.SSLError is one), the old one stays. It is not told of none.
        """
        self.current = Authority()
        self._source, self._changed = source, changed
        self._sleep, self._random = sleep, random
        self._trouble = ""

    @property
    def unreadable(self) -> bool:
        """Whether the last reading failed: not that there is nothing to read."""
        return self._trouble == "authority_unreadable"

    async def for_ever(self) -> None:
        """One reading after the other. Never returns."""
        retries = Backoff(self._random)
        while True:
            if await self.once():
                retries.reset()
                await self._sleep(READ_SECONDS * (1 + JITTER * self._random()))
            else:
                await self._sleep(retries.next())

    async def once(self) -> bool:
        """One reading. True if it says whom to believe; after a failure the last good one stays in force."""
        try:
            data = await self._source.read()
        except errors.AccessUnknown as error:
            return self._fails("authority_unreadable", str(error), error.next_step)
        if data is None:
            return self._fails("authority_missing", "there is no such ConfigMap", KEPT)
        try:
            found = authority.parse(data)
            if not found.known:
                return self._fails("authority_missing", f"there is no {authority.PROXY_CA}", KEPT)
            self._take(found)
        except (ValueError, OSError) as error:
            return self._fails("authority_broken", str(error), KEPT)
        if self._trouble:
            self._trouble = ""
            log.info("authority_recovered")
        return True

    def _take(self, found: Authority) -> None:
        if found == self.current:
            return
        self._changed(found)
        self.current = found
        if not found.allowed_names and set(found.client_ca) & set(found.proxy_ca):
            log.warning("authority_ambiguous", extra={"text": AMBIGUOUS, "next": NAME_THEM})
        log.info(
            "authority_changed",
            extra={"proxy_cas": len(found.proxy_ca), "client_cas": len(found.client_ca)},
        )

    def _fails(self, event: str, text: str, next_step: str) -> bool:
        if self._trouble != event:
            log.warning(event, extra={"text": text, "next": next_step})
        self._trouble = event
        return False
