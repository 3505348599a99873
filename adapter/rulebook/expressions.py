"""The texts of a rule that are languages of their own: RE2 patterns, query templates, resource templates."""

import re
from collections import Counter
from typing import Final

from adapter.promql import template
from adapter.promql.template import Template
from adapter.rulebook import findings, hints, naming
from adapter.rulebook.fields import Section
from adapter.rulebook.model import LabelTemplate
from adapter.rulebook.naming import Pattern
from adapter.rulebook.yaml_nodes import Node

QUERY_FIELDS: Final = ("Series", "LabelMatchers", "LabelValuesByName", "GroupBy", "GroupBySlice")
LABEL_FIELDS: Final = ("Group", "Resource")

_CAPTURES: Final = {"Group": "(?P<group>.+?)", "Resource": "(?P<resource>.+?)"}
_GO_PLACE: Final = re.compile(r'^template: [\w-]+:\d+:(\d+:)? (executing "[^"]*" at )?')
"""How Go's messages begin: a place that says less than ours."""
_NAMED_GROUP: Final = re.compile(r"\(\?P?<(group|resource)>")


def pattern(section: Section, key: str) -> Pattern | None:
    """The regular expression under a key; None if absent, empty or refused."""
    text, node = section.text(key), section.node(key)
    if not text or node is None:
        return None
    try:
        return naming.compile(text)
    except naming.PatternError as error:
        section.notes.error(
            node,
            "bad-regex",
            f"`{key}` is no RE2 expression: {findings.shown(str(error))}",
            hints.regex(text),
        )
        return None


def query(section: Section, key: str) -> Template:
    """The query template under a key; an empty one if absent or refused."""
    text, node = section.text(key), section.node(key)
    if not text or node is None:
        return template.parse("")
    parsed = _template(section, key, "metrics-query")
    if parsed is None:
        return template.parse("")
    _warn_of_fields(section, node, parsed, QUERY_FIELDS)
    if advice := hints.delimiters(text):
        section.notes.warn(node, "wrong-delimiters", f"`{key}` holds {{{{, which stays as it is", advice)
    return parsed


def label(section: Section, key: str) -> LabelTemplate | None:
    """The resource template under a key with the pattern derived from it; None if absent or refused."""
    text, node = section.text(key), section.node(key)
    if not text or node is None:
        return None
    parsed = _template(section, key, "resource-label")
    if parsed is None:
        return None
    derived = _derived(section, node, parsed)
    if derived is not None:
        _warn_of_fields(section, node, parsed, LABEL_FIELDS)
    return derived


def _template(section: Section, key: str, name: str) -> Template | None:
    text, node = section.text(key), section.node(key)
    try:
        return template.parse(text, name)
    except template.TemplateSyntaxError as error:
        if node is not None:
            place = section.notes.line_of(node, error.line)
            complaint = _GO_PLACE.sub("", error.message)
            message = f"`{key}` is no template: {findings.shown(complaint)}"
            section.notes.error(place, "bad-template", message, hints.template(error.message))
        return None


def _derived(section: Section, node: Node, parsed: Template) -> LabelTemplate | None:
    """The template rendered with captures, anchored; its literal text is not escaped (docs/upstream.md 2.3)."""
    try:
        rendered = parsed.render(template.Struct("schema.GroupResource", dict(_CAPTURES)))
    except template.TemplateError as error:
        message = f"the resource template fails: {_GO_PLACE.sub('', str(error))}"
        _refuse(section, node, message, _listed(LABEL_FIELDS))
        return None
    expression, seen = _numbered(rendered)
    if not rendered:
        _refuse(section, node, "the resource template renders to nothing")
        return None
    if not seen["resource"]:
        advice = hints.delimiters(parsed.source) or "write for example `kube_<<.Resource>>`"
        _refuse(section, node, "the resource template never mentions <<.Resource>>", advice)
        return None
    try:
        compiled = naming.compile(f"^{expression}$")
    except naming.PatternError as error:
        message = f"the resource template gives no RE2 expression: {findings.shown(str(error))}"
        _refuse(section, node, message, "its literal text is part of a regular expression")
        return None
    group = f"${{group__{seen['group']}}}" if seen["group"] else ""
    return LabelTemplate(parsed, compiled, resource=f"${{resource__{seen['resource']}}}", group=group)


def _numbered(rendered: str) -> tuple[str, Counter[str]]:
    """(the expression with its captures numbered, how many there are of each).

    Of two captures with one name upstream takes the last one, which expanding by that name would not give.
    """
    seen: Counter[str] = Counter()

    def number(found: re.Match[str]) -> str:
        seen[found[1]] += 1
        return f"(?P<{found[1]}__{seen[found[1]]}>"

    return _NAMED_GROUP.sub(number, rendered), seen


def _refuse(section: Section, node: Node, message: str, advice: str = "") -> None:
    section.notes.error(node, "bad-resource-template", message, advice)


def _warn_of_fields(section: Section, node: Node, parsed: Template, known: tuple[str, ...]) -> None:
    for name in sorted(parsed.fields() - frozenset(known)):
        near = findings.nearest(name, known)
        advice = (
            f"did you mean `.{near}`?" if near else f"known here: {', '.join(f'.{one}' for one in known)}"
        )
        section.notes.warn(
            node,
            "unknown-field",
            f"templates here have no field `.{findings.shown(name)}`: requests will fail",
            advice,
        )


def _listed(known: tuple[str, ...]) -> str:
    return f"known here: {', '.join(f'.{one}' for one in known)}"
