"""What can be no name is found out before it reaches a query."""

import pytest

from adapter.wire import names


@pytest.mark.parametrize(
    "segment", ["web-1", "*", "system:x", "http_requests", "a..b", "...", "x" * 253, "é"]
)
def test_names_that_may_exist(segment):
    """Anything that prints and fits into a path may be a name."""
    assert names.problem(segment, what="pod") is None


@pytest.mark.parametrize(
    ("segment", "problem"),
    [
        ("", "pod may not be empty"),
        (".", "pod may not be '.'"),
        ("..", "pod may not be '..'"),
        ("a/b", "pod \"a/b\" may not contain '/'"),
        ("a%2Fb", "pod \"a%2Fb\" may not contain '%'"),
        ("a\0", 'pod "a\\x00" may not contain control characters'),
        ("a\nb", 'pod "a\\nb" may not contain control characters'),
        ("a\u2028b", 'pod "a\\u2028b" may not contain control characters'),
        ("a\udcff", 'pod "a\\udcff" may not contain control characters'),
        ("x" * 254, f'pod "{"x" * 64}..." may not be longer than 253 characters'),
    ],
)
def test_names_that_cannot_exist(segment, problem):
    """The reason is given, and shows at most 64 characters, escaped."""
    assert names.problem(segment, what="pod") == problem
