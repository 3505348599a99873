"""Splits a printf format into plain text and directives, with Go's marks for what is wrong in it."""

from collections.abc import Iterator
from dataclasses import dataclass

from adapter.promql.template import values
from adapter.promql.template.numbers import Flags

_LARGEST = 1_000_000
"""The largest width and precision that Go takes."""
_FLAGS = {"#": "sharp", "0": "zero", "+": "plus", "-": "minus", " ": "space"}


@dataclass(frozen=True, slots=True)
class Directive:
    """A value to print. `extra` is one that no directive asked for."""

    value: object
    verb: str
    flags: Flags
    extra: bool = False


def parse(template: str, arguments: list[object]) -> Iterator[str | Directive]:
    """The pieces of the output in order."""
    reader = _Reader(template, arguments)
    while reader.at < len(template):
        percent = template.find("%", reader.at)
        if percent < 0:
            yield template[reader.at :]
            break
        yield template[reader.at : percent]
        reader.at = percent + 1
        yield from reader.directive()
    yield from reader.extra()


class _Reader:
    """Walks over a format: the next argument, and whether the last thing read was an index like [3]."""

    def __init__(self, template: str, arguments: list[object]) -> None:
        self.at = 0
        self._template = template
        self._arguments = arguments
        self._next = 0
        self._reordered = False
        self._good = True
        self._after_index = False

    def directive(self) -> Iterator[str | Directive]:
        """Reads behind a %."""
        flags = Flags()
        self._good = True
        while (name := _FLAGS.get(self._char())) is not None:
            setattr(flags, name, True)
            self.at += 1
        self._index()
        yield from self._width(flags)
        yield from self._precision(flags)
        if not self._after_index:
            self._index()
        verb = self._char()
        self.at += 1
        yield self._finished(verb, flags)

    def extra(self) -> Iterator[str | Directive]:
        """The arguments that are left over; out of order Go does not count them."""
        left = self._arguments[self._next :]
        if self._reordered or not left:
            return
        for index, value in enumerate(left):
            yield ", " if index else "%!(EXTRA "
            yield Directive(value, "v", Flags(), extra=True)
        yield ")"

    def _finished(self, verb: str, flags: Flags) -> str | Directive:
        if not verb:
            return "%!(NOVERB)"
        if verb == "%":
            return "%"
        if not self._good:
            return f"%!{verb}(BADINDEX)"
        if self._next >= len(self._arguments):
            return f"%!{verb}(MISSING)"
        if verb in "vw":  # + and # of these mean fields with names, and Go syntax
            flags.sharp_v, flags.sharp = flags.sharp, False
            flags.plus_v, flags.plus = flags.plus, False
        self._next += 1
        return Directive(self._arguments[self._next - 1], verb, flags)

    def _width(self, flags: Flags) -> Iterator[str]:
        if self._char() != "*":
            flags.width = self._number()
            if self._after_index and flags.width is not None:  # %[3]2d
                self._good = False
            return
        self.at += 1
        flags.width = self._from_argument()
        if flags.width is None:
            yield "%!(BADWIDTH)"
        elif flags.width < 0:
            flags.width, flags.minus, flags.zero = -flags.width, True, False
        self._after_index = False

    def _precision(self, flags: Flags) -> Iterator[str]:
        if self._char() != "." or self.at + 1 >= len(self._template):
            return
        self.at += 1
        if self._after_index:  # %[3].2d
            self._good = False
        self._index()
        if self._char() != "*":
            flags.precision = self._number() or 0
            return
        self.at += 1
        flags.precision = self._from_argument()
        if flags.precision is None or flags.precision < 0:
            flags.precision = None
            yield "%!(BADPREC)"
        self._after_index = False

    def _char(self) -> str:
        return self._template[self.at : self.at + 1]

    def _number(self) -> int | None:
        """A decimal number; one that is too large swallows the rest of the format."""
        value, start = 0, self.at
        while (char := self._char()) and char in "0123456789":
            if value > _LARGEST:
                self.at = len(self._template)
                return None
            value = value * 10 + int(char)
            self.at += 1
        return value if self.at > start else None

    def _from_argument(self) -> int | None:
        """The next argument, if it is an integer that can be a width."""
        if self._next >= len(self._arguments):
            return None
        value = values.integer(self._arguments[self._next])
        self._next += 1
        return value if value is not None and abs(value) <= _LARGEST else None

    def _index(self) -> None:
        """An explicit argument number like [3]."""
        self._after_index = False
        if self._char() != "[":
            return
        self._reordered = True
        close = self._template.find("]", self.at)
        if len(self._template) - self.at < 3 or close < 0:  # noqa: PLR2004  no room for [n]
            self.at += 1
            self._good = False
            return
        number = self._template[self.at + 1 : close]
        self.at = close + 1
        index = int(number) - 1 if number.isascii() and number.isdigit() and len(number) < 8 else None  # noqa: PLR2004
        self._after_index = index is not None
        if index is None or not 0 <= index < len(self._arguments):
            self._good = False
        else:
            self._next = index
