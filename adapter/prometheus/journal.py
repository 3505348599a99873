"""What the log is told of the backend: changes of its state, not each failure."""

import re
from typing import Final

from cachetools import TTLCache

from adapter import errors
from adapter.promql.vector import NotAnAnswer, Refused, Result
from adapter.telemetry import logs
from adapter.telemetry.clock import Clock

QUIET_SECONDS: Final = 10.0
"""A slow query or a strange answer makes the backend count as down only if no good answer came for so long:
one heavy rule among good ones would otherwise log two lines per round."""

SKEW_SECONDS: Final = 5.0
"""Difference of clocks worth a line: more than scheduling and a slow query explain."""

TOLD_SECONDS: Final = 600.0
"""How long the same words of a backend are not repeated."""

TOLD_ENTRIES: Final = 64

_VARIABLE: Final = re.compile(r"[0-9a-fA-F-]{8,}|\d+")
"""Ids, times and counts: the same complaint with another number is no news."""

log = logs.get("prometheus")


class Journal:
    """This watches the answers of one backend. `up` is True from the start: nothing speaks against it."""

    def __init__(self, clock: Clock, safe_url: str) -> None:
        self._clock, self._safe_url = clock, safe_url
        self.up = True
        self.skew_seconds = 0.0
        self._skewed = False
        self._good_at: float | None = None
        self._told: TTLCache[tuple[str, str], None] = TTLCache(
            TOLD_ENTRIES, TOLD_SECONDS, timer=clock.monotonic
        )

    def good(self) -> None:
        """An answer came."""
        self._good_at = self._clock.monotonic()
        if not self.up:
            self.up = True
            log.info("backend_up", extra={"backend": self._safe_url})

    def bad(self, error: errors.AdapterError, endpoint: str) -> None:
        """A question failed. A refused query is no fault of the backend, and an overload is ours."""
        if isinstance(error, errors.Overloaded):
            return
        if isinstance(error, errors.RuleRejected):
            self.good()
            self._once("query_rejected", error, endpoint)
            return
        if isinstance(error, errors.BackendBadAnswer):
            self._once("backend_bad_answer", error, endpoint)
        if self.up and not self._excused(error):
            self.up = False
            facts = {"backend": self._safe_url, "cause": error.cause, "fault": error.message}
            log.warning("backend_down", extra=facts)

    def answered(self, result: Result) -> None:
        """The result of an instant query came: its time is the backend's now."""
        for text in result.warnings:
            self._words("backend_warning", text, {})
        if not result.samples:
            return
        self.skew_seconds = result.samples[0].time - self._clock.now()
        skewed = abs(self.skew_seconds) > SKEW_SECONDS
        if skewed and not self._skewed:
            log.warning("backend_clock_skew", extra={"seconds": round(self.skew_seconds, 1)})
        self._skewed = skewed

    def _excused(self, error: errors.AdapterError) -> bool:
        if not isinstance(error, errors.BackendTimeout | errors.BackendBadAnswer) or self._good_at is None:
            return False
        return self._clock.monotonic() - self._good_at < QUIET_SECONDS

    def _once(self, event: str, error: errors.AdapterError, endpoint: str) -> None:
        # The words of any other cause may hold the whole address: aiohttp's ClientResponseError shows it.
        known = isinstance(error.__cause__, NotAnAnswer | Refused)
        words = str(error.__cause__) if known else ""
        self._words(event, words or error.message, {"endpoint": endpoint, "fault": error.message})

    def _words(self, event: str, words: str, facts: dict[str, str]) -> None:
        """Log foreign words, escaped, unless they were logged lately."""
        known = (event, _VARIABLE.sub("#", words))
        if known not in self._told:
            self._told[known] = None
            log.warning(event, extra=facts | {"words": words.encode("unicode_escape").decode("ascii")})
