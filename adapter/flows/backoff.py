"""Pauses between tries that grow and scatter, so that replicas don't come back in step."""

from collections.abc import Callable
from typing import Final

FIRST_SECONDS: Final = 0.5
"""A restart of the other side is often over within a second."""

LONGEST_SECONDS: Final = 30.0
"""Long enough not to be a burden in an outage of hours, short enough that nobody waits for us after it."""


class Backoff:
    """This doubles from FIRST_SECONDS to LONGEST_SECONDS; each pause is half to whole of that."""

    def __init__(self, random: Callable[[], float]) -> None:
        self._random = random
        self._seconds = FIRST_SECONDS

    def next(self) -> float:
        """Seconds to pause now."""
        seconds = self._seconds
        self._seconds = min(LONGEST_SECONDS, seconds * 2)
        return seconds * (1 + self._random()) / 2

    def reset(self) -> None:
        """All is well again: the next pause is the first."""
        self._seconds = FIRST_SECONDS
