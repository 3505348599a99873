"""Types of flags that click does not have."""

from typing import Any

import click

from adapter.wire import times


class GoDuration(click.ParamType[float]):
    """A duration as Go writes it (10m0s, 500ms), in seconds."""

    name = "duration"

    def __init__(self, *, at_least: float = 0.0) -> None:
        self._at_least = at_least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """`value` in seconds; click's usage error where it is no duration, or negative."""
        if isinstance(value, int | float):
            return float(value)
        try:
            seconds = times.duration(str(value))
        except ValueError as error:
            self.fail(f"{error}; write it as 30s, 5m or 1h30m", param, ctx)
        if seconds < 0:
            self.fail(f"{value} is negative", param, ctx)
        if seconds < self._at_least:
            self.fail(f"{value} is less than {self._at_least:g}s", param, ctx)
        return seconds


class Header(click.ParamType[tuple[str, str]]):
    """A header as name=value, split at the first =."""

    name = "name=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """(name, value); a missing = means an empty value, as upstream has it."""
        if isinstance(value, tuple):
            return value
        name, _, text = str(value).partition("=")
        if not name.strip():
            self.fail(f"{value!r} names no header; write it as name=value", param, ctx)
        return name.strip(), text
