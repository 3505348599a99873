"""Label selectors are read, matched and shown as Kubernetes does it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter.wire import selectors
from adapter.wire.selectors import EVERYTHING, Requirement, Selector, SelectorSyntaxError
from tests.wire.data import vectors

VECTORS = vectors("selector-vectors")
ECHOES = vectors("compat-vectors")["selector_echo"]


def label_set(text):
    return dict(pair.split("=") for pair in text.strip("{}").split(",") if pair)


LABEL_SETS = sorted({shown for case in VECTORS["parse"] for shown in case.get("matches", [])})

pieces = st.sampled_from(
    [
        "a",
        "b.c/d",
        "in",
        "notin",
        " ",
        "\t",
        ",",
        "(",
        ")",
        "=",
        "==",
        "!=",
        "!",
        "<",
        ">",
        "1",
        "-5",
        "x-y",
        "\0",
        "/",
        "é",
    ]
)
selector_texts = st.one_of(st.lists(pieces, max_size=14).map("".join), st.text(max_size=30))


def of_case(case):
    return pytest.param(
        case, id=repr(case.get("input", case.get("label_selector", case.get("metricLabelSelector"))))
    )


@pytest.mark.parametrize("case", [of_case(case) for case in VECTORS["parse"] if "error" not in case])
def test_text_is_read_as_in_go(case):
    """Requirements, canonical form and matches are those of Go's library."""
    selector = selectors.parse(case["input"])
    found = [
        {"key": one.key, "op": one.operator, "values": list(one.values)} for one in selector.requirements
    ]
    assert found == case["requirements"]
    assert str(selector) == case["canonical"]
    assert {shown for shown in LABEL_SETS if selector.matches(label_set(shown))} == set(case["matches"])


@pytest.mark.parametrize("case", [of_case(case) for case in VECTORS["parse"] if "error" in case])
def test_bad_text_is_refused_in_go_words(case):
    """What is no selector is refused with the message that Go's library has."""
    with pytest.raises(SelectorSyntaxError) as caught:
        selectors.parse(case["input"])
    assert str(caught.value) == case["error"]


@pytest.mark.parametrize("case", [of_case(case) for case in VECTORS["from_label_selector"]])
def test_what_an_autoscaler_sends_is_understood(case):
    """The text that the autoscaler makes of a LabelSelector is canonical already, and matches what it meant."""
    if not case["string"]:
        assert selectors.parse("") == EVERYTHING
        return
    selector = selectors.parse(case["string"])
    assert str(selector) == case["string"]
    assert {shown for shown in LABEL_SETS if selector.matches(label_set(shown))} == set(case["matches"])


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a in ()", "a in ()"),
        ("a in (x,,y)", "a in (,x,y)"),
        ("a in (x,)", "a in (,x)"),
        ("a in (,,x)", "a in (,x)"),
        ("b,a", "a,b"),
        ("b=2,a=1,b=1", "a=1,b=2,b=1"),
        ("a>007", "a>007"),
        ("a notin (notin,in)", "a notin (in,notin)"),
        ("a\0=\0001\0", "a=1"),
        ("a=1 \0 ((", "a=1"),
        ("a\r\nin\n(x)", "a in (x)"),
    ],
)
def test_odd_text_has_a_canonical_form(text, canonical):
    """Empty values, unsorted keys, NUL and line ends are taken as Kubernetes takes them."""
    assert str(selectors.parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a in (,,)", "unable to parse requirement: found ')', expected: ',', or identifier"),
        ("a in (x,,)", "unable to parse requirement: found ')', expected: ',', or identifier"),
        ("a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
        ("a in (,", "unable to parse requirement: found '', expected: ',', or identifier"),
        ("a in (x y)", "unable to parse requirement: found 'y', expected: ',' or ')'"),
        ("a in (x=y)", "unable to parse requirement: found '=', expected: ',' or ')'"),
        ("a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"),
        ("a in", "unable to parse requirement: found '' expected: '('"),
        ("a,", "found '', expected: identifier after ','"),
        ("a=,", "found '', expected: identifier after ','"),
        ("a,=", "found '=', expected: identifier after ','"),
        ("a)", "unable to parse requirement: found ')', expected: in, notin, =, ==, !=, gt, lt"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("!a b", "found 'b', expected: ',' or 'end of string'"),
        ("a\0b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        (")", "found ')', expected: !, identifier, or 'end of string'"),
    ],
)
def test_each_wrong_turn_has_its_message(text, message):
    """Every place where the grammar can be left has the text that Kubernetes has there."""
    with pytest.raises(SelectorSyntaxError) as caught:
        selectors.parse(text)
    assert str(caught.value) == message


def test_all_bad_values_are_named_at_once():
    """Several problems of one requirement are listed in brackets, with their place among the sorted values."""
    with pytest.raises(SelectorSyntaxError) as caught:
        selectors.parse("a in (b,-c,d-)")
    message = str(caught.value)
    assert message.startswith(
        'unable to parse requirement: [values[0][a]: Invalid value: "-c": a valid label must'
    )
    assert ', values[2][a]: Invalid value: "d-": a valid label must' in message
    assert message.endswith("]")


def test_a_bad_bound_is_named_twice():
    """A bound that is neither a number nor a label value has both problems."""
    with pytest.raises(SelectorSyntaxError) as caught:
        selectors.parse("a>x-")
    assert "[values[0]: Invalid value: \"x-\": for 'Gt', 'Lt' operators" in str(caught.value)
    assert ', values[0][a]: Invalid value: "x-": a valid label' in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("n>5", "6", True),
        ("n>5", "5", False),
        ("n<5", "+4", True),
        ("n<5", "-9223372036854775808", True),
        ("n>5", "9223372036854775808", False),
        ("n>5", "1_0", False),
        ("n>5", "", False),
        ("n>5", "00000000000000000000000000000000009", True),
    ],
)
def test_numbers_are_compared_as_64_bits(text, value, expected):
    """A label value that is no 64-bit integer is neither greater nor less."""
    assert selectors.parse(text).matches({"n": value}) is expected


