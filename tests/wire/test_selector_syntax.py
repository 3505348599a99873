"""The small parts of the selector grammar."""

import pytest

from adapter.wire import selector_syntax


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é", '"plain é"'),
        ('a"b\\', r'"a\"b\\"'),
        ("\a\b\f\n\r\t\v", r'"\a\b\f\n\r\t\v"'),
        ("\0\x1f\x7f", r'"\x00\x1f\x7f"'),
        ("\u00a0\u200b", r'"\u00a0\u200b"'),
        ("\U000e0001", r'"\U000e0001"'),
        ("\udcff", r'"\xed\xb3\xbf"'),
    ],
)
def test_text_is_quoted_as_go_does(text, shown):
    """Quotes, backslashes and what cannot be printed are escaped as by Go's %q."""
    assert selector_syntax.quoted(text) == shown


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("-0", 0),
        ("+7", 7),
        ("007", 7),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", None),
        ("-9223372036854775809", None),
        ("9" * 10_000, None),
        ("0" * 10_000, 0),
        ("", None),
        ("+", None),
        ("1.0", None),
        ("1_0", None),
        (" 1", None),
        ("\u0661", None),
    ],
)
def test_integers_are_go_integers(text, number):
    """Decimal digits with an optional sign, 64 bits, and no other digits than ASCII's."""
    assert selector_syntax.integer(text) == number


def test_requirements_keep_their_order():
    """The grammar gives what was written, unsorted; sorting is the selector's."""
    found = selector_syntax.requirements("b in (2,1),a")
    assert found == [("b", "in", ("1", "2")), ("a", "exists", ())]
