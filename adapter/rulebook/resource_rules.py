"""The entry `resourceRules`: CPU and memory of pods and nodes. Usable as a whole or not at all."""

from typing import Final

from adapter.rulebook import expressions, fields, resources_block
from adapter.rulebook.fields import Section
from adapter.rulebook.model import ResourceRule, ResourceRules
from adapter.rulebook.yaml_nodes import Node

_KEYS: Final = ("cpu", "memory", "window")
_RULE_KEYS: Final = ("containerQuery", "nodeQuery", "resources", "containerLabel")


def read(top: Section) -> ResourceRules | None:
    """What the file says of resource metrics, None if it says nothing or has a mistake there."""
    nodes = top.nodes("resourceRules")
    if not nodes:
        return None
    notes = top.notes
    with notes.about("resourceRules") as free_of_errors:
        for node in nodes:
            fields.check(notes, node)
        section = Section(notes, nodes, _KEYS)
        at = top.key("resourceRules") or nodes[-1]
        rules = ResourceRules(
            position=notes.position(at),
            cpu=_rule(section, "cpu"),
            memory=_rule(section, "memory"),
            window_seconds=section.duration("window") or 0.0,
        )
        if not free_of_errors():
            return None
        for key, rule in (("cpu", rules.cpu), ("memory", rules.memory)):
            _warn_of_gaps(section, key, at, rule)
        return rules


def _rule(parent: Section, key: str) -> ResourceRule:
    with parent.notes.about(f"resourceRules.{key}"):
        section = parent.section(key, _RULE_KEYS)
        resources = section.section("resources", resources_block.KEYS)
        resources.boolean("namespaced")  # accepted, without effect, but a boolean
        return ResourceRule(
            container_query=expressions.query(section, "containerQuery"),
            node_query=expressions.query(section, "nodeQuery"),
            mapping=resources_block.mapping(resources),
            container_label=section.text("containerLabel"),
        )


def _warn_of_gaps(parent: Section, key: str, above: Node, rule: ResourceRule) -> None:
    """Upstream starts without all of these, and pods or nodes have no values."""
    notes, at = parent.notes, parent.key(key) or above
    if parent.node(key) is None:
        notes.warn(at, "missing-key", f"no `{key}`: neither pods nor nodes will have resource metrics")
        return
    if not rule.container_query.source:
        notes.warn(at, "missing-key", f"`{key}` has no `containerQuery`: pods will have no resource metrics")
    if not rule.node_query.source:
        notes.warn(at, "missing-key", f"`{key}` has no `nodeQuery`: nodes will have no resource metrics")
    if rule.mapping.is_empty:
        message = f"`{key}` has neither `template` nor `overrides`: no label stands for pods and nodes"
        notes.warn(at, "no-mapping", message, "add overrides for namespace, pod and node")
