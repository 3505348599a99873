"""Who asks: the front proxy for somebody, a client with its own certificate, or the bearer of a token.

In that order, as Go's servers have it. Whoever is none of them is not answered; with `compat` who shows nothing at all
is `system:anonymous`, and the API server decides what he may.
"""

import datetime
from collections.abc import Sequence
from typing import Final, Protocol

from adapter import errors
from adapter.access import front_proxy
from adapter.access import user as users
from adapter.access.authority import Authority
from adapter.access.front_proxy import Headers
from adapter.wire.identity import User

BEARER: Final = "bearer"


class TokenOwners(Protocol):
    """Who knows whose a token is (tokens)."""

    async def user(self, token: str) -> User | None:
        """Whose it is; None: nobody's. Raises AccessUnknown."""
        ...


class Believed(Protocol):
    """Where the authority in force is had (flows.authority)."""

    @property
    def current(self) -> Authority:
        """That of this moment."""
        ...


class Identify:
    """This tells who asks, each time anew."""

    def __init__(self, tokens: TokenOwners, believed: Believed, *, compat: bool = False) -> None:
        self._tokens, self._believed, self._compat = tokens, believed, compat

    @property
    def ready(self) -> bool:
        """Whether it is known whom to believe."""
        return self._believed.current.known

    async def who(
        self,
        certificate: bytes | None,
        headers: Headers,
        *,
        now: datetime.datetime,
        chain: Sequence[bytes] = (),
    ) -> User:
        """The user. Raises NotAuthenticated, and AccessUnknown if a token cannot be reviewed.

        `certificate` is what the peer showed in the handshake (DER), `chain` what it sent with it. Until the
        authority is known nobody is: the front proxy could not be told from others.
        """
        authority = self._believed.current
        if not authority.known:
            raise errors.NotAuthenticated
        token = bearer(headers)
        user = None
        if certificate is not None:
            vouched = front_proxy.vouched(certificate, authority, now, chain)
            user = (front_proxy.proxied_user(headers, authority) if vouched.proxy else None) or vouched.user
        if user is None and token:
            user = await self._tokens.user(token)
        if user is None and self._compat and certificate is None and not token:
            return users.ANONYMOUS
        if user is None or (users.is_nobody(user) and not self._compat):
            raise errors.NotAuthenticated
        return users.with_authenticated(user)


def bearer(headers: Headers) -> str:
    """The token that is shown; "" if there is none."""
    scheme, _, rest = headers.getall("Authorization", [""])[0].strip().partition(" ")
    return rest.strip().partition(" ")[0] if scheme.lower() == BEARER else ""
