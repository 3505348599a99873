"""Whose token is this? The API server knows (TokenReview); its answer holds for some seconds, good or bad."""

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from cachetools import TTLCache

from adapter import errors
from adapter.access import asking
from adapter.access.asking import REVIEW_SECONDS, Asking
from adapter.telemetry.clock import Clock
from adapter.wire.identity import User

TTL_SECONDS: Final = 10.0
"""As Go's servers have it: a token that was revoked is good for so long."""

MOST_KEPT: Final = 4096
"""Tokens known, and as many that are none: a flood of bad ones does not push out the good."""


class TokenReviews(Protocol):
    """Who reviews tokens (kube.reviews)."""

    async def token(self, token: str) -> User | None:
        """Whose it is; None: nobody's. Raises AccessUnknown."""
        ...


class Tokens:
    """This tells whose a token is. Only the digest of one is kept, never a token."""

    def __init__(
        self,
        reviews: TokenReviews,
        clock: Clock,
        *,
        ttl_seconds: float = TTL_SECONDS,
        review_seconds: float = REVIEW_SECONDS,
        count: Callable[[str], object] = asking.uncounted,
    ) -> None:
        """`count` is told of each question's outcome: known, unknown or failed."""
        self._reviews, self._count = reviews, count
        self._asking = Asking("token", seconds=review_seconds)
        self._known: TTLCache[bytes, User] = TTLCache(MOST_KEPT, ttl_seconds, timer=clock.monotonic)
        self._unknown: TTLCache[bytes, bool] = TTLCache(MOST_KEPT, ttl_seconds, timer=clock.monotonic)

    async def user(self, token: str) -> User | None:
        """Whose it is; None: nobody's. Raises AccessUnknown."""
        try:
            user = await self._whose(token)
        except errors.AccessUnknown:
            self._count("failed")
            raise
        self._count("known" if user else "unknown")
        return user

    async def close(self) -> None:
        """End the reviews under way."""
        await self._asking.close()

    async def _whose(self, token: str) -> User | None:
        if not token.isascii():
            return None  # nobody hands out such tokens, and no review could carry all of them
        key = hashlib.sha256(token.encode()).digest()
        user = self._known.get(key)
        if user is not None or self._unknown.get(key):
            return user
        return await self._asking.ask(key, partial(self._review, key, token))

    async def _review(self, key: bytes, token: str) -> User | None:
        user = await self._reviews.token(token)
        if user is None:
            self._unknown[key] = True
        else:
            self._known[key] = user
        return user
