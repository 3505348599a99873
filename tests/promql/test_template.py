"""What a template offers besides rendering: its fields, its errors as data, its bounds."""

import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter.promql import template
from adapter.promql.template import limits
from tests.promql import data

Q = data.struct(
    {
        "Series": "http_requests_total",
        "LabelMatchers": 'namespace="default"',
        "LabelValuesByName": {"namespace": "default"},
        "GroupBy": "pod",
        "GroupBySlice": ["pod"],
    }
)
DOUBLING = '<<$x := "aaaaaaaaaaaaaaaa">><<range 100>><<$x = printf "%s%s" $x $x>><<end>>'
LONG = '<<$x := printf "%1000000d" 1>><<range 1000000>><<$y := {}>><<end>>'
NESTED = "<<if true>>"


def failure(text, struct=Q):
    with pytest.raises(template.TemplateError) as problem:
        template.parse(text).render(struct)
    return str(problem.value)


def refusal(text):
    with pytest.raises(template.TemplateSyntaxError) as problem:
        template.parse(text)
    return problem.value


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("sum(<<.Series>>) by (<<.GroupBy>>)", {"Series", "GroupBy"}),
        ("no action", set()),
        ("<<range .GroupBySlice>><<$.Series>><<.>><<end>>", {"GroupBySlice", "Series"}),
        ("<<$x := .Series>><<$x>>", {"Series"}),
        ("<<if eq .GroupBy (index .LabelValuesByName `x`)>>a<<end>>", {"GroupBy", "LabelValuesByName"}),
        ("<<(.).Series>>", {"Series"}),
        ('<<define "t">><<.Resource>><<end>><<template "t" .>>', {"Resource"}),
        ("<<if .A>><<.B>><<else if .C>><<.D>><<else>><<.E>><<end>>", set("ABCDE")),
        ("<<with .A>><<.B>><<else>><<.C>><<end>>", set("ABC")),
        ("<<.LabelValuesByName.pod>>", {"LabelValuesByName"}),
        ('<<block "b" .Series>><<.X>><<end>>', {"Series", "X"}),
        ("<<printf `%s` .Series | len | print .GroupBy>>", {"Series", "GroupBy"}),
        ("<</* .Series */>>", set()),
    ],
)
def test_a_template_knows_the_fields_it_mentions(text, fields):
    """Each field name that begins a chain is mentioned, wherever it stands."""
    assert template.parse(text).fields() == fields


def test_a_syntax_error_is_data():
    """The message is Go's with the template's name; the line is there as a number too."""
    problem = refusal("a\nb <<if>>")
    assert (problem.line, problem.message) == (2, "template: metrics-query:2: missing value for if")
    assert str(problem) == problem.message


def test_the_name_of_a_template_is_free():
    """A resource template says so in its messages."""
    with pytest.raises(
        template.TemplateSyntaxError, match=r'^template: resource:1: function "x" not defined$'
    ):
        template.parse("<<x>>", "resource")
    with pytest.raises(
        template.TemplateError, match=r'^template: resource:1:2: executing "resource" at <.X>: '
    ):
        template.parse("<<.X>>", "resource").render(Q)


def test_the_struct_names_its_type():
    """An unknown field is an error that names the Go type."""
    assert failure("<<.Nope>>", template.Struct("naming.args", {"A": "b"})).endswith(
        "can't evaluate field Nope in type naming.args"
    )


def test_rendering_leaves_the_template_as_it_was():
    """One template serves many questions: nothing of one rendering is seen in the next."""
    parsed = template.parse("<<$x := .Series>><<$x = `y`>><<$x>><<.GroupBy>>")
    assert parsed.render(Q) == parsed.render(Q) == "ypod"


def test_values_are_not_looked_into():
    """Text that comes from data is never read as a template."""
    assert template.parse("<<.Series>>").render(data.struct({"Series": "<<.Nope>>"})) == "<<.Nope>>"


def test_an_endless_loop_ends():
    """A range over a huge number is cut off by its steps, though it writes nothing."""
    started = time.perf_counter()
    assert failure("<<range 9000000000000000000>><<end>>").endswith(
        f"the template takes more than {limits.MAX_STEPS} steps"
    )
    assert time.perf_counter() - started < 5


def test_an_endless_recursion_ends():
    """A template that calls itself is cut off at a depth that Python's stack holds."""
    assert failure('<<define "a">><<template "a" .>><<end>><<template "a" .>>').endswith(
        f"exceeded maximum template depth ({limits.MAX_DEPTH})"
    )


def test_a_recursion_through_deep_nesting_ends():
    """Where depth and nesting multiply, the end of Python's stack is an error like any other."""
    inner = NESTED * 60 + '<<template "a" .>>' + "<<end>>" * 60
    assert "nested" in failure(f'<<define "a">>{inner}<<end>><<template "a" .>>')


def test_output_is_bounded():
    """A text that grows without end is refused, whether it is written or kept."""
    assert "the text is longer than" in failure(DOUBLING)
    assert "the text is longer than" in failure("<<range 5000>><<printf `%1000d` .>><<end>>")
    assert "the text is longer than" in failure("<<printf `%1000000v` .>>")


