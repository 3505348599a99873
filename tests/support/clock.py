"""A clock that tests move by hand."""


class FakeClock:
    """now() and monotonic() move together, and only by advance()."""

    def __init__(self, now: float = 1_714_557_600.0) -> None:
        self._now, self._monotonic = now, 1000.0

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, seconds: float) -> None:
        self._now += seconds
        self._monotonic += seconds
