"""The block `resources` of a rule: which labels stand for which resources."""

from typing import Final

from adapter.rulebook import expressions, fields, findings
from adapter.rulebook.fields import Notes, Section
from adapter.rulebook.model import LabelMapping, Override
from adapter.rulebook.yaml_nodes import Mapping, Node, Scalar

KEYS: Final = ("template", "overrides", "namespaced")


def mapping(section: Section) -> LabelMapping:
    """The mapping of this block. Whether the cluster knows the resources is seen by mapping.bind()."""
    return LabelMapping(
        overrides=_overrides(section),
        derived=expressions.label(section, "template"),
        rule=section.notes.rule,
    )


def _overrides(section: Section) -> tuple[Override, ...]:
    first: dict[str, Scalar] = {}
    result = []
    for node in section.nodes("overrides"):
        if not isinstance(node, Mapping):
            fields.wrong_type(section.notes, node, "a mapping")
            continue
        for key, value in node.merged():
            if key.text in first:
                fields.note_repeated(section.notes, key, first[key.text])
                continue
            first[key.text] = key
            result.append(_override(section.notes, key, value))
    return tuple(result)


def _override(notes: Notes, key: Scalar, value: Node) -> Override:
    label = findings.shown(key.text)
    if isinstance(value, Scalar) and not value.fault and not value.is_null:
        found = findings.shown(value.value)
        advice = f"write `{label}: {{resource: {found}}}`"
        notes.error(value, "wrong-type", f"expected a mapping, found `{found}`", advice)
        return Override(key.text, "", "", notes.position(key))
    entry = Section(notes, [value], ("group", "resource"))
    resource = entry.node("resource")
    is_nameless = resource is None or (isinstance(resource, Scalar) and not resource.text)
    if is_nameless and (entry.given or fields.is_absent(value)):
        message = f"the override of the label `{label}` names no resource"
        notes.error(key, "missing-key", message, f"write for example `{label}: {{resource: pod}}`")
    return Override(
        label=key.text,
        group=entry.text("group"),
        resource=entry.text("resource"),
        position=notes.position(key),
        length=key.place.length,
    )
