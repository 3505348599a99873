import pytest

from adapter.rulebook import findings
from adapter.rulebook.findings import Finding, Position


def finding(line: int = 1, column: int = 1, **more) -> Finding:
    return Finding(
        Position("rules/http.yaml", line, column), "unknown-key", "unknown key `metricQuery`", **more
    )


def test_a_finding_reads_like_a_compiler_error():
    """Place, mistake and remedy are one line, with the file first, as editors expect."""
    text = str(finding(14, 22, suggestion="did you mean `metricsQuery`?"))
    assert text == "rules/http.yaml:14:22: unknown key `metricQuery` (did you mean `metricsQuery`?)"


def test_a_warning_says_that_it_is_one():
    """What is only warned of can be told from what leaves a rule out."""
    assert str(finding(severity="warning")) == "rules/http.yaml:1:1: warning: unknown key `metricQuery`"


def test_the_caret_stands_under_the_word():
    """The line is shown with as many ^ as the word has characters."""
    source = "rules:\n- metricQuery: up\n"
    assert findings.caret(finding(2, 3, length=11), source) == "- metricQuery: up\n  ^^^^^^^^^^^"


def test_the_caret_follows_tabs_and_wide_characters():
    """Padding takes the columns that a terminal takes."""
    assert findings.caret(finding(1, 2), "\tx") == "\tx\n\t^"
    assert findings.caret(finding(1, 3), "世界x") == "世界x\n    ^"


def test_lines_are_counted_as_yaml_counts_them():
    """Carriage returns, alone or not, end a line, and a byte order mark is no character."""
    assert findings.caret(finding(3, 1), "\ufeffa\rb\r\nc\n").startswith("c\n")


def test_a_very_long_line_is_cut_around_the_word():
    """Minified YAML does not flood the terminal."""
    shown = findings.caret(finding(1, 5001, length=3), "x" * 5000 + "bad" + "x" * 5000)
    line, marks = shown.split("\n")
    assert len(line) == findings.CARET_WIDTH
    assert line[marks.index("^") :].startswith("bad")


def test_a_finding_without_a_line_has_no_caret():
    """A file that could not be read has no line to show."""
    assert findings.caret(finding(9, 1), "one line") == ""


def test_control_characters_do_not_reach_the_terminal():
    """A rule file cannot move the cursor of whoever checks it."""
    assert "\x1b" not in findings.caret(finding(), "\x1b[2Jrules:")
    assert "\x1b" not in findings.shown("\x1b[2J")


@pytest.mark.parametrize(
    ("word", "meant"),
    [("metricQuery", "metricsQuery"), ("METRICSQUERY", "metricsQuery"), ("zzz", ""), ("x" * 10_000, "")],
)
def test_the_nearest_known_word_is_suggested(word, meant):
    """A slip of the pen is recognised whatever its case; what resembles nothing gets no suggestion."""
    assert findings.nearest(word, ["metricsQuery", "seriesQuery"]) == meant


def test_findings_come_in_the_order_of_the_file_and_once():
    """Line 10 comes after line 9, and a repeat says nothing new."""
    many = [finding(10), finding(9), finding(10)]
    assert [one.position.line for one in findings.in_order(many)] == [9, 10]
