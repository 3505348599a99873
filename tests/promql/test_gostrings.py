"""Go's quoting and unquoting of strings, bytes that are no text included."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.promql import gostrings

TEXTS = st.text(
    st.characters(exclude_categories=()) | st.sampled_from("\"\\'`\n\x00\x7f\u200b\udc80\udcff\ufffd")
)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", '""'),
        ("plain text", '"plain text"'),
        ('say "hi" \\ bye', r'"say \"hi\" \\ bye"'),
        ("\a\b\f\n\r\t\v", r'"\a\b\f\n\r\t\v"'),
        ("\x00\x1b\x7f", r'"\x00\x1b\x7f"'),
        ("it's `so`", '"it\'s `so`"'),
        ("é γ 日本 😀", '"é γ 日本 😀"'),
        ("\u00a0\u200b\u2028\ufeff", r'"\u00a0\u200b\u2028\ufeff"'),
        ("\ue000\U000e0001", r'"\ue000\U000e0001"'),
        ("\ufffd", '"\ufffd"'),
        ("\udc80\udcff", r'"\x80\xff"'),
        ("\udcc3\udca9", '"é"'),
    ],
)
def test_a_string_is_quoted_as_go_quotes_it(text, quoted):
    """Printable characters stay; quotes, backslashes, controls, odd spaces and stray bytes are escaped."""
    assert gostrings.quote(text) == quoted


@given(TEXTS)
def test_what_is_quoted_reads_back(text):
    """Unquoting gives the bytes that were quoted."""
    assert gostrings.to_bytes(gostrings.unquote(gostrings.quote(text))) == gostrings.to_bytes(text)
    assert gostrings.to_bytes(
        gostrings.unquote(gostrings.quote(text, ascii_only=True))
    ) == gostrings.to_bytes(text)


@given(TEXTS)
def test_a_quoted_string_holds_nothing_loose(text):
    """Between the quotes there is no quote without a backslash, no control character and no line end."""
    inside = gostrings.quote(text)[1:-1]
    assert inside.isprintable()
    assert '"' not in inside.replace("\\\\", "").replace('\\"', "")


@given(TEXTS)
def test_ascii_quoting_is_ascii(text):
    """QuoteToASCII escapes everything else."""
    assert gostrings.quote(text, ascii_only=True).isascii()


@given(st.binary())
def test_bytes_survive_as_strings(raw):
    """Any bytes are a string and come back unchanged."""
    assert gostrings.to_bytes(gostrings.from_bytes(raw)) == raw


def test_a_surrogate_that_is_no_byte_is_replaced():
    """Go's decoders make U+FFFD of it before anything else sees it."""
    assert gostrings.quote("\ud800") == f'"{chr(0xFFFD)}"'


@pytest.mark.parametrize(
    "literal", ['"\\q"', '"\\x4"', '"\\400"', '"\\ud800"', '"\\U00110000"', '"\\', '"\\\'"', '"\\08"']
)
def test_a_bad_escape_is_refused(literal):
    """Go has one message for all of them."""
    with pytest.raises(ValueError, match=r"^invalid syntax$"):
        gostrings.unquote(literal + '"')


def test_a_raw_string_loses_carriage_returns():
    """As in Go source."""
    assert gostrings.unquote("`a\r\n\\n`") == "a\n\\n"
