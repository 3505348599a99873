"""Label matchers say exactly what was asked, whatever is in the names."""

import promql_parser
import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter.promql import matchers
from adapter.promql.matchers import Matcher, NotExpressible
from adapter.wire import selectors
from tests.promql import data

SELECTORS = [case for case in data.document("compat-vectors")["selectors"] if "error" not in case]
SIGNS = {"Equal": "=", "NotEqual": "!=", "Re": "=~", "NotRe": "!~"}

hostile = st.text(
    st.characters(exclude_categories=("Cs",))
    | st.sampled_from("\"\\'`{}[]()|.*+?^$=~!,#\n\r\t\x00\x7f\u2028 "),
    max_size=20,
)
"""Any text but stray bytes: those the judge reads as code points."""
injections = st.sampled_from(
    [
        'x"} or vector(1) #',
        'a",b=~".*',
        "\\",
        '\\"',
        "}",
        "x\ny",
        "a|b",
        ".*",
        "$(rm)",
        '"',
        "\u202e",
        "x\x00y",
    ]
)
labels = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,15}", fullmatch=True)
values = hostile | injections


def read(query):
    """The matchers that an independent parser of PromQL finds in `m{...}`."""
    found = promql_parser.parse(f"m{{{query}}}")
    assert isinstance(found, promql_parser.VectorSelector)
    assert found.name == "m"
    assert not found.matchers.or_matchers
    return [
        (one.name, SIGNS[str(one.op).removeprefix("MatchOp.")], one.value) for one in found.matchers.matchers
    ]


@pytest.mark.parametrize("case", SELECTORS, ids=lambda case: case["selector"])
def test_a_selector_becomes_the_known_adapters_matchers(case):
    """Text and values by name of every recorded selector, with regular expressions left alone as upstream has it."""
    requirements = selectors.parse(case["selector"]).requirements
    found = [matchers.of_requirement(one.key, one.operator, one.values, escape=False) for one in requirements]
    assert (matchers.join(found), matchers.values_by_name(found)) == (case["matchers"], case["values"])


@pytest.mark.parametrize("operator", ["gt", "lt", ">", "<", "", "~"])
def test_an_order_cannot_be_expressed(operator):
    """PromQL compares labels for equality only."""
    with pytest.raises(NotExpressible):
        matchers.of_requirement("a", operator, ["1"], escape=True)


@pytest.mark.parametrize("key", ["", "a b", 'x"', "a,b", "a}", "a=", "é", "a\n", "a{"])
def test_a_key_that_could_change_the_query_is_refused(key):
    """A key stands in the query unquoted: what no selector can hold is refused here too."""
    with pytest.raises(NotExpressible):
        matchers.of_requirement(key, "exists", [], escape=True)


def test_one_name_is_compared_and_several_are_alternatives():
    """In the order given, and escaped only if asked to."""
    assert str(matchers.one_of("pod", ["a.b"], escape=True)) == 'pod="a.b"'
    assert str(matchers.one_of("pod", ["b.c", "a"], escape=True)) == r'pod=~"b\\.c|a"'
    assert str(matchers.one_of("pod", ["b.c", "a"], escape=False)) == 'pod=~"b.c|a"'


def test_no_name_is_no_matcher():
    """An empty list would match what has no such label."""
    with pytest.raises(ValueError, match="no name for label pod"):
        matchers.one_of("pod", [], escape=True)


def test_values_of_a_set_are_sorted_and_each_once():
    """As the label selector's own text has them."""
    found = matchers.of_requirement("a", "notin", ["c", "b", "c"], escape=True)
    assert (str(found), found.shown) == ('a!~"b|c"', "b|c")


def test_templates_see_values_unescaped():
    """LabelValuesByName shows what was asked for, and of two matchers of a label the later."""
    found = [
        matchers.of_requirement("pod", "in", ["x.y"], escape=True),
        matchers.equal("ns", "a"),
        matchers.one_of("pod", ["a.b", "c"], escape=True),
    ]
    assert matchers.join(found) == r'pod=~"x\\.y",ns="a",pod=~"a\\.b|c"'
    assert matchers.values_by_name(found) == {"pod": "a.b|c", "ns": "a"}


@settings(max_examples=300)
@given(labels, values)
def test_an_equality_reads_back(label, value):
    """Whatever the value, the query has one matcher with exactly this value."""
    assert read(str(matchers.equal(label, value))) == [(label, "=", value)]


@settings(max_examples=300)
@given(labels, st.sampled_from(["=", "!="]), values)
def test_any_matcher_reads_back(label, operator, value):
    """Quoting is exact for every operator that takes plain text."""
    assert read(str(Matcher(label, operator, value, value))) == [(label, operator, value)]


@settings(max_examples=300)
@given(labels, st.lists(values, min_size=2, max_size=4))
def test_escaped_names_match_themselves_only(label, names):
    """As a regular expression the names match exactly their own texts."""
    ((name, operator, value),) = read(str(matchers.one_of(label, names, escape=True)))
    assert (name, operator) == (label, "=~")
    for text in {*names, "", "x", names[0] + "x", names[0] + names[1], names[0].replace(".", "x")}:
        assert (re2.fullmatch(f"(?s:{value})", text) is not None) == (text in names)


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(labels, values, st.sampled_from(["=", "==", "!=", "in", "notin", "exists", "!"])),
        max_size=5,
    )
)
def test_a_selector_reads_back_in_order(parts):
    """A whole selector keeps its shape: as many matchers, their labels, operators and values."""
    found = [
        matchers.of_requirement(label, operator, [] if operator in ("exists", "!") else [value], escape=True)
        for label, value, operator in parts
    ]
    wanted = [(label, *meaning(operator, value)) for label, value, operator in parts]
    assert read(matchers.join(found)) == wanted


def meaning(operator, value):
    """(PromQL operator, text) of a requirement with one value."""
    escaped = matchers.escape_regex(value)
    return {
        "=": ("=", value),
        "==": ("=", value),
        "!=": ("!=", value),
        "in": ("=~", escaped),
        "notin": ("!~", escaped),
        "exists": ("!=", ""),
        "!": ("=", ""),
    }[operator]


@settings(max_examples=300)
@given(hostile | injections | st.from_regex(r"[A-Za-z0-9_.\-/]{1,12}", fullmatch=True))
def test_a_hostile_label_never_changes_the_shape(label):
    """Any key is refused, or makes a query that is refused, or is exactly the label that was meant."""
    try:
        found = str(matchers.of_requirement(label, "=", ["v"], escape=True))
        seen = read(found)
    except ValueError:
        return
    assert seen == [(label, "=", "v")]
