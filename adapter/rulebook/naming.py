"""Patterns and names of rules: Go's regular expressions, and how Go fills `as` from a match (docs/upstream.md 2.2)."""

import re
from collections.abc import Iterator

import re2

from adapter.promql import gostrings

MAX_LENGTH = 1024
"""Characters of a pattern; the longest in use have a hundred."""

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False

_QUOTED = re.compile(r"\\Q.*?(?:\\E|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_CLASS = re.compile(r"\[\^?\]?(?:\[:.*?:\]|\\.|[^\]\\])*\]?", re.DOTALL)
_NAMED = re.compile(r"\(\?P?<([^>]*)>")
_NAME = re.compile(r"[A-Za-z0-9_]+")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")


class PatternError(ValueError):
    """A pattern that Go refuses, or that we cannot read as Go does."""


class Pattern:
    """A compiled pattern. Named groups count like all others."""

    __slots__ = ("_names", "_regexp", "text")

    def __init__(self, text: str) -> None:
        if len(text) > MAX_LENGTH:
            raise PatternError(f"longer than {MAX_LENGTH} characters")
        plain, self._names = _without_names(text)
        self.text = text
        try:
            self._regexp = re2.compile(gostrings.to_bytes(plain), _OPTIONS)
        except re2.error as problem:
            raise PatternError(_reason(problem)) from None
        if self._regexp.groups != self.groups:
            raise PatternError("its groups cannot be counted")

    @property
    def groups(self) -> int:
        """How many capture groups it has."""
        return len(self._names)

    def search(self, text: str) -> bool:
        """Whether it matches anywhere in the text."""
        return self._regexp.search(gostrings.to_bytes(text)) is not None

    def expand(self, template: str, text: str) -> str | None:
        """The template filled from the first match; None if there is none. What is outside the match is lost."""
        found = self._regexp.search(gostrings.to_bytes(text))
        if found is None:
            return None
        captured = [found.group(), *found.groups()]
        return gostrings.normal("".join(self._pieces(template, captured)))

    def _pieces(self, template: str, captured: list[bytes | None]) -> Iterator[str]:
        """Go's Regexp.Expand. A malformed $ stands for itself."""
        at = 0
        while (dollar := template.find("$", at)) >= 0:
            yield template[at:dollar]
            at = dollar + 1
            braced = template.startswith("{", at)
            end = gostrings.word_end(template, at + braced)
            if end > at + braced and (not braced or template.startswith("}", end)):
                yield self._value(template[at + braced : end], captured)
                at = end + braced
            else:
                yield "$"
                at += template.startswith("$", at)
        yield template[at:]

    def _value(self, name: str, captured: list[bytes | None]) -> str:
        """What a group caught: nothing if there is none of this name, or it took no part."""
        if _NUMBER.fullmatch(name):  # `01` is a name
            index = int(name)
            candidates = captured[index : index + 1]
        else:  # of several groups of one name the first that took part
            candidates = [value for own, value in zip(self._names, captured[1:], strict=True) if own == name]
        return gostrings.from_bytes(next((value for value in candidates if value is not None), b""))


def compile(text: str) -> Pattern:  # noqa: A001  called as naming.compile
    """This is the pattern of a text; PatternError says why it is none."""
    return Pattern(text)


def _reason(problem: Exception) -> str:
    """RE2's words, which come as bytes."""
    (words,) = problem.args
    return words.decode("utf-8", "backslashreplace") if isinstance(words, bytes) else str(words)


def _without_names(text: str) -> tuple[str, list[str]]:
    r"""The pattern with plain groups, and the name ("" for none) of each.

    RE2 refuses two groups of one name and takes names that Go refuses; it also takes \C, which Go does not.
    """
    pieces: list[str] = []
    names: list[str] = []
    at = 0
    while at < len(text):
        end = _end(text, at)
        piece = text[at:end]
        if piece == "\\C":
            raise PatternError(r"invalid escape sequence: \C")
        if piece.startswith("("):
            named = _NAMED.match(text, at)
            if named is not None and not _NAME.fullmatch(named[1]):
                raise PatternError(f"invalid named capture: {named[0]}")
            if named is not None or piece == "(":
                names.append(named[1] if named is not None else "")
                piece = "("
        pieces.append(piece)
        at = end
    return "".join(pieces), names


def _end(text: str, at: int) -> int:
    r"""Where the unit at this place ends: \Q...\E, an escape, a [class], the opening of a group, or a character."""
    for unit in (_QUOTED, _ESCAPE, _CLASS, _NAMED):
        if (found := unit.match(text, at)) is not None:
            return found.end()
    return at + 2 if text.startswith("(?", at) else at + 1
