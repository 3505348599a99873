"""The rule file of prometheus-adapter: text in, rulebook and findings out. No text makes it raise.

A rule with a mistake is left out, the others stay. In compat mode an error is what stops upstream, and
what is beyond our bounds on size, depth and number.
"""

from typing import Final

from adapter.rulebook import fields, resource_rules, rule_entry, yaml_text
from adapter.rulebook.fields import Notes, Section
from adapter.rulebook.model import Rule, Rulebook
from adapter.rulebook.yaml_nodes import Mapping, Node, Scalar, Sequence

MAX_RULES: Final = 1000
"""Of both lists together: each costs a series query per relist, and nobody has a tenth of this."""

_TOP: Final = ("rules", "externalRules", "resourceRules")


def parse(text: str, file: str, *, compat: bool, prefix: str = "") -> Rulebook:
    """The rulebook of one file. `prefix` goes before the rules' ids, where several files make one."""
    notes = Notes(file, text, compat=compat, prefix=prefix)
    try:
        root = yaml_text.compose(text)
    except yaml_text.Unreadable as error:
        notes.error(error.place, error.fault.word, error.fault.message, error.fault.suggestion)
        return Rulebook(findings=notes.found)
    if root is None:
        return Rulebook()
    top = _top(notes, root)
    rules = _rules(top, "rules", room=MAX_RULES)
    external = _rules(top, "externalRules", room=MAX_RULES - _entries(top, "rules"))
    resource = resource_rules.read(top)
    return Rulebook(rules, external, resource, notes.found)


def fatal(rulebook: Rulebook) -> bool:
    """Whether there is an error: `check` fails, and compat mode does not start."""
    return any(one.severity == "error" for one in rulebook.findings)


def _top(notes: Notes, root: Node) -> Section:
    fields.check(notes, root, deep=False)
    if isinstance(root, Sequence):
        notes.error(root, "wrong-type", "expected a mapping, found a list", "put the list under `rules:`")
        return Section(notes, [], _TOP)
    if isinstance(root, Mapping):
        for key, value in root.pairs:
            if isinstance(key, Scalar) and key.text not in _TOP:
                fields.check(notes, value)
    return Section(notes, [root], _TOP)


def _entries(top: Section, key: str) -> int:
    node = top.node(key)
    return min(len(node.items), MAX_RULES) if isinstance(node, Sequence) else 0


def _rules(top: Section, key: str, *, room: int) -> tuple[Rule, ...]:
    """The usable rules of a list. Of a key given twice (an error) all are read, and the last one counts."""
    last: tuple[Rule, ...] = ()
    for node in top.nodes(key):
        fields.check(top.notes, node, deep=False)
        if not isinstance(node, Sequence):
            fields.wrong_type(top.notes, node, "a list")
            continue
        if len(node.items) > room:
            message = f"more than {MAX_RULES:,} rules: from here on they are left out"
            top.notes.error(node.items[room], "too-many-rules", message)
        read = [rule_entry.read(top.notes, item, key, index) for index, item in enumerate(node.items[:room])]
        last = tuple(one for one in read if one)
    return last
