"""Keys and values of labels are checked as Kubernetes does it."""

import pytest

from adapter.wire import labels

NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
PREFIX_RULE = (
    "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


@pytest.mark.parametrize(
    "key", ["a", "A_b.c-D", "example.com/a", "a.b-c.d/x", "k" * 63, "d" * 253 + "/a", "1/2"]
)
def test_good_keys(key):
    """A name of up to 63 bytes, after a DNS name of up to 253 and a slash."""
    assert labels.key_problem(key) is None


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("", f"name part must be non-empty; name part {NAME_RULE}"),
        ("a/", f"name part must be non-empty; name part {NAME_RULE}"),
        ("/a", "prefix part must be non-empty"),
        ("/", f"prefix part must be non-empty; name part must be non-empty; name part {NAME_RULE}"),
        ("a_", f"name part {NAME_RULE}"),
        ("a\n", f"name part {NAME_RULE}"),
        ("k" * 64, "name part must be no more than 63 bytes"),
        ("é" * 32, f"name part must be no more than 63 bytes; name part {NAME_RULE}"),
        ("Example.com/a", PREFIX_RULE),
        ("a..b/a", PREFIX_RULE),
        ("-a/a", PREFIX_RULE),
        ("d" * 254 + "/a", "prefix part must be no more than 253 bytes"),
        (
            "a/b/c",
            f"a valid label key {NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
        ),
    ],
)
def test_bad_keys(key, problem):
    """Every problem is named, in Kubernetes' words."""
    assert labels.key_problem(key) == problem


@pytest.mark.parametrize("value", ["", "a", "A-b_c.9", "x" * 63])
def test_good_values(value):
    """Empty, or up to 63 bytes of the right kind."""
    assert labels.value_problem(value) is None


@pytest.mark.parametrize(
    ("value", "start"),
    [("x" * 64, "must be no more than 63 bytes"), ("-a", "a valid label must be"), ("a b", "a valid")],
)
def test_bad_values(value, start):
    """Too long, or of other characters."""
    assert labels.value_problem(value).startswith(start)


def test_both_problems_of_a_value_are_named():
    """Length and characters are two problems."""
    problem = labels.value_problem("-" * 64)
    assert problem.startswith(
        "must be no more than 63 bytes; a valid label must be an empty string or consist of"
    )


def test_a_hostile_prefix_takes_no_time():
    """A long prefix that almost fits is refused at once, not by trying all ways to split it."""
    assert labels.key_problem("a-" * 8_000 + "/a") is not None
