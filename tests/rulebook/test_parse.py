import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapter.rulebook import findings, parse
from adapter.rulebook.model import Policy, Rulebook

GOOD = """\
- seriesQuery: http_requests_total{pod!=""}
  resources: {overrides: {namespace: {resource: namespace}, pod: {resource: pod}}}
  name: {matches: ^(.*)_total$, as: "${1}_per_second"}
  metricsQuery: sum(rate(<<.Series>>{<<.LabelMatchers>>}[2m])) by (<<.GroupBy>>)
"""


def read(text: str, *, compat: bool = False) -> Rulebook:
    return parse.parse(text, "rules.yaml", compat=compat)


def words(book: Rulebook) -> list[str]:
    return [one.word for one in book.findings]


def test_a_good_rule_has_no_findings():
    """All parts of a usual rule arrive."""
    (rule,) = read(f"rules:\n{GOOD}").rules
    assert (rule.id, rule.position.line, rule.position.column) == ("rules[0]", 2, 3)
    assert rule.metric_name("http_requests_total") == "http_requests_per_second"
    assert rule.metric_name("go_goroutines") is None
    assert [one.label for one in rule.mapping.overrides] == ["namespace", "pod"]
    assert rule.policy == Policy.DEFAULTS
    assert rule.namespaced
    assert read(f"rules:\n{GOOD}").findings == ()


@pytest.mark.parametrize("compat", [True, False])
def test_a_bad_rule_is_left_out_and_the_others_stay(compat):
    """One mistake costs one rule, and ids keep counting entries of the file."""
    bad = GOOD.replace("^(.*)_total$", "'(?!x)'")
    book = read(f"rules:\n{GOOD}{bad}{GOOD}externalRules:\n{bad}{GOOD}", compat=compat)
    assert [one.id for one in book.rules] == ["rules[0]", "rules[2]"]
    assert [one.id for one in book.external] == ["externalRules[1]"]
    assert [one.rule for one in book.findings] == ["rules[1]", "externalRules[0]"]
    assert parse.fatal(book)


def test_an_error_outside_the_rules_leaves_them_in_force():
    """An unknown section is an error of the file, not of its rules."""
    book = read(f"ruels: []\nrules:\n{GOOD}")
    assert len(book.rules) == 1
    assert [(one.word, one.rule, one.suggestion) for one in book.findings] == [
        ("unknown-key", None, "did you mean `rules`?")
    ]


def test_all_errors_come_at_once():
    """No mistake hides another, within a rule or between them."""
    text = """\
rules:
- seriesQuery: [a]
  seriesFilters: [{is: '('}, {}]
  resources: {template: "<<.Kind>>", namespaced: 5, overrides: {pod: pod, app: {group: apps}}}
  name: {matches: '(a)(b)', to: c}
  metricsQuery: <<upper .Series>>
  onNaN: never
  seriesQuery: b
"""
    assert words(read(text)) == [
        "wrong-type",
        "bad-regex",
        "bad-filter",
        "bad-resource-template",
        "wrong-type",
        "wrong-type",
        "missing-key",
        "needs-as",
        "unknown-key",
        "bad-template",
        "bad-value",
        "duplicate-key",
    ]


def test_findings_stand_in_the_order_of_the_file():
    """Whatever is checked first, the reader goes from top to bottom."""
    book = read("resourceRules: 5\nrules: 6\nother: 7\n")
    assert [one.position.line for one in book.findings] == [1, 2, 3]


def test_a_repeated_key_is_refused_with_both_places():
    """Both places are in the text, wherever the key is."""
    book = read("rules:\n- seriesQuery: a\n  metricsQuery: b\n  seriesQuery: c\n")
    assert str(book.findings[0]).startswith(
        "rules.yaml:4:3: the key `seriesQuery` stands in rules.yaml:2:3 already"
    )
    assert not book.rules


def test_compat_mode_asks_for_no_query():
    """Upstream starts with rules that have no query, even with one that is null."""
    book = read("rules:\n-\n- seriesQuery: m\n- metricsQuery: m\n", compat=True)
    assert len(book.rules) == 3
    assert book.findings == ()


def test_default_mode_asks_for_both_queries():
    """A rule without one of them can only ever fail: it is left out, and the reason told."""
    book = read("rules:\n-\n- seriesQuery: m\n- metricsQuery: m\n- {seriesQuery: '', metricsQuery: m}\n")
    assert not book.rules
    assert [one.message for one in book.findings if one.severity == "error"] == [
        "the rule has no `metricsQuery`",
        "the rule has no `seriesQuery`",
        "the rule has no `metricsQuery`",
        "the rule has no `seriesQuery`",
        "`seriesQuery` is empty",
    ]


