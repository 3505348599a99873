"""Cuts a template into tokens by the rules of Go's text/template, with << and >> around actions."""

import re
from dataclasses import dataclass
from enum import Enum, auto

from adapter.promql import gostrings

LEFT, RIGHT = "<<", ">>"
_SPACES = " \t\r\n"
_TRIMS_BEFORE = re.compile(r"-(?=[ \t\r\n])")
_CLOSE = re.compile(r"([ \t\r\n]-)?>>")
_SPACE_RUN = re.compile(r"[ \t\r\n]+")
_TERMINATOR = re.compile(r"[ \t\r\n.,|:()]|>>|\Z")
_NUMBER = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?"
    r"|0[oO][0-7_]*(?:\.[0-7_]*)?"
    r"|0[bB][01_]*(?:\.[01_]*)?"
    r"|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?"
)


class Kind(Enum):
    """What a token is."""

    ERROR = auto()
    EOF = auto()
    TEXT = auto()
    LEFT = auto()
    RIGHT = auto()
    SPACE = auto()
    PIPE = auto()
    ASSIGN = auto()
    DECLARE = auto()
    OPEN = auto()
    CLOSE = auto()
    PUNCTUATION = auto()
    BOOLEAN = auto()
    CHARACTER = auto()
    NUMBER = auto()
    COMPLEX = auto()
    STRING = auto()
    RAW_STRING = auto()
    FIELD = auto()
    VARIABLE = auto()
    IDENTIFIER = auto()
    DOT = auto()
    NIL = auto()
    KEYWORD = auto()


