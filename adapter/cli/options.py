"""Types of flags that click does not have, and a command that reads them as Go's pflag does."""

import itertools
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import click

from adapter.cli import go_values, pflag, upstream_flags
from adapter.cli.go_values import BOOLEAN, TEXT, TEXTS, Kind
from adapter.cli.pflag import Flags, Parsed
from adapter.wire import times

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

PARSED: Final = "adapter.parsed"
"""Where a command's context keeps what its arguments said."""


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
    """A header as name=value, split at the first =. No message shows the value: it may be a password."""

    name = "name=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """(name, value); a missing = means an empty value, as upstream has it."""
        if isinstance(value, tuple):
            return value
        name, _, text = str(value).partition("=")
        if not name.strip():
            self.fail("it names no header; write it as name=value", param, ctx)
        if not (name + text).isprintable():
            self.fail("a header holds no line breaks or other control characters", param, ctx)
        return name.strip(), text


class Entries(click.ParamType[tuple[str, ...]]):
    """A list with commas. `blank`: what to say of an entry that is empty; without it such entries are taken."""

    name = "list"

    def __init__(self, *, blank: str = "") -> None:
        self._blank = blank

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """The entries, without the spaces around them."""
        if isinstance(value, tuple):
            return value
        try:
            found = tuple(one.strip() for one in go_values.split(str(value)))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if self._blank and not all(found):
            self.fail(f"an entry is empty: {self._blank}", param, ctx)
        return found


class Paths(Entries):
    """A list of URL paths; a * may stand at the end of each."""

    name = "paths"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """The paths, each beginning with a slash, as upstream reads them."""
        found = super().convert(value, param, ctx)
        for one in found:
            if "*" in one[:-1]:
                self.fail(f"only trailing * allowed in {one}", param, ctx)
        return tuple("/" + one.lstrip("/") for one in found if one)


class PflagCommand(click.Command):
    """A command whose arguments are in pflag's syntax, and may hold flags of upstream's that it has no option for."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What click makes of them, once they are put as it knows them. Raises click.UsageError."""
        options = {_name(one): one for one in self.get_params(ctx) if isinstance(one, click.Option)}
        kinds = {name: flag.kind for name, flag in upstream_flags.FLAGS.items()}
        kinds |= {name: _kind(option) for name, option in options.items() if name not in kinds}
        del kinds["help"]
        parsed = _parsed(Flags(kinds, upstream_flags.SHORTHANDS), args, ctx)
        ctx.meta[PARSED] = parsed
        known = [one for one in parsed.flags if one.name in options]
        return super().parse_args(ctx, ["--help"] if parsed.help else pflag.plain(known, kinds))


def parsed(ctx: click.Context) -> Parsed:
    """What the arguments of this command said, options of click or not."""
    found: Parsed = ctx.meta[PARSED]
    return found


def joined(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """One list of those that a repeated flag gave."""
    return tuple(itertools.chain.from_iterable(lists))


def all_of(*groups: Iterable[Callable[[Decorated], Decorated]]) -> Callable[[Decorated], Decorated]:
    """A decorator that adds these options, in this order."""

    def decorate(function: Decorated) -> Decorated:
        for option in reversed([*itertools.chain.from_iterable(groups)]):
            function = option(function)
        return function

    return decorate


def _parsed(flags: Flags, args: list[str], ctx: click.Context) -> Parsed:
    try:
        return flags.parse(args)
    except pflag.Unknown as error:
        known = [f"--{name}" for name in flags.kinds]
        raise click.NoSuchOption(error.option, possibilities=known, ctx=ctx) from error
    except pflag.Problem as error:
        raise click.UsageError(str(error), ctx) from error


def _name(option: click.Option) -> str:
    return max(option.opts, key=len).lstrip("-")


def _kind(option: click.Option) -> Kind:
    if option.is_flag:
        return BOOLEAN
    return TEXTS if option.multiple else TEXT