def test_what_can_never_answer_is_warned_of_and_kept():
    """Unknown fields and rules without a mapping load, as upstream loads them, but not in silence."""
    text = """\
rules:
- {seriesQuery: m, metricsQuery: <<.Serie>>, resources: {}}
externalRules:
- {seriesQuery: m, metricsQuery: m}
- {seriesQuery: m, metricsQuery: m, resources: {namespaced: false}}
"""
    book = read(text)
    assert (len(book.rules), len(book.external)) == (1, 2)
    assert words(book) == ["unknown-field", "no-mapping", "no-mapping"]
    assert not parse.fatal(book)
    assert words(read(text, compat=True)) == []


def test_namespaced_counts_for_external_rules():
    """It defaults to true; for custom rules it has no effect, which is worth a warning."""
    rule = "- {seriesQuery: m, metricsQuery: m, resources: {template: <<.Resource>>, namespaced: off}}\n"
    book = read(f"externalRules:\n{rule}rules:\n{rule}")
    assert book.external[0].namespaced is False
    assert words(book) == ["no-effect"]


def test_filters_see_the_name_unanchored_and_all_must_agree():
    """`is` keeps, `isNot` drops, wherever in the name the pattern is found."""
    text = "rules:\n- {seriesQuery: m, metricsQuery: m, seriesFilters: [{is: req}, {isNot: _created$}]}\n"
    (rule,) = read(text).rules
    assert rule.metric_name("http_requests_total") == "http_requests_total"
    assert rule.metric_name("http_requests_created") is None
    assert rule.metric_name("jobs_total") is None


def test_our_own_keys_are_read_per_rule():
    """What a value is taken for when it is none, or not one, is each rule's choice."""
    text = f"""\
rules:
{GOOD}  onNaN: zero
  onMissing: empty
  onOverflow: saturate
  onDuplicate: sum
  onWarnings: accept
  selectorRegex: yes
  maxStale: 1m
"""
    assert read(text).rules[0].policy == Policy(
        "zero", "empty", "saturate", "sum", "accept", selector_regex=True, max_stale=60.0
    )


def test_a_key_in_the_rule_wins_over_compat_mode():
    """Compat mode is upstream's policy for all that a rule does not say."""
    text = f"rules:\n{GOOD}{GOOD}  onNaN: drop\n  maxStale: 0\n  onDuplicate:\n"
    plain, own = read(text, compat=True).rules
    assert plain.policy == Policy.UPSTREAM
    assert (own.policy.on_nan, own.policy.max_stale, own.policy.on_duplicate) == ("drop", 0.0, "last")


@pytest.mark.parametrize(
    "line",
    [
        "onNaN: dropp",
        "onOverflow: wrap",
        "onMissing: zeroIfTargetsUp",
        "maxStale: 1.5m",
        "maxStale: -1s",
        'selectorRegex: "yes"',
        "onWarnings: ''",
    ],
)
def test_other_values_of_our_keys_are_errors(line):
    """Nothing is guessed: the rule is left out."""
    book = read(f"rules:\n{GOOD}  {line}\n")
    assert not book.rules
    assert len(book.findings) == 1


def test_resource_rules_arrive():
    """Both kinds of query, the mapping and the window."""
    rule = "{containerQuery: c, nodeQuery: n, containerLabel: container, resources: {overrides: {pod: {resource: pod}}}}"
    book = read(f"resourceRules: {{cpu: {rule}, memory: {rule}, window: 3m}}")
    assert book.findings == ()
    assert book.resource is not None
    assert book.resource.window_seconds == 180.0
    assert book.resource.memory.container_label == "container"
    assert book.resource.cpu.mapping.rule == "resourceRules.cpu"


def test_resource_rules_without_queries_are_warned_of():
    """An empty block switches metrics.k8s.io on, and then nothing has a value."""
    book = read("resourceRules: {}")
    assert book.resource is not None
    assert {one.severity for one in book.findings} == {"warning"}
    assert read("resourceRules: {}", compat=True).findings == ()


def test_a_mistake_in_resource_rules_leaves_them_out_as_a_whole():
    """Half of them would show pods without memory."""
    book = read(f"rules:\n{GOOD}resourceRules: {{cpu: {{containerQuery: <<.X}}}}", compat=True)
    assert book.resource is None
    assert len(book.rules) == 1
    assert [one.rule for one in book.findings] == ["resourceRules.cpu"]


