"""What is wrong at the moment, as the log shows it: a line when it begins, one when it changes, one when it is over."""

import logging


class States:
    """This remembers the trouble about each thing."""

    def __init__(self, log: logging.Logger, recovered: str) -> None:
        """`recovered` is the event of an end."""
        self._log, self._recovered = log, recovered
        self._events: dict[str, str] = {}

    def trouble(self, about: str, event: str, why: object, next_step: str) -> None:
        """This thing is in this trouble now."""
        if self._events.get(about) != event:
            self._log.warning(event, extra={"about": about, "text": str(why), "next": next_step})
        self._events[about] = event

    def fine(self, about: str) -> None:
        """Nothing is wrong with this thing."""
        if self._events.pop(about, None):
            self._log.info(self._recovered, extra={"about": about})
