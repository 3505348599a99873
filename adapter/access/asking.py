"""How the API server is asked: equal questions once, few at a time, never for long, twice at most.

A review that fails is no answer: it is `AccessUnknown`, and nothing of it is kept.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeVar

from adapter import errors
from adapter.flights import Flights
from adapter.telemetry import logs

REVIEW_SECONDS: Final = 3.0
"""A review, with waiting and second try: a third of what a whole request may take."""

FIRST_TRY: Final = 0.5
"""Part of that time after which an answer is not waited for any longer, but asked for again."""

AT_ONCE: Final = 10
"""Reviews under way. The API server answers one in milliseconds; a flood of tokens must not become one of reviews."""

MOST_WAITING: Final = 1000
"""Different questions that wait or are under way: as many as there may be connections."""

T = TypeVar("T")

log = logs.get("access")


def uncounted(_outcome: str) -> None:
    """Nobody counts."""


class Asking:
    """This asks. `what` is the word by which the log tells these reviews from others."""

    def __init__(self, what: str, *, seconds: float = REVIEW_SECONDS) -> None:
        self._what, self._seconds = what, seconds
        self._gate = asyncio.Semaphore(AT_ONCE)
        self._flights = Flights()
        self._failing = False

    async def ask(self, key: bytes, review: Callable[[], Awaitable[T]]) -> T:
        """What `review` gives; who asks with the same key meanwhile gets the same. Raises AccessUnknown."""
        if key not in self._flights and len(self._flights) >= MOST_WAITING:
            raise errors.AccessUnknown(f"too many {self._what} reviews are waiting")
        return await self._flights.join(key, partial(self._asked, review))

    async def close(self) -> None:
        """End what is under way."""
        await self._flights.close()

    async def _asked(self, review: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self._seconds), self._gate:
                answer = await self._tried(review)
        except TimeoutError as error:
            failure = errors.AccessUnknown(f"no {self._what} review within {self._seconds:g} s")
            self._failed(failure)
            raise failure from error
        except errors.AccessUnknown as error:
            self._failed(error)
            raise
        if self._failing:
            self._failing = False
            log.info("reviews_recovered", extra={"what": self._what})
        return answer

    async def _tried(self, review: Callable[[], Awaitable[T]]) -> T:
        """One try, and a second one: the first may have met a connection that was dead already."""
        try:
            async with asyncio.timeout(self._seconds * FIRST_TRY):
                return await review()
        except (errors.AccessUnknown, TimeoutError):
            return await review()

    def _failed(self, error: errors.AccessUnknown) -> None:
        if not self._failing:
            log.warning(
                "reviews_failing", extra={"what": self._what, "text": str(error), "next": error.next_step}
            )
        self._failing = True
