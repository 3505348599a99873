"""Go's strings in Python: bytes that are mostly UTF-8, their quoted form and back.

A Go string may hold bytes that are not UTF-8. Here each of those is a lone surrogate U+DC80..U+DCFF, by Python's
"surrogateescape"; any other surrogate is U+FFFD, as Go's decoders make it.
"""

import re
import unicodedata

REPLACEMENT = 0xFFFD
MAX_RUNE = 0x10FFFF
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_A_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_NOT_PLAIN = re.compile(r"[^ !#-\[\]-~]")
"""All but printable ASCII without the double quote and the backslash."""
_ASCII_WORD = re.compile(r"[A-Za-z0-9_]*")

_NAMED = {7: "\\a", 8: "\\b", 12: "\\f", 10: "\\n", 13: "\\r", 9: "\\t", 11: "\\v"}
_UNNAMED = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_HEX = frozenset("0123456789abcdefABCDEF")
_OCTAL = frozenset("01234567")

SYNTAX = "invalid syntax"
"""Go's whole message for a literal that is none."""


def to_bytes(text: str) -> bytes:
    """This is the string's bytes, as Go has them."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _NOT_A_BYTE.sub("\ufffd", text).encode("utf-8", "surrogateescape")


def from_bytes(raw: bytes) -> str:
    """This is the string of these bytes."""
    return raw.decode("utf-8", "surrogateescape")


def normal(text: str) -> str:
    """This is `text` with halves of characters that came together made whole."""
    return from_bytes(to_bytes(text)) if _SURROGATE.search(text) else text


def is_printable(code: int) -> bool:
    """Go's unicode.IsPrint, by the Unicode edition of this Python."""
    return 0 <= code <= MAX_RUNE and chr(code).isprintable()


def rune(char: str) -> int:
    """This is the code point that Go reads here: U+FFFD for a byte that is not UTF-8."""
    code = ord(char)
    return REPLACEMENT if is_surrogate(code) else code


def is_surrogate(code: int) -> bool:
    """Whether no character has this code: Go writes U+FFFD for it."""
    return 0xD800 <= code <= 0xDFFF  # noqa: PLR2004  the range is Unicode's


def is_word(char: str) -> bool:
    """Whether it can stand in a name: Go's letters and digits (categories L and Nd) and the underscore."""
    category = unicodedata.category(char)
    return char == "_" or category[0] == "L" or category == "Nd"


def word_end(text: str, at: int) -> int:
    """Where the name that begins at `at` ends."""
    while True:
        run = _ASCII_WORD.match(text, at)
        at = run.end() if run else at
        if at >= len(text) or not is_word(text[at]):
            return at
        at += 1


def quote(text: str, *, ascii_only: bool = False) -> str:
    """Go's strconv.Quote (or QuoteToASCII): printable characters as they are, all others escaped."""
    inside = _NOT_PLAIN.sub(lambda found: _escaped(found[0], '"', ascii_only=ascii_only), normal(text))
    return f'"{inside}"'


def quote_rune(code: int, *, ascii_only: bool = False) -> str:
    """Go's strconv.QuoteRune (or QuoteRuneToASCII)."""
    valid = 0 <= code <= MAX_RUNE and not is_surrogate(code)
    return f"'{_escaped(chr(code if valid else REPLACEMENT), chr(39), ascii_only=ascii_only)}'"


def _escaped(char: str, mark: str, *, ascii_only: bool) -> str:
    code = ord(char)
    if char in (mark, "\\"):
        return "\\" + char
    if (code < 0x7F or not ascii_only) and is_printable(code):  # noqa: PLR2004  the end of ASCII
        return char
    if code in _NAMED:
        return _NAMED[code]
    if code < 0x20 or code == 0x7F:  # noqa: PLR2004  ASCII's control characters
        return f"\\x{code:02x}"
    if is_surrogate(code):  # a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004  what four digits hold


def can_backquote(text: str) -> bool:
    """Whether the text can stand between backquotes: no backquote, no odd bytes, no control character but tabs."""
    return not any(
        char in "`\x7f\ufeff" or (char < " " and char != "\t") or is_surrogate(ord(char)) for char in text
    )


def unquote(literal: str) -> str:
    """Go's strconv.Unquote of a `raw` or "quoted" literal from the lexer; ValueError with Go's text."""
    body = literal[1:-1]
    if literal.startswith("`"):
        return body.replace("\r", "")
    raw, at = bytearray(), 0
    while (escape := body.find("\\", at)) >= 0:
        raw += to_bytes(_SURROGATE.sub("\ufffd", body[at:escape]))
        code, is_byte, at = unquote_char(body, escape, '"')
        raw += bytes([code]) if is_byte else chr(code).encode()
    return from_bytes(bytes(raw + to_bytes(_SURROGATE.sub("\ufffd", body[at:]))))


def unquote_char(text: str, at: int, mark: str) -> tuple[int, bool, int]:
    """Go's strconv.UnquoteChar at `at`: the character's code, whether it is a raw byte, and where it ends."""
    if at >= len(text) or text[at] == mark:
        raise ValueError(SYNTAX)
    if text[at] != "\\":
        return rune(text[at]), False, at + 1
    kind, at = text[at + 1 : at + 2], at + 2
    if kind in _HEX_DIGITS:
        return _hex_escape(kind, text[at : at + _HEX_DIGITS[kind]], at)
    if kind in _OCTAL:
        return _octal_escape(text[at - 1 : at + 2], at)
    if kind in _UNNAMED:
        return _UNNAMED[kind], False, at
    if kind != mark:
        raise ValueError(SYNTAX)
    return ord(kind), False, at


def _hex_escape(kind: str, digits: str, at: int) -> tuple[int, bool, int]:
    if len(digits) < _HEX_DIGITS[kind] or not _HEX.issuperset(digits):
        raise ValueError(SYNTAX)
    code = int(digits, 16)
    if kind != "x" and (code > MAX_RUNE or is_surrogate(code)):
        raise ValueError(SYNTAX)
    return code, kind == "x", at + len(digits)


def _octal_escape(digits: str, at: int) -> tuple[int, bool, int]:
    if len(digits) < 3 or not _OCTAL.issuperset(digits) or int(digits, 8) > 0xFF:  # noqa: PLR2004  \000 to \377
        raise ValueError(SYNTAX)
    return int(digits, 8), True, at + 2
