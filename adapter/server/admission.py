"""Who may come in: the one place where the door asks `access`."""

import asyncio
import datetime
from collections.abc import Collection
from typing import Protocol

from multidict import CIMultiDictProxy

from adapter import errors
from adapter.access.identify import Identify
from adapter.access.permissions import Permissions
from adapter.server import routes, tls
from adapter.telemetry.clock import Clock
from adapter.wire.identity import Attributes


class Admission(Protocol):
    """Who decides whether a request comes in."""

    async def admit(
        self,
        transport: asyncio.BaseTransport | None,
        headers: CIMultiDictProxy[str],
        access: str,
        wanted: Attributes,
    ) -> None:
        """Returns if it may. Raises NotAuthenticated, NotAllowed, AccessUnknown."""
        ...

    def outlived(self, transport: asyncio.BaseTransport | None) -> bool:
        """Whether the connection is older than our knowledge of whom to ask for a certificate."""
        ...


class Everyone:
    """All come in: for one machine, without a cluster (docs/design.md D12)."""

    async def admit(
        self,
        transport: asyncio.BaseTransport | None,
        headers: CIMultiDictProxy[str],
        access: str,
        wanted: Attributes,
    ) -> None:
        """Nobody is asked anything."""

    def outlived(self, transport: asyncio.BaseTransport | None) -> bool:  # noqa: ARG002 - as the other
        """Never."""
        return False


class Vouched:
    """Only those whom the API server vouches for, for what it lets them do."""

    def __init__(
        self,
        identify: Identify,
        permissions: Permissions,
        clock: Clock,
        *,
        open_paths: Collection[str] = (),
    ) -> None:
        """Whoever is known may ask for `open_paths`; a * at the end of one stands for any rest."""
        self._identify, self._permissions, self._clock = identify, permissions, clock
        self._open_paths = open_paths

    async def admit(
        self,
        transport: asyncio.BaseTransport | None,
        headers: CIMultiDictProxy[str],
        access: str,
        wanted: Attributes,
    ) -> None:
        """Who asks is looked at for each request: a CA that was removed counts no more, also on old connections."""
        if self.outlived(transport):
            raise errors.NotAuthenticated  # the next handshake asks for the certificate that this one did not
        now = datetime.datetime.fromtimestamp(self._clock.now(), datetime.UTC)
        user = await self._identify.who(tls.peer_certificate(transport), headers, now=now)
        if wanted.path and any(_covers(one, wanted.path) for one in self._open_paths):
            return
        if access == routes.DISCOVERY:
            await self._permissions.check_discovery(user, wanted)
        else:
            await self._permissions.check(user, wanted)

    def outlived(self, transport: asyncio.BaseTransport | None) -> bool:
        """Whether its handshake asked for no certificate, because no CA was known yet."""
        return self._identify.ready and not tls.asked_for_certificate(transport)


def _covers(pattern: str, path: str) -> bool:
    return path.startswith(pattern[:-1]) if pattern.endswith("*") else path == pattern