def test_requirement_matches_by_itself():
    """One requirement can be asked alone, and is equal to another that says the same."""
    one = Requirement("a", "in", ("1", "2"))
    assert one.matches({"a": "2"})
    assert not one.matches({"a": "3"})
    assert one == Requirement("a", "in", ("1", "2"))
    assert len({one, Requirement("a", "in", ("1", "2"))}) == 1


@pytest.mark.parametrize("case", [of_case(case) for case in ECHOES])
def test_echo_is_upstreams(case):
    """The metric selector comes back as a LabelSelector, or with upstream's error."""
    selector = selectors.parse(case["metricLabelSelector"])
    if "message" in case:
        with pytest.raises(ValueError) as caught:
            selectors.echo_as_upstream(selector)
        assert str(caught.value) == case["message"]
    else:
        assert (
            selectors.echo_as_upstream(selector) == case["selector"] == selectors.as_label_selector(selector)
        )


def test_unequal_is_shown_as_not_in():
    """Our echo has a form for `!=`, where upstream's answer is an error."""
    expected = {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}
    assert selectors.as_label_selector(selectors.parse("a!=1")) == expected


def test_bounds_are_not_shown_by_upstream():
    """A LabelSelector has no word for `>`."""
    with pytest.raises(ValueError, match='"gt" isn\'t supported in label selectors'):
        selectors.echo_as_upstream(selectors.parse("a>1"))
    expected = {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}
    assert selectors.as_label_selector(selectors.parse("a>1")) == expected


def test_everything_has_no_echo():
    """Without a requirement the echo is null."""
    assert selectors.as_label_selector(EVERYTHING) is None
    assert selectors.echo_as_upstream(Selector()) is None
    assert EVERYTHING.matches({})


def test_members_of_the_echo_are_in_go_order():
    """Exact values stand before expressions, keys sorted."""
    echo = selectors.as_label_selector(selectors.parse("z=1,b in (x),a=2"))
    assert list(echo) == ["matchLabels", "matchExpressions"]
    assert list(echo["matchLabels"]) == ["a", "z"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a=" + "x" * 16_382, None),
        ("a=" + "x" * 16_383, "a selector may have at most 16384 bytes"),
        ("a=" + "é" * 8_192, "a selector may have at most 16384 bytes"),
        (",".join(["a"] * 64), None),
        (",".join(["a"] * 65), "a selector may have at most 64 requirements"),
        (f"a in ({','.join(map(str, range(512)))})", None),
        (f"a in ({','.join(map(str, range(513)))})", "a selector may have at most 512 values"),
        (
            f"a in ({','.join(map(str, range(300)))}),b in ({','.join(map(str, range(300)))})",
            "a selector may have at most 512 values",
        ),
        ("," * 100, None),
    ],
)
def test_size_is_limited(text, reason):
    """Text, requirements and values are counted; what does not parse is left to the parser."""
    assert selectors.too_large(text) == reason


@settings(deadline=None, max_examples=400)
@given(text=selector_texts)
def test_only_one_error_is_ever_raised(text):
    """Whatever the text, it is a selector whose canonical form means the same, or a SelectorSyntaxError."""
    selectors.too_large(text)
    try:
        selector = selectors.parse(text)
    except SelectorSyntaxError:
        return
    assert selectors.parse(str(selector)) == selector


names = st.from_regex(r"[a-z0-9]([-a-z0-9_.]{0,8}[a-z0-9])?", fullmatch=True)
requirements = st.one_of(
    st.builds(Requirement, names, st.sampled_from(["=", "==", "!="]), names.map(lambda value: (value,))),
    st.builds(
        Requirement,
        names,
        st.sampled_from(["in", "notin"]),
        st.sets(names, min_size=1).map(lambda values: tuple(sorted(values))),
    ),
    st.builds(Requirement, names, st.sampled_from(["exists", "!"]), st.just(())),
    st.builds(
        Requirement,
        names,
        st.sampled_from(["gt", "lt"]),
        st.integers(0, 2**63 - 1).map(lambda number: (str(number),)),
    ),
)


@settings(deadline=None, max_examples=200)
@given(parts=st.lists(requirements, max_size=5), labels=st.dictionaries(names, names, max_size=5))
def test_canonical_form_reads_back(parts, labels):
    """Any selector survives being written and read again, and matches the same."""
    selector = Selector(tuple(sorted(parts, key=lambda one: one.key)))
    again = selectors.parse(str(selector))
    assert again == selector
    assert again.matches(labels) == all(one.matches(labels) for one in parts)
