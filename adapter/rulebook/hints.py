"""What to write instead: advice for the mistakes that people make most."""

import re
from typing import Final

_BRACKET: Final = "a bracket or brace is not closed, or a text that begins with [ or { needs quotes"

_SYNTAX: Final = (
    (
        "cannot start any token",
        "indent with spaces, not tabs; a text that begins with @ ` or % needs quotes",
    ),
    ("mapping values are not allowed", "a text that contains `: ` needs quotes, or check the indentation"),
    (
        "expected key",
        "check indentation and quotes: a text that begins with [ { or a quote is quoted as a whole",
    ),
    ("expected ',' or", _BRACKET),
    ("expected node content", _BRACKET),
    ("end of stream", "a quote is not closed"),
    ("escape character", "in double quotes a backslash is written \\\\; single quotes take it as it is"),
    ("block entry", "the lines of one list must begin in the same column"),
    ("expected <block end>", "check the indentation of this line"),
    ("expected ':'", "a key needs `: ` after it; check the indentation and for an unclosed quote above"),
    ("alphabetic or numeric", "a text that begins with * or & needs quotes"),
    ("nesting", "rule files are at most 20 levels deep"),
)

_REGEX: Final = (
    (
        r"\(\?<?[=!]",
        "RE2 has no lookaround: match more, and leave names out by `isNot` in seriesFilters",
    ),
    (r"\\[1-9]|\(\?P=|\\k<", "RE2 has no backreferences: spell the alternatives out"),
    (r"\(\?>", "RE2 has no atomic groups: write (?:...)"),
    (r"[*+?}]\+", "RE2 has no possessive quantifiers: leave the second + out"),
    (r"\(\?\(", "RE2 has no conditionals: spell the alternatives out"),
    (r"\(\?#", "RE2 has no comments in patterns: leave it out"),
    (r"(^|[|(])[*+?]", "a repetition needs something before it: write .* for any text"),
    (r"\\[ZGeo]", "RE2 does not know this escape: the end of the text is \\z, a literal backslash \\\\"),
)

_PLACE_IN_RULE: Final = {
    "matches": "name",
    "as": "name",
    "overrides": "resources",
    "template": "resources",
    "namespaced": "resources",
    "is": "seriesFilters",
    "isNot": "seriesFilters",
    "cpu": "resourceRules",
    "memory": "resourceRules",
    "window": "resourceRules",
}


_TEMPLATE: Final = (
    ("not defined", "templates have Go's builtin functions only, such as index, printf, eq and len"),
    ("unexpected EOF", "an if, range or with needs its <<end>>"),
    ("unclosed action", '<< needs its >>; to write << as text: <<"<<">>'),
    ("bad character", "only Go's template language stands between << and >>; is a >> missing?"),
    ("unterminated", "a quote inside << >> is not closed"),
    ("outside", "break and continue belong between <<range ...>> and <<end>>"),
    ("missing value", "nothing stands between << and >>, or after |"),
)

UNKNOWN_RESOURCE: Final = "is its CRD installed? `kubectl api-resources` lists what the cluster knows"


def syntax(problem: str) -> str:
    """Advice for a complaint of the YAML parser, or an empty text."""
    return next((advice for part, advice in _SYNTAX if part in problem), "")


def regex(pattern: str) -> str:
    """Advice for a regular expression that RE2 refuses, or an empty text."""
    return next((advice for part, advice in _REGEX if re.search(part, pattern)), "")


def template(problem: str) -> str:
    """Advice for a complaint of the template parser, or an empty text."""
    return next((advice for part, advice in _TEMPLATE if part in problem), "")


def misplaced(key: str) -> str:
    """Advice for a key that is known, but elsewhere; or an empty text."""
    home = _PLACE_IN_RULE.get(key)
    return f"it belongs under `{home}`" if home else ""


def delimiters(template: str) -> str:
    """Advice for a template that was written with Go's usual delimiters, or an empty text."""
    return "the delimiters of templates are << and >> here, not {{ and }}" if "{{" in template else ""
