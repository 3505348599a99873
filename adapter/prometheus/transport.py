"""How a backend is reached, and what one question may cost."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from multidict import CIMultiDict

from adapter.settings import OWN_HEADERS, Prometheus

MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class QuestionLimits:
    """What one question to the backend may cost, and how many may be under way."""

    connect_seconds: float = 1.0
    """Name, connection and TLS. A backend in the same cluster needs milliseconds."""

    query_seconds: float = Prometheus.query_seconds

    listing_seconds: float = Prometheus.listing_seconds

    query_bytes: int = 16 * MIB
    """The answer to a query, decompressed."""

    query_samples: int = 20_000
    """Its samples: more than the pods of the largest namespace, several times over."""

    listing_bytes: int = 64 * MIB
    """The answer to a listing, decompressed."""

    at_once: int = 8
    """Requests on their way. Prometheus evaluates 20 queries at a time, for all its users."""

    waiting: int = 64
    """Requests that wait for their turn; what comes beyond them is better told so at once."""

    retry_needs_seconds: float = 2.0
    """Time that must be left for a second try."""

    retry_pause_seconds: tuple[float, float] = (0.05, 0.15)
    """Pause before it, drawn at random, so that replicas don't come back in step."""


@dataclass(frozen=True, slots=True)
class Transport:
    """How the backend is reached. `sleep` and `random` are for tests."""

    headers: Mapping[str, str] | Iterable[tuple[str, str]] = field(default=(), repr=False)
    method: str = ""
    """The only one to ask with, GET or POST; "": POST, and GET after a 405."""

    limits: QuestionLimits = field(default_factory=QuestionLimits)
    partial_answers: bool = False
    """Whether Thanos may leave out what it cannot reach, as it does unless told otherwise: a sum over a part of
    the data is a wrong number. True in compat mode: upstream leaves it to Thanos."""

    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    random: Callable[[], float] = random.random

    def all_headers(self, authorization: str | None) -> CIMultiDict[str]:
        """The headers of every request. A configured Authorization wins over user info, as upstream's."""
        headers = CIMultiDict(self.headers)
        for name in OWN_HEADERS:
            headers.popall(name, None)
        if authorization is not None:
            headers.setdefault("Authorization", authorization)
        headers.setdefault("Accept", "application/json")
        return headers
