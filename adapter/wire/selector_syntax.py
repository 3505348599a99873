"""The grammar of a label selector, word for word Kubernetes': text in, (key, operator, values) out.

Oddities kept, since clients may depend on them: NUL ends the text, or separates two words; `in` and `notin`
are keys and values too; `a in ()` means the empty value; two commas in a row in a list do as well.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from adapter.wire import labels

EXISTS = "exists"
ABSENT = "!"
GREATER = "gt"
LESS = "lt"

MIN_INT64, MAX_INT64 = -(2**63), 2**63 - 1
_INTEGER = re.compile("([-+]?)(?=[0-9])0*([0-9]{0,19})")

_SPACE = " \t\r\n"
_TOKEN = re.compile(rf"[{_SPACE}]*(?:(==|!=|[=!(),<>])\0?|([^\0{_SPACE}=!(),<>]+)\0?)")
_OPERATORS = {"in": "in", "notin": "notin", "=": "=", "==": "==", "!=": "!=", ">": GREATER, "<": LESS}

_END = "end"
_WORD = "word"


class SelectorSyntaxError(ValueError):
    """The text is no label selector; the message is the one that the Go library has."""


class Parts(NamedTuple):
    """One requirement as it was written; `values` sorted, each once."""

    key: str
    operator: str
    values: tuple[str, ...]


class _Token(NamedTuple):
    kind: str
    text: str


def requirements(text: str) -> list[Parts]:
    """This is every requirement of `text`, in its order; raises SelectorSyntaxError."""
    cursor = _Cursor(text)
    token = cursor.next()
    if token.kind not in (_END, _WORD, "!"):
        raise SelectorSyntaxError(f"found '{token.text}', expected: !, identifier, or 'end of string'")
    found: list[Parts] = []
    while cursor.next().kind != _END:
        found.append(_requirement(cursor))
        after = cursor.take()
        if after.kind == _END:
            break
        if after.kind != ",":
            raise SelectorSyntaxError(f"found '{after.text}', expected: ',' or 'end of string'")
        if cursor.next().kind not in (_WORD, "!"):
            raise SelectorSyntaxError(f"found '{cursor.next().text}', expected: identifier after ','")
    return found


def integer(text: str) -> int | None:
    """This is `text` read as Go's ParseInt does (decimal, 64 bits), or None."""
    found = _INTEGER.fullmatch(text)
    if not found:
        return None
    number = int(f"{found[1]}{found[2] or 0}")
    return number if MIN_INT64 <= number <= MAX_INT64 else None


def quoted(text: str) -> str:
    """This is `text` as Go's %q shows it."""
    return '"' + "".join(map(_escaped, text)) + '"'


