"""What is wrong in a rule file: where, what, and what to write instead."""

import difflib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

Severity = Literal["error", "warning"]

SHOWN_CHARACTERS: Final = 80
"""How much of a user's text a message repeats: enough to find it, too little to flood a terminal."""

CARET_WIDTH: Final = 160
"""A source line is cut to about this many columns around the word: minified YAML has lines of a megabyte."""

LONGEST_GUESS: Final = 40
"""A longer word is no slip of the pen: comparing it would only cost time."""

_LINE_BREAK: Final = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a file; line and column count from 1, columns are characters."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{escaped(self.file)}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake. `word` is its stable name, `rule` the id of the rule that an error leaves out."""

    position: Position
    word: str
    message: str
    suggestion: str = ""
    severity: Severity = "error"
    rule: str | None = None
    length: int = 1

    def __str__(self) -> str:
        kind = "warning: " if self.severity == "warning" else ""
        advice = f" ({self.suggestion})" if self.suggestion else ""
        return f"{self.position}: {kind}{self.message}{advice}"


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """These findings without repeats, as they stand in their files."""
    return tuple(sorted(dict.fromkeys(findings), key=lambda one: (one.position, one.word, one.message)))


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that `word` was meant to be, or an empty text."""
    if len(word) > LONGEST_GUESS:
        return ""
    spelled = {one.lower(): one for one in known}
    found = difflib.get_close_matches(word.lower(), spelled, n=1, cutoff=0.6)
    return spelled[found[0]] if found else ""


def shown(text: str) -> str:
    """This is a user's text as a message repeats it: control characters escaped, cut to SHOWN_CHARACTERS."""
    cut = text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "..."
    return escaped(cut)


def escaped(text: str) -> str:
    """This text with its control characters escaped: no line of ours may move a terminal's cursor."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def lines(source: str) -> list[str]:
    """The lines of a text as YAML counts them."""
    return _LINE_BREAK.split(source.removeprefix("\ufeff"))


def caret(finding: Finding, source_text: str) -> str:
    """The source line with ^^^^ under the word; empty if the text has no such line."""
    source = lines(source_text)
    if not 0 < finding.position.line <= len(source):
        return ""
    line, start = _window(source[finding.position.line - 1], finding.position.column - 1)
    word = line[start : start + max(finding.length, 1)]
    padding = "".join("\t" if one == "\t" else " " * _columns(one) for one in line[:start])
    drawn = "".join(one if one.isprintable() or one == "\t" else "\N{REPLACEMENT CHARACTER}" for one in line)
    return f"{drawn}\n{padding}{'^' * max(sum(map(_columns, word)), 1)}"


def _window(line: str, start: int) -> tuple[str, int]:
    """(the part of a long line around `start`, where `start` is in it)."""
    if len(line) <= CARET_WIDTH:
        return line, start
    begin = max(0, start - CARET_WIDTH // 2)
    return line[begin : begin + CARET_WIDTH], start - begin


def _columns(character: str) -> int:
    """How many columns of a terminal a character takes."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