def test_anchors_and_merge_keys_work():
    """Rules share parts; what stands later in a rule wins, and nested blocks are laid one over the other."""
    text = """\
rules:
- &base
  seriesQuery: a
  resources: &both {overrides: {pod: {resource: pod}}}
  name: {matches: ^(a)$}
  metricsQuery: q
- <<: *base
  seriesQuery: b
  name: {as: x}
- {seriesQuery: c, metricsQuery: q, resources: *both}
"""
    first, second, third = read(text).rules
    assert (second.series_query, second.metrics_query.source, second.name_as) == ("b", "q", "x")
    assert second.name_matches.text == first.name_matches.text
    assert [one.label for one in third.mapping.overrides] == ["pod"]


def test_a_label_that_a_merge_repeats_is_refused():
    """Upstream's map takes each label once, merged or not."""
    text = "rules:\n- seriesQuery: a\n  metricsQuery: q\n  resources: {overrides: {a: &a {resource: pod}, <<: {a: {resource: node}}}}\n"
    assert words(read(text, compat=True)) == ["duplicate-key"]


def test_rules_are_bounded_over_both_lists():
    """The first thousand stay."""
    many = "".join(f"- {{seriesQuery: m{i}, metricsQuery: q}}\n" for i in range(600))
    book = read(f"rules:\n{many}externalRules:\n{many}", compat=True)
    assert (len(book.rules), len(book.external)) == (600, 400)
    assert words(book) == ["too-many-rules"]


def test_findings_are_bounded():
    """A file of nothing but mistakes is told so, not repeated."""
    book = read("".join(f"key{i}: x\n" for i in range(5000)))
    assert len(book.findings) == 1001
    assert "too-many-findings" in words(book)


def test_a_rule_after_the_bound_of_findings_is_left_out_all_the_same():
    """That a mistake is not shown does not make its rule good."""
    book = read(
        "rules:\n" + "".join(f"- {{seriesQuery: a, metricsQuery: b, x{i}: c, y{i}: d}}\n" for i in range(900))
    )
    assert not book.rules


def test_the_second_document_is_ignored():
    """As upstream, only the first one is read."""
    assert len(read(f"rules:\n{GOOD}---\n{{{{{{").rules) == 1


def test_a_prefix_goes_before_every_id():
    """Rules of several files stay apart."""
    book = parse.parse(f"rules:\n{GOOD}- 5\n", "a/http.yaml", compat=False, prefix="http.yaml:")
    assert book.rules[0].id == book.rules[0].mapping.rule == "http.yaml:rules[0]"
    assert book.findings[0].rule == "http.yaml:rules[1]"


def test_a_mistake_inside_a_block_text_has_its_own_line():
    """A long query is searched for the mistake by the program, not by the reader."""
    text = "rules:\n- seriesQuery: m\n  metricsQuery: |\n    sum(\n      <<upper .Series>>\n    )\n"
    (error,) = [one for one in read(text).findings if one.severity == "error"]
    assert findings.caret(error, text) == "      <<upper .Series>>\n      ^^^^^^^^^^^^^^^^^"


SAMPLE = f"""rules:\n{GOOD}  seriesFilters:\n  - &a {{is: x}}\n  - *a\n  - isNot: |\n      [a-z]+ # y
  name: {{<<: *a, as: !!str "$1"}}\n  onNaN: drop\n  maxStale: 5m\n  template: '<<range .Group>>%<<end>>'
externalRules: []\nresourceRules:\n  cpu: {{containerQuery: ~, nodeQuery: "\\x"}}\n  window: 0\n---\n? \t\x85\ufeff
"""
TOKENS = st.sampled_from(sorted(set(re.findall(r"\w+: ?|\n *(?:- )?|<<.*?>>|\w+|.", SAMPLE, re.DOTALL))))


@settings(deadline=None, max_examples=300)
@given(
    st.one_of(
        st.text(),
        st.lists(TOKENS, max_size=40).map("".join),
        st.lists(TOKENS, max_size=12).map(lambda parts: "".join(["rules:\n", GOOD, "  ", *parts])),
    ),
    st.booleans(),
)
@example("\ud800", False)
@example("a: \x00", True)
@example("? {a: b}\n: c", False)
@example("? [rules]\n: c", True)
@example("rules: &a [*a]", False)
@example("<<: *b", False)
@example("<<: [*b, {rules: []}]", False)
@example("<<: 5", False)
def test_any_text_loads_or_gives_findings(text, compat):
    """No text makes the parser raise, and every finding can be shown."""
    book = read(text, compat=compat)
    for one in book.findings:
        assert str(one).startswith(f"rules.yaml:{one.position.line}:{one.position.column}: ")
        assert one.length >= 1
        findings.caret(one, text)
    assert list(book.findings) == sorted(book.findings, key=lambda one: one.position)
