"""How many different questions may be worked on at once. Probes and discovery take no place (docs/faults.md F27, F30).

Equal questions share one place, because they share all that costs anything: a thousand autoscalers that ask the same
at the same time are one question. Their connections are bounded by the door.
"""

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from adapter import errors


class InFlight:
    """This is a number of places; whoever finds none free is told so at once, and does not wait."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._taken: Counter[Hashable] = Counter()

    @property
    def taken(self) -> int:
        """How many places are taken now."""
        return len(self._taken)

    @contextmanager
    def place(self, question: Hashable) -> Iterator[None]:
        """The question's place, for the length of the block. Raises Overloaded."""
        if question not in self._taken and len(self._taken) >= self._places:
            raise errors.Overloaded("too many requests are in flight")
        self._taken[question] += 1
        try:
            yield
        finally:
            self._taken[question] -= 1
            if not self._taken[question]:
                del self._taken[question]
