"""One entry of `rules` or `externalRules`."""

from typing import Final

from adapter.rulebook import expressions, fields, naming, policy_keys, resources_block
from adapter.rulebook.fields import Notes, Section
from adapter.rulebook.model import Filter, Rule
from adapter.rulebook.naming import Pattern
from adapter.rulebook.yaml_nodes import Node, Scalar

_KEYS: Final = ("seriesQuery", "seriesFilters", "resources", "name", "metricsQuery", *policy_keys.KEYS)
_ANY_NAME: Final = naming.compile(".*")


def read(notes: Notes, node: Node, section_key: str, index: int) -> Rule | None:
    """The rule, or None if it has a mistake; everything else that is to be said of it is noted as well."""
    with notes.about(f"{section_key}[{index}]") as free_of_errors:
        fields.check(notes, node)
        section = Section(notes, [node], _KEYS)
        resources = section.section("resources", resources_block.KEYS)
        matches, name_as = _naming(section.section("name", ("matches", "as")))
        rule = Rule(
            id=notes.rule or "",
            position=notes.position(node),
            series_query=section.text("seriesQuery"),
            filters=_filters(section),
            mapping=resources_block.mapping(resources),
            namespaced=resources.boolean("namespaced") is not False,
            name_matches=matches,
            name_as=name_as,
            metrics_query=expressions.query(section, "metricsQuery"),
            policy=policy_keys.read(section),
        )
        for key in ("seriesQuery", "metricsQuery"):
            _require(section, node, key)
        if not free_of_errors():
            return None
        external = section_key == "externalRules"
        if rule.mapping.is_empty:
            _warn_of_no_mapping(notes, section.key("resources") or node, rule, external=external)
        if not external and not rule.namespaced:
            at = resources.key("namespaced") or node
            notes.warn(at, "no-effect", "`namespaced` has an effect in externalRules only")
        return rule


def _require(section: Section, node: Node, key: str) -> None:
    """Upstream starts without these keys, and fails each request; compat mode follows it."""
    if section.notes.compat or key in section.meant or not (section.given or fields.is_absent(node)):
        return
    value = section.node(key)
    if value is None:
        section.notes.error(node, "missing-key", f"the rule has no `{key}`")
    elif isinstance(value, Scalar) and not value.text and not value.fault:
        section.notes.error(value, "missing-key", f"`{key}` is empty")


def _naming(section: Section) -> tuple[Pattern, str]:
    """(matches, as) with upstream's defaults: `.*`, and the whole match or the one group."""
    matches = expressions.pattern(section, "matches") or _ANY_NAME
    name_as = section.text("as")
    node = section.node("matches")
    if name_as or node is None:
        return matches, name_as or "$0"
    if matches.groups > 1 and not _is_no_text(section.node("as")):
        message = f"`matches` has {matches.groups} groups, and `as` does not say what the name is made of"
        section.notes.error(node, "needs-as", message, 'add for example `as: "${1}_${2}"`, or write (?:...)')
    return matches, f"${min(matches.groups, 1)}"


def _filters(section: Section) -> tuple[Filter, ...]:
    return tuple(one for node in section.items("seriesFilters") for one in _filter(section.notes, node))


def _filter(notes: Notes, node: Node) -> list[Filter]:
    section = Section(notes, [node], ("is", "isNot"))
    given = [key for key in ("is", "isNot") if section.text(key)]
    is_judgeable = not section.meant and not any(_is_no_text(section.node(key)) for key in ("is", "isNot"))
    if len(given) != 1 and is_judgeable and (section.given or fields.is_absent(node)):
        what = "both `is` and `isNot`" if given else "neither `is` nor `isNot`"
        notes.error(node, "bad-filter", f"a filter with {what}", "give exactly one of the two")
    compiled = [(expressions.pattern(section, key), key == "is") for key in given]
    return [Filter(pattern, wanted) for pattern, wanted in compiled if pattern]


def _is_no_text(node: Node | None) -> bool:
    return node is not None and (not isinstance(node, Scalar) or node.fault is not None)


def _warn_of_no_mapping(notes: Notes, at: Node, rule: Rule, *, external: bool) -> None:
    """Upstream accepts in silence what can never answer."""
    if external and rule.namespaced:
        message = "neither `template` nor `overrides` says which label is the namespace: requests will fail"
        notes.warn(at, "no-mapping", message, "add an override for it, or `namespaced: false`")
    elif not external:
        message = "neither `template` nor `overrides` maps a label to a resource: nothing is on offer"
        notes.warn(at, "no-mapping", message, "add for example `overrides: {pod: {resource: pod}}`")