class _Cursor:
    """The tokens of a text, and a place among them. After the last one comes the end, however often asked."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0

    def next(self) -> _Token:
        """The token to come; `in` and `notin` are plain words, as everywhere but after a key."""
        token = self._tokens[self._at]
        return _Token(_WORD, token.text) if token.kind in ("in", "notin") else token

    def take(self) -> _Token:
        """The same, and go on."""
        token = self.next()
        self._advance()
        return token

    def take_operator(self) -> _Token:
        """The token to come, where `in` and `notin` are operators; and go on."""
        token = self._tokens[self._at]
        self._advance()
        return token

    def _advance(self) -> None:
        self._at = min(self._at + 1, len(self._tokens) - 1)


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while found := _TOKEN.match(text, at):
        symbol, word = found.groups()
        if symbol:
            yield _Token(symbol, symbol)
        else:
            yield _Token(word if word in ("in", "notin") else _WORD, word)
        at = found.end()
    yield _Token(_END, "")


def _requirement(cursor: _Cursor) -> Parts:
    try:
        return _checked(_parts(cursor))
    except SelectorSyntaxError as error:
        raise SelectorSyntaxError(f"unable to parse requirement: {error}") from None


def _parts(cursor: _Cursor) -> Parts:
    negated = cursor.next().kind == "!"
    if negated:
        cursor.take()
    key = cursor.take()
    if key.kind != _WORD:
        raise SelectorSyntaxError(f"found '{key.text}', expected: identifier")
    if problem := labels.key_problem(key.text):
        raise SelectorSyntaxError(f"<nil>: Invalid value: {quoted(key.text)}: {problem}")
    if negated:
        return Parts(key.text, ABSENT, ())
    if cursor.next().kind in (_END, ","):
        return Parts(key.text, EXISTS, ())
    operator = _operator(cursor)
    values = _value_list(cursor) if operator in ("in", "notin") else {_single_value(cursor)}
    return Parts(key.text, operator, tuple(sorted(values)))


def _operator(cursor: _Cursor) -> str:
    token = cursor.take_operator()
    operator = _OPERATORS.get(token.kind)
    if operator is None:
        expected = ", ".join(_OPERATORS.values())
        raise SelectorSyntaxError(f"found '{token.text}', expected: {expected}")
    return operator


def _single_value(cursor: _Cursor) -> str:
    if cursor.next().kind in (_END, ","):
        return ""
    token = cursor.take()
    if token.kind != _WORD:
        raise SelectorSyntaxError(f"found '{token.text}', expected: identifier")
    return token.text


def _value_list(cursor: _Cursor) -> set[str]:
    opening = cursor.take()
    if opening.kind != "(":
        raise SelectorSyntaxError(f"found '{opening.text}' expected: '('")
    if cursor.next().kind == ")":
        cursor.take()
        return {""}
    if cursor.next().kind not in (_WORD, ","):
        raise SelectorSyntaxError(f"found '{cursor.next().text}', expected: ',', ')' or identifier")
    values: set[str] = set()
    while not _ends_list(cursor, values):
        pass
    cursor.take()
    return values


def _ends_list(cursor: _Cursor, values: set[str]) -> bool:
    """This reads one value or comma, and says whether the closing parenthesis is next."""
    token = cursor.take()
    after = cursor.next()
    if token.kind == _WORD:
        values.add(token.text)
        if after.kind not in (",", ")"):
            raise SelectorSyntaxError(f"found '{after.text}', expected: ',' or ')'")
    elif token.kind == ",":
        if not values or after.kind in (",", ")"):
            values.add("")
        if after.kind == ",":
            cursor.take()
    else:
        raise SelectorSyntaxError(f"found '{token.text}', expected: ',', or identifier")
    return after.kind == ")"


_INTEGER_RULE = "for 'Gt', 'Lt' operators, the value must be an integer"


def _checked(parts: Parts) -> Parts:
    problems = [
        f"values[{index}]: Invalid value: {quoted(value)}: {_INTEGER_RULE}"
        for index, value in enumerate(parts.values)
        if parts.operator in (GREATER, LESS) and integer(value) is None
    ]
    for index, value in enumerate(parts.values):
        if problem := labels.value_problem(value):
            problems.append(f"values[{index}][{parts.key}]: Invalid value: {quoted(value)}: {problem}")
    if problems:
        raise SelectorSyntaxError(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")
    return parts


_SHORT_ESCAPES = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v"}
_SHORT_ESCAPES |= {'"': r"\"", "\\": r"\\"}


def _escaped(character: str) -> str:
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if character.isprintable():
        return character
    point = ord(character)
    if point < 0x20 or point == 0x7F:  # noqa: PLR2004 - the controls of ASCII
        return f"\\x{point:02x}"
    if 0xD800 <= point <= 0xDFFF:  # noqa: PLR2004 - a surrogate is no character: bytes that were not UTF-8
        raw = character.encode("utf-8", "surrogatepass")
        return "".join(f"\\x{byte:02x}" for byte in raw)
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"  # noqa: PLR2004 - one unit of UTF-16
