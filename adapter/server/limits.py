"""How many questions may be worked on at once. Probes and discovery take no place: they cost nothing (F27, F30)."""

from collections.abc import Iterator
from contextlib import contextmanager

from adapter import errors


class InFlight:
    """This is a number of places; whoever finds none free is told so at once, and does not wait."""

    def __init__(self, places: int) -> None:
        self._places = places
        self.taken = 0

    @contextmanager
    def place(self) -> Iterator[None]:
        """One place, for the length of the block. Raises Overloaded."""
        if self.taken >= self._places:
            raise errors.Overloaded("too many requests are in flight")
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1
