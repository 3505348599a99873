"""May he? The API server decides (SubjectAccessReview); its answer holds for some seconds. In doubt: no."""

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

import msgspec
from cachetools import TTLCache

from adapter import errors
from adapter.access import asking
from adapter.access.asking import REVIEW_SECONDS, Asking
from adapter.access.user import MASTERS
from adapter.promql import gostrings
from adapter.telemetry.clock import Clock
from adapter.wire.identity import Attributes, User

TTL_SECONDS: Final = 10.0
"""As Go's servers have it: a right that was withdrawn, or granted, is noticed after so long."""

MOST_KEPT: Final = 4096
"""Decisions to allow, and as many to deny."""

_encode = msgspec.json.Encoder(order="deterministic").encode


class AccessReviews(Protocol):
    """Who reviews access (kube.reviews)."""

    async def access(self, user: User, attributes: Attributes) -> bool:
        """Whether he may. Raises AccessUnknown."""
        ...


class Permissions:
    """This lets requests pass, or raises."""

    def __init__(
        self,
        reviews: AccessReviews,
        clock: Clock,
        *,
        allowed_ttl_seconds: float = TTL_SECONDS,
        denied_ttl_seconds: float = TTL_SECONDS,
        review_seconds: float = REVIEW_SECONDS,
        count: Callable[[str], object] = asking.uncounted,
    ) -> None:
        """`count` is told of each check's outcome: allowed, denied or failed."""
        self._reviews, self._count = reviews, count
        self._asking = Asking("access", seconds=review_seconds)
        self._allowed: TTLCache[bytes, bool] = TTLCache(MOST_KEPT, allowed_ttl_seconds, timer=clock.monotonic)
        self._denied: TTLCache[bytes, bool] = TTLCache(MOST_KEPT, denied_ttl_seconds, timer=clock.monotonic)

    async def check(self, user: User, attributes: Attributes) -> None:
        """Return if he may. Raises NotAllowed, or AccessUnknown if nobody can tell."""
        try:
            allowed = _may_all(user) or await self._may(user, attributes)
        except errors.AccessUnknown:
            self._count("failed")
            raise
        self._count("allowed" if allowed else "denied")
        if not allowed:
            raise refused(user, attributes)

    async def check_discovery(self, user: User, attributes: Attributes) -> None:
        """The same for what says which metrics there are. Raises NotAllowed only.

        For whom the front proxy speaks there is no review: the API server has asked already, and while it cannot be
        asked again its discovery must not fail, or no namespace could be deleted (docs/design.md D5).
        """
        if user.proxied:
            return
        try:
            await self.check(user, attributes)
        except errors.AccessUnknown as error:
            raise refused(user, attributes) from error

    async def close(self) -> None:
        """End the reviews under way."""
        await self._asking.close()

    async def _may(self, user: User, attributes: Attributes) -> bool:
        key = hashlib.sha256(_encode((user, attributes))).digest()
        for kept in (self._allowed, self._denied):
            answer = kept.get(key)
            if answer is not None:
                return answer
        return await self._asking.ask(key, partial(self._review, key, user, attributes))

    async def _review(self, key: bytes, user: User, attributes: Attributes) -> bool:
        allowed = await self._reviews.access(user, attributes)
        (self._allowed if allowed else self._denied)[key] = allowed
        return allowed


def refused(user: User, attributes: Attributes) -> errors.NotAllowed:
    """The sentence that every Kubernetes server says in this case."""
    whose = f"User {gostrings.quote(user.name)} cannot {attributes.verb}"
    if attributes.path:
        return errors.NotAllowed(f"forbidden: {whose} path {gostrings.quote(attributes.path)}")
    kind, group, name = attributes.resource, attributes.group, attributes.name
    refusal = (
        f"{kind}.{group} {gostrings.quote(name)} is forbidden" if name else f"{kind}.{group} is forbidden"
    )
    what = gostrings.quote(f"{kind}/{attributes.subresource}" if attributes.subresource else kind)
    namespace = attributes.namespace
    where = f"in the namespace {gostrings.quote(namespace)}" if namespace else "at the cluster scope"
    sentence = f"{refusal}: {whose} resource {what} in API group {gostrings.quote(group)} {where}"
    return errors.NotAllowed(sentence, name=name, group=group, kind=kind)


def _may_all(user: User) -> bool:
    """Whether no review is needed: the API server's own word for its administrators.

    Of nobody else: a certificate or a token with that group is the cluster's to judge.
    """
    return user.proxied and MASTERS in user.groups
