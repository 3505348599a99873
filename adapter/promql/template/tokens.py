"""The tokens of one definition, with what the parser remembers: look-ahead, variables, nesting."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn

from adapter.promql.template.lexer import Kind, Lexer, Token
from adapter.promql.template.limits import MAX_DEPTH, TemplateSyntaxError
from adapter.promql.template.nodes import Listing


@dataclass
class Source:
    """What all definitions of one text share."""

    name: str
    lexer: Lexer
    templates: dict[str, Listing] = field(default_factory=dict)
    depth: int = 0


class Tokens:
    """The view of one definition: each has variables and look-ahead of its own, as in Go."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.variables = ["$"]
        self.ranges = 0
        self.action_at: int | None = None
        self._pending: list[Token] = []
        self._latest: Token | None = None

    def next(self) -> Token:
        """Takes the next token."""
        if self._pending:
            return self._pending.pop()
        self._latest = self.source.lexer.next()
        return self._latest

    def back(self, *tokens: Token) -> None:
        """Puts tokens back; the first of them is the next one again."""
        self._pending.extend(reversed(tokens))

    def peek(self) -> Token:
        """Looks at the next token."""
        token = self.next()
        self.back(token)
        return token

    def next_solid(self) -> Token:
        """Takes the next token that is no white space."""
        while (token := self.next()).kind is Kind.SPACE:
            pass
        return token

    def peek_solid(self) -> Token:
        """Looks at the next token that is no white space; the space is gone."""
        token = self.next_solid()
        self.back(token)
        return token

    def expect(self, context: str, *kinds: Kind) -> Token:
        """Takes a token of one of these kinds."""
        token = self.next_solid()
        if token.kind not in kinds:
            self.unexpected(token, context)
        return token

    @contextmanager
    def deeper(self, message: str) -> Iterator[None]:
        """One more level of nesting: Python's stack is short."""
        if self.source.depth >= MAX_DEPTH:
            self.fail(message)
        self.source.depth += 1
        yield
        self.source.depth -= 1

    def fail(self, message: str) -> NoReturn:
        """Refuses the template; Go names the line of the last token it looked at."""
        line = self.source.lexer.line(self._latest.at) if self._latest else 0
        raise TemplateSyntaxError(f"template: {self.source.name}:{line}: {message}", line)

    def unexpected(self, token: Token, context: str) -> NoReturn:
        """Refuses a token that does not belong here, or hands on what the lexer complains of."""
        if token.kind is not Kind.ERROR:
            self.fail(f"unexpected {token} in {context}")
        self.fail(f"{token}{self._started(token)}")

    def _started(self, token: Token) -> str:
        lexer = self.source.lexer
        if self.action_at is None or lexer.line(self.action_at) == lexer.line(token.at):
            return ""
        place = f" started at {self.source.name}:{lexer.line(self.action_at)}"
        return place if token.text.endswith(" action") else f" in action{place}"
