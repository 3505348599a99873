"""From a rule and what is asked to PromQL, exactly as prometheus-adapter writes it (docs/upstream.md 3.1)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from adapter.promql import matchers, template
from adapter.promql.matchers import Matcher
from adapter.rulebook.mapping import BoundMapping
from adapter.rulebook.model import Rule
from adapter.wire.resources import NAMESPACES, Resource
from adapter.wire.selectors import Selector

MAX_CHARACTERS: Final = 16 * 1024
"""A longer query is cut into parts by names (docs/faults.md F10): proxies in front of backends refuse more."""


MIN_ROOM: Final = 4 * 1024
"""Characters of names in each part, however long the rest of the query is."""

_LABEL: Final = re.compile("[a-zA-Z_][a-zA-Z0-9_]*")


class CannotBuild(ValueError):
    """The rule gives no query for this question; the text says why, `cause` is a stable word."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a query is about: these objects, in one namespace or (None) in none, and the series of a selector."""

    namespace: str | None
    names: Sequence[str]
    selector: Selector


def labels(mapping: BoundMapping, resource: Resource, *, namespaced: bool) -> tuple[str, str | None]:
    """(label that names the object, label that names its namespace or None for a question without one).

    Raises CannotBuild where the rule has no label for one of them.
    """
    label = mapping.label_of(resource)
    if label is None:
        raise CannotBuild(
            "LabelMapsToNothing", f"no label stands for {resource.key}: add an override or a template"
        )
    if not namespaced:
        return label, None
    namespace_label = mapping.label_of(NAMESPACES)
    if namespace_label is None:
        raise CannotBuild(
            "LabelMapsToNothing", "no label stands for namespaces: add an override for it, or a template"
        )
    return label, namespace_label


def build(
    rule: Rule, series: str, wanted: Wanted, pair: tuple[str, str | None], *, careful: bool = True
) -> str:
    """The query of `rule` over `series` for `wanted`; `pair` is what labels() gave.

    Matchers come in upstream's order: metric selector, namespace, object. `careful` escapes names of objects and
    refuses keys that are no label of Prometheus; upstream does neither. Raises CannotBuild.
    """
    label, namespace_label = pair
    if careful:
        _check_keys(wanted.selector)
    found = _of_selector(wanted.selector, escape=not rule.policy.selector_regex)
    if namespace_label is not None and wanted.namespace is not None:
        found.append(matchers.equal(namespace_label, wanted.namespace))
    found.append(matchers.one_of(label, wanted.names, escape=careful))
    return _render(rule, series, found, group_by=(label,))


def cut(names: Sequence[str], *, whole: int, fixed: int) -> list[Sequence[str]]:
    """`names` in parts whose queries are at most about MAX_CHARACTERS long.

    `whole` is the length of the query with all names, `fixed` that of one without any. Where the fixed part alone
    takes nearly all room, a part still has MIN_ROOM: many tiny queries would be worse than some that are longer.
    """
    weight = (whole - fixed) / sum(len(name) + 1 for name in names)
    room = max(MAX_CHARACTERS - fixed, MIN_ROOM) / weight
    parts: list[Sequence[str]] = []
    begin, used = 0, 0
    for at, name in enumerate(names):
        used += len(name) + 1
        if used > room and at > begin:
            parts.append(names[begin:at])
            begin, used = at, len(name) + 1
    return [*parts, names[begin:]]


def _check_keys(selector: Selector) -> None:
    for one in selector.requirements:
        if not _LABEL.fullmatch(one.key):
            raise CannotBuild(
                "SelectorNotExpressible",
                f"{one.key} is no label name of Prometheus: select by the label that the series carry",
            )


def _of_selector(selector: Selector, *, escape: bool) -> list[Matcher]:
    try:
        return [
            matchers.of_requirement(one.key, one.operator, one.values, escape=escape)
            for one in selector.requirements
        ]
    except matchers.NotExpressible as error:
        raise CannotBuild("SelectorNotExpressible", str(error)) from error


def _render(rule: Rule, series: str, found: list[Matcher], *, group_by: tuple[str, ...]) -> str:
    fields = template.Struct(
        "naming.queryTemplateArgs",
        {
            "Series": series,
            "LabelMatchers": matchers.join(found),
            "LabelValuesByName": matchers.values_by_name(found),
            "GroupBy": ",".join(group_by),
            "GroupBySlice": group_by,
        },
    )
    try:
        text = rule.metrics_query.render(fields)
    except template.TemplateError as error:
        raise CannotBuild("TemplateFails", f"the metricsQuery of {rule.id} fails: {error}") from error
    if not text:
        raise CannotBuild("EmptyQuery", f"the metricsQuery of {rule.id} gives an empty query")
    return text
