"""Patterns match as Go's regexp package matches, and names come out as its Expand makes them."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from adapter.rulebook import naming
from adapter.rulebook.naming import PatternError

HERE = Path(__file__).parent.parent / "data"
VECTORS = yaml.load((HERE / "regex-vectors.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)[
    "vectors"
]
NAMES = yaml.load((HERE / "compat-vectors.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)[
    "naming"
]
READ = [one for one in VECTORS if "compile_error" not in one]
REFUSED = [one for one in VECTORS if "compile_error" in one]


def shown(vector):
    return f"{vector['regex']!r} {vector['template']!r}"


@pytest.mark.parametrize("vector", READ, ids=shown)
def test_a_pattern_matches_as_in_go(vector):
    """Whether it matches, how many groups it has, and what the template becomes."""
    pattern = naming.compile(vector["regex"])
    assert pattern.groups == vector["groups"]
    assert pattern.search(vector["input"]) == vector["match"]
    assert pattern.expand(vector["template"], vector["input"]) == vector.get("expand")


@pytest.mark.parametrize("vector", READ, ids=shown)
def test_groups_catch_what_they_catch_in_go(vector):
    """Each submatch by its number; a group that took no part is nothing."""
    pattern = naming.compile(vector["regex"])
    for number, text in enumerate(vector.get("submatches", [])):
        assert pattern.expand(f"${{{number}}}", vector["input"]) == text


@pytest.mark.parametrize("vector", REFUSED, ids=shown)
def test_what_go_refuses_is_refused(vector):
    """Look-around, backreferences, possessive repeats, bad names and all else that RE2 has not."""
    with pytest.raises(PatternError):
        naming.compile(vector["regex"])


@pytest.mark.parametrize(
    "case", [one for one in NAMES if "error" not in one], ids=lambda one: f"{one['matches']} {one['as']}"
)
def test_names_are_the_known_adapters(case):
    """matches and as of prometheus-adapter's own runs, with its two defaults filled in."""
    pattern = naming.compile(case["matches"] or ".*")
    template = case["as"] or ("$1" if pattern.groups else "$0")
    assert pattern.expand(template, case["series"]) == case.get("name")
    assert pattern.search(case["series"]) == case["kept"]


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("$x", "A"),
        ("${y}", "BC"),
        ("$xy", ""),
        ("$x-$y", "A-BC"),
        ("$$x", "$x"),
        ("$$$x", "$A"),
        ("$$$$", "$$"),
        ("$1$2", "ABC"),
        ("$1²", "A²"),
        ("$é", ""),
        ("${x", "${x"),
        ("${x-}", "${x-}"),
        ("${}", "${}"),
        ("$ x", "$ x"),
        ("${1}${01}${00}$0", "AABC"),
        ("$1234567890123", ""),
        ("$", "$"),
        ("a$", "a$"),
        ("\\1\\g<1>", "\\1\\g<1>"),
        ("", ""),
    ],
)
def test_a_reference_takes_the_longest_name(template, name):
    """Letters, digits and underscores of any script; a number is one only without a leading zero."""
    assert naming.compile("(?P<x>A)(?<y>B.)").expand(template, "ABCD") == name


def test_of_two_groups_of_one_name_the_one_that_matched_counts():
    """Go allows the name twice; the first that took part gives the value."""
    pattern = naming.compile("(?P<x>a)|(?P<x>b)(?P<x>c)")
    assert pattern.groups == 3
    assert [pattern.expand("${x}", text) for text in ("a", "bc", "d")] == ["a", "b", None]


@pytest.mark.parametrize(
    "pattern",
    [r"\Q(?P<x>a\E(b)", r"[(?P<x>]+(b)", r"\((?P<y>b)?|(z)", r"[[:alpha:](]+(?:x)(b)?", r"[]()]+(b)"],
)
def test_a_parenthesis_that_opens_no_group_is_not_counted(pattern):
    """In quotations, classes and escapes it is a character like any other."""
    assert naming.compile(pattern).groups == pattern.replace("(?:", "").count("(b)") + pattern.count(
        "y>b"
    ) + pattern.count("(z)")


@pytest.mark.parametrize(
    "pattern", [r"\C", r"a\C", "(?P<a-b>x)", "(?P<é>x)", "(?<>x)", "(?<a", "x" * 1025, "(?P<x", "["]
)
def test_what_only_other_engines_take_is_refused(pattern):
    """Any-byte escapes, names outside ASCII, and patterns beyond all use."""
    with pytest.raises(PatternError, match=r"^[^b][^']"):
        naming.compile(pattern)


def test_matching_takes_linear_time():
    """The pattern that ruins a backtracking engine is harmless here."""
    assert not naming.compile("^(a+)+$").search("a" * 50_000 + "b")


def test_text_outside_the_match_is_lost():
    """The name is the filled template alone, not the series name with a part replaced."""
    assert naming.compile("_total").expand("x$0", "http_total_requests") == "x_total"


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_pattern_is_read_or_refused(pattern, text):
    """No pattern and no series name fails in any other way."""
    try:
        found = naming.compile(pattern)
    except PatternError:
        return
    assert found.search(text) == (found.expand("$0", text) is not None)


@given(st.text(alphabet="abc$_{}0129é²", max_size=12))
def test_any_template_can_be_filled(template):
    """A template without a $ comes out as it is, every other as some text."""
    name = naming.compile("(?P<a>b)(c)").expand(template, "abcd")
    assert name is not None
    assert "$" in template or name == template