@pytest.mark.parametrize(
    "call", ["html $x", "js $x", "eq $x `a`", "index $x 0", "slice $x 1", "len $x", "printf `%s` $x"]
)
def test_long_texts_cost_more_than_short_ones(call):
    """A loop over an expensive function ends as soon as one over many cheap ones."""
    assert "steps" in failure(LONG.format(call))


def test_usual_sizes_are_far_from_the_bounds():
    """Five thousand pod names pass, three times over."""
    struct = data.struct({"LabelMatchers": "|".join(f"web-7d9c6b5f4-{number:05d}" for number in range(5000))})
    text = template.parse("<<.LabelMatchers>> / <<.LabelMatchers>> * <<.LabelMatchers>>").render(struct)
    assert len(text) > 250_000


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (NESTED * 500, "actions are nested too deeply"),
        ("<<if true>>" + "<<else if true>>" * 500, "actions are nested too deeply"),
        ("<<" + "(" * 500, "max expression depth exceeded"),
        ('<<block "a" .>>' * 500, "actions are nested too deeply"),
        ("x" * (limits.MAX_SOURCE + 1), f"longer than {limits.MAX_SOURCE} characters"),
    ],
)
def test_an_outsized_template_is_refused(text, problem):
    """Nesting and length are bounded when the rules are read, not when a query is built."""
    assert refusal(text).message == f"template: metrics-query:1: {problem}"


def test_deep_nesting_within_the_bound_works():
    """What the parser lets through is rendered."""
    deep = limits.MAX_DEPTH - 2
    assert template.parse(NESTED * deep + "x" + "<<end>>" * deep).render(Q) == "x"
    assert template.parse("<<" + "(" * deep + "1" + ")" * deep + ">>").render(Q) == "1"


def test_half_a_character_is_no_query():
    """A slice may cut a character in two as in Go, but what is rendered is text."""
    struct = data.struct({"Series": "é"})
    assert template.parse("<<slice .Series 0 1>><<slice .Series 1>>").render(struct) == "é"
    assert "not valid UTF-8" in failure("<<slice .Series 0 1>>", struct)


def test_addresses_are_not_printed():
    """%p would print another text every time; it is refused but for nothing."""
    assert "%p prints an address" in failure("<<printf `%p` .GroupBySlice>>")
    assert template.parse("<<printf `%p` .GroupBySlice>>").render(data.struct({"GroupBySlice": ()})) == "0x0"


def test_a_message_shows_a_long_action_in_part():
    """A range is shown with its body: a message must not be as long as the template."""
    message = failure("<<range 1000000000000>>" + "x" * 5000 + "<<end>>")
    assert len(message) < 1300


def test_values_of_other_types_are_our_own_mistake():
    """Nothing but what Go's side has gets into a template."""
    with pytest.raises(TypeError, match="a template takes no set"):
        template.parse("<<.Series>>").render(data.struct({"Series": {"a"}}))


def test_lone_surrogates_in_data_do_not_crash():
    """Text that no encoding has is replaced as Go's decoders replace it."""
    assert template.parse("\ud800<<len .Series>>").render(data.struct({"Series": "\ud800"})) == "\ufffd3"


FRAGMENTS = [
    "<<", ">>", "<<- ", " ->>", ".Series", ".GroupBySlice", ".LabelValuesByName", "$", "$x", ":=", "=", "|", "(", ")",
    "if ", "else", "end", "range ", "with ", "define ", "template ", "block ", "break", "continue", "nil", "true", "3",
    "1.5", '"%s%v"', "`a`", "'a'", "printf ", "index ", "slice ", "len ", "and ", "or ", "eq ", "lt ", "/*", "*/", ",",
    " ", "\n", "text", "é", "\x00", "html ", "call ", "-", "1e3", "0x", "<<end>>",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join))
def test_whatever_the_text_the_errors_are_ours(text):
    """No text makes the parser or a rendering fail with anything but its own two errors."""
    stage, shown, _ = data.outcome(text, Q)
    assert stage in ("", "parse", "execute")
    assert not stage or shown.startswith("template: metrics-query:") or "UTF-8" in shown


VERBS = st.text(alphabet="%+-# 0123456789.*[]vTtdsqxXobOcUeEfFgGpwz!é", max_size=12)
ARGUMENTS = st.lists(
    st.sampled_from([".Series", ".GroupBySlice", "1", "-7", "2.5", "true", "nil", "."]), max_size=3
)


@settings(max_examples=300, deadline=None)
@given(VERBS, ARGUMENTS)
def test_whatever_the_format_printf_answers(verbs, arguments):
    """A wrong directive prints Go's mark; it never raises, but for addresses and outsized widths."""
    stage, shown, _ = data.outcome(f"<<printf `%{verbs}` {' '.join(arguments)}>>", Q)
    assert not stage or "an address" in shown or "is longer than" in shown


def test_the_bounds_fit_pythons_stack():
    """The deepest template leaves room for the program around it."""
    assert sys.getrecursionlimit() / 2 > limits.MAX_DEPTH * 5