KEYWORDS = frozenset(
    ("block", "break", "continue", "define", "else", "end", "if", "range", "template", "with")
)
_QUOTED = {
    '"': (re.compile(r'"(?:\\[^\n]|[^"\\\n])*"', re.DOTALL), Kind.STRING, "quoted string"),
    "'": (re.compile(r"'(?:\\[^\n]|[^'\\\n])*'", re.DOTALL), Kind.CHARACTER, "character constant"),
    "`": (re.compile(r"`[^`]*`"), Kind.RAW_STRING, "raw quoted string"),
}
_SINGLE = {"=": Kind.ASSIGN, "|": Kind.PIPE, "(": Kind.OPEN, ")": Kind.CLOSE}
_SHOWN = 10
"""Characters of a token that Go's messages show."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token, where it starts, and its text; of an error the message."""

    kind: Kind
    at: int
    text: str

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these keywords."""
        return self.kind is Kind.KEYWORD and self.text in words

    def __str__(self) -> str:
        if self.kind is Kind.EOF:
            return "EOF"
        if self.kind is Kind.ERROR:
            return self.text
        if self.kind in (Kind.KEYWORD, Kind.DOT, Kind.NIL):
            return f"<{self.text}>"
        if len(gostrings.to_bytes(self.text)) > _SHOWN:
            return gostrings.quote(self.text[:_SHOWN]) + "..."
        return gostrings.quote(self.text)


class Lexer:
    """Gives the tokens of a source one by one; after an error or the end there is nothing more to ask for."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._at = 0
        self._inside = False
        self._depth = 0

    def line(self, at: int) -> int:
        """The line of this place, from 1."""
        return 1 + self.source.count("\n", 0, at)

    def next(self) -> Token:
        """The next token."""
        return self._action() if self._inside else self._text()

    def _text(self) -> Token:
        while (found := self.source.find(LEFT, self._at)) >= 0:
            start, inner = self._at, found + len(LEFT)
            trims = _TRIMS_BEFORE.match(self.source, inner) is not None
            text = self.source[start:found]
            if trims:
                text = text.rstrip(_SPACES)
                inner += 2
            if text:
                self._at = found
                return Token(Kind.TEXT, start, text)
            if not self.source.startswith("/*", inner):
                self._at, self._inside, self._depth = inner, True, 0
                return Token(Kind.LEFT, found, LEFT)
            self._at = inner
            if (problem := self._comment()) is not None:
                return problem
        start, self._at = self._at, len(self.source)
        return (
            Token(Kind.TEXT, start, self.source[start:]) if start < self._at else Token(Kind.EOF, start, "")
        )

    def _comment(self) -> Token | None:
        end = self.source.find("*/", self._at + 2)
        if end < 0:
            return Token(Kind.ERROR, self._at, "unclosed comment")
        close = _CLOSE.match(self.source, end + 2)
        if close is None:
            return Token(Kind.ERROR, self._at, "comment ends before closing delimiter")
        self._leave(close)
        return None

    def _leave(self, close: re.Match[str]) -> None:
        """Goes on behind >>, and behind white space if it is trimmed."""
        self._inside, self._at = False, close.end()
        if close[1] and (space := _SPACE_RUN.match(self.source, self._at)):
            self._at = space.end()

    def _action(self) -> Token:
        close = _CLOSE.match(self.source, self._at)
        if close is not None:
            return self._right(close)
        char = self.source[self._at : self._at + 1]
        if not char:
            return Token(Kind.ERROR, self._at, "unclosed action")
        if char in _SPACES:
            return self._space()
        if char in _QUOTED:
            return self._quoted(char)
        return self._single(char) if char in _SINGLE else self._word(char)

    def _right(self, close: re.Match[str]) -> Token:
        if self._depth:
            return Token(Kind.ERROR, self._at, "unclosed left paren")
        self._leave(close)
        return Token(Kind.RIGHT, close.end() - len(RIGHT), RIGHT)

    def _space(self) -> Token:
        run = _SPACE_RUN.match(self.source, self._at)
        end = run.end() if run else self._at
        if self.source.startswith("->>", end):  # the last space belongs to the trim marker
            end -= 1
        return self._emit(Kind.SPACE, end)

    def _quoted(self, mark: str) -> Token:
        pattern, kind, name = _QUOTED[mark]
        literal = pattern.match(self.source, self._at)
        if literal is None:
            return Token(Kind.ERROR, self._at, f"unterminated {name}")
        return self._emit(kind, literal.end())

    def _single(self, char: str) -> Token:
        self._depth += {"(": 1, ")": -1}.get(char, 0)
        if self._depth < 0:
            return Token(Kind.ERROR, self._at, "unexpected right paren")
        return self._emit(_SINGLE[char], self._at + 1)

    def _word(self, char: str) -> Token:
        after = self.source[self._at + 1 : self._at + 2]
        if char == "$":
            return self._name(Kind.VARIABLE, self._at + 1)
        if char == "." and after and after not in "0123456789":
            return self._name(Kind.FIELD, self._at + 1)
        if char in "+-.0123456789":
            return self._number()
        if gostrings.is_word(char):
            return self._name(Kind.IDENTIFIER, self._at)
        return self._mark(char, after)

    def _mark(self, char: str, after: str) -> Token:
        if char == ":":
            if after != "=":
                return Token(Kind.ERROR, self._at, "expected :=")
            return self._emit(Kind.DECLARE, self._at + 2)
        if char.isascii() and char.isprintable():
            return self._emit(Kind.PUNCTUATION, self._at + 1)
        return Token(Kind.ERROR, self._at, f"unrecognized character in action: {_unicode(char)}")

    def _name(self, kind: Kind, start: int) -> Token:
        end = gostrings.word_end(self.source, start)
        if _TERMINATOR.match(self.source, end) is None:
            return Token(Kind.ERROR, self._at, f"bad character {_unicode(self.source[end])}")
        word = self.source[start:end]
        if kind is Kind.FIELD and not word:
            kind = Kind.DOT
        elif kind is Kind.IDENTIFIER:
            kind = _kind_of_word(word)
        return self._emit(kind, end)

    def _number(self) -> Token:
        end, kind = self._number_end(self._at), Kind.NUMBER
        if not self._joined(end) and self.source[end : end + 1] in ("+", "-"):
            end, kind = self._number_end(end), Kind.COMPLEX
            if not self._joined(end) and self.source[end - 1] != "i":
                return self._bad_number(end)
        return self._bad_number(end + 1) if self._joined(end) else self._emit(kind, end)

    def _number_end(self, at: int) -> int:
        number = _NUMBER.match(self.source, at)
        return number.end() if number else at

    def _joined(self, at: int) -> bool:
        return at < len(self.source) and gostrings.is_word(self.source[at])

    def _bad_number(self, end: int) -> Token:
        text = gostrings.quote(self.source[self._at : end])
        return Token(Kind.ERROR, self._at, f"bad number syntax: {text}")

    def _emit(self, kind: Kind, end: int) -> Token:
        start, self._at = self._at, end
        return Token(kind, start, self.source[start:end])


def _kind_of_word(word: str) -> Kind:
    if word in KEYWORDS:
        return Kind.KEYWORD
    if word in ("true", "false"):
        return Kind.BOOLEAN
    return Kind.NIL if word == "nil" else Kind.IDENTIFIER


def _unicode(char: str) -> str:
    r"""%#U: U+00E9 'é'."""
    code = gostrings.rune(char)
    return f"U+{code:04X}" + (f" '{chr(code)}'" if gostrings.is_printable(code) else "")
