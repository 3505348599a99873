"""F55: a rule file that is a trick of YAML's, beside good rules.

Each trick stands in the second of three rules, or in a file of its own between two good ones. To see them fail: load by
`yaml.load` with Python's tags; take one of the bounds out of `rulebook/yaml_text.py`; let a fault leave out all rules.
"""

import pytest

from adapter.rulebook import files, parse

GOOD = """\
- seriesQuery: %s
  resources: {overrides: {pod: {resource: pod}}}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
"""

TRICKED = """\
- seriesQuery: two
  resources: {overrides: {pod: {resource: pod}}}
  metricsQuery: %s
"""

WITHIN_A_RULE = {
    "python tag": ("tag", TRICKED % "!!python/object/apply:os.system [id]"),
    "python name": ("tag", TRICKED % "!!python/name:os.system x"),
    "own tag": ("tag", TRICKED % "!include /etc/passwd"),
    "binary": ("tag", TRICKED % "!!binary aWQ="),
    "set": ("tag", GOOD % "two" + "  name: !!set {as: x}\n"),
    "alias in itself": ("self-alias", TRICKED % "x" + "  seriesFilters: &a [*a]\n"),
    "unknown alias": ("unknown-anchor", TRICKED % "*nobody"),
    "key twice": ("duplicate-key", GOOD % "two" + "  seriesQuery: other\n"),
    "key twice, deep": (
        "duplicate-key",
        TRICKED.replace("{pod: {resource: pod}}", "{pod: {resource: pod}, pod: {resource: node}}") % "x",
    ),
    "key twice by another spelling": ("duplicate-key", GOOD % "two" + '  "series\\x51uery": other\n'),
    "key twice by merges": (
        "duplicate-key",
        TRICKED.replace("{pod: {resource: pod}}", "{<<: [{pod: {resource: pod}}], pod: {resource: node}}")
        % "x",
    ),
    "key that is a list": ("wrong-type", GOOD % "two" + "  ? [a]\n  : b\n"),
    "no text": ("wrong-type", TRICKED % "[a, b]"),
    "pattern of 1 KiB": ("bad-regex", GOOD % "two" + f"  name: {{matches: '{'a' * 1025}'}}\n"),
}

WHOLE_FILES = {
    "alias bomb": (
        "too-many-nodes",
        "rules:\n- &a0 [x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"- &a{at + 1} [{', '.join([f'*a{at}'] * 9)}]\n" for at in range(9)),
    ),
    "merge bomb": (
        "too-many-nodes",
        "rules:\n- &m0 {a: b}\n"
        + "".join(f"- &m{at + 1} {{<<: [{', '.join([f'*m{at}'] * 9)}]}}\n" for at in range(9)),
    ),
    "depth": ("too-deep", "rules: " + "[" * 25 + "]" * 25),
    "depth without end": ("syntax", "rules: " + "[" * 100_000),
    "depth of blocks": ("too-deep", "rules:\n" + "".join(f"{' ' * at}-\n" for at in range(60))),
    "depth by aliases": (
        "too-deep",
        "rules:\n- &a0 [x]\n" + "".join(f"- &a{at + 1} [*a{at}]\n" for at in range(40)),
    ),
    "size": ("too-large", "# " + "x" * 1024 * 1024),
    "many values": ("too-many-nodes", "rules: [" + "1," * 100_001 + "]"),
    "control character": ("bad-character", "rules: [\x07]"),
    "half a pair": ("not-utf8", "rules: ['\ud800']"),
    "no end": ("syntax", "rules: ['"),
    "directive": ("syntax", "%YAML 3.0\n---\nrules: []"),
}


@pytest.mark.parametrize(("word", "rule"), WITHIN_A_RULE.values(), ids=WITHIN_A_RULE)
def test_f55_a_trick_in_a_rule_costs_that_rule_only(word, rule):
    """It is a finding at its place; the rules around it serve."""
    text = f"rules:\n{GOOD % 'one'}{rule}{GOOD % 'three'}"
    book = parse.parse(text, "rules.yaml", compat=False)
    assert [one.series_query for one in book.rules] == ["one", "three"]
    found = [one for one in book.findings if one.severity == "error"]
    assert {one.rule for one in found} == {"rules[1]"}
    assert found[0].word == word
    assert 4 < found[0].position.line <= 4 + rule.count("\n")


@pytest.mark.parametrize(("word", "text"), WHOLE_FILES.values(), ids=WHOLE_FILES)
def test_f55_a_trick_of_a_file_costs_that_file_only(word, text, tmp_path):
    """Those beside it serve, and the reading of it ends soon."""
    (tmp_path / "1.yaml").write_text(f"rules:\n{GOOD % 'one'}")
    (tmp_path / "2.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    (tmp_path / "3.yaml").write_text(f"rules:\n{GOOD % 'three'}")
    book = files.load([str(tmp_path)], compat=False)
    assert [one.series_query for one in book.rules] == ["one", "three"]
    (found,) = book.findings
    assert found.position.file == str(tmp_path / "2.yaml")
    assert found.word == word


def test_f55_both_places_of_a_repeated_key_are_told():
    """Whoever wrote it sees which one to take out."""
    text = f"rules:\n{GOOD % 'one'}  seriesQuery: other\n"
    (found,) = parse.parse(text, "rules.yaml", compat=False).findings
    assert (found.position.line, "rules.yaml:2:3" in found.message) == (5, True)


def test_f55_of_too_many_rules_the_first_thousand_serve():
    """What is beyond them is one finding."""
    text = "rules:\n" + "".join(GOOD % f"series_{number}" for number in range(1_002))
    book = parse.parse(text, "rules.yaml", compat=False)
    assert len(book.rules) == 1_000
    assert [one.word for one in book.findings] == ["too-many-rules"]


def test_f55_honest_aliases_and_merges_serve():
    """Upstream takes them, and files have them."""
    text = (
        "rules:\n- &base\n  seriesQuery: one\n  resources: &pods {overrides: {pod: {resource: pod}}}\n"
        "  metricsQuery: &query sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)\n"
        "- {seriesQuery: two, resources: *pods, metricsQuery: *query}\n"
        "- {<<: *base, seriesQuery: three}\n"
    )
    book = parse.parse(text, "rules.yaml", compat=False)
    assert [one.series_query for one in book.rules] == ["one", "two", "three"]
    assert book.findings == ()
