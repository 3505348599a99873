"""Which kinds of objects the rules name: these the adapter must be allowed to list and to watch, and no others.

Without a cluster to ask, a kind is looked up among those that clusters usually have. Of any other the plural, which
rights go by, is guessed from the name in the rule.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from adapter.rulebook.model import Override, Rule
from adapter.wire.resources import NAMESPACES, PODS, GroupResource, Kinds

ALWAYS: Final = (NAMESPACES.key, PODS.key)
"""What every adapter follows, whatever its rules say (docs/design.md D11)."""

HISSING: Final = ("x", "z", "ch", "sh")
"""Ends of words whose plural takes `es`."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What rules need. Each value names the rules that want it, in their order; none for what is always followed."""

    resources: dict[GroupResource, tuple[str, ...]]
    guessed: frozenset[GroupResource]
    """Those of `resources` whose plural is a guess."""

    unknown: dict[str, tuple[str, ...]]
    """Names that stand without their group, and are not usual: nobody can say here what they mean."""

    open: tuple[str, ...]
    """Rules with a template: which kinds their labels mean, the series tell, and nothing else."""


def of(rules: Iterable[Rule], kinds: Kinds) -> Needs:
    """What these rules need, in a cluster that has the kinds of `kinds`, and perhaps others."""
    rules = tuple(rules)
    resources: dict[GroupResource, tuple[str, ...]] = dict.fromkeys(ALWAYS, ())
    unknown: dict[str, tuple[str, ...]] = {}
    guessed = set()
    for rule in rules:
        for override in rule.mapping.overrides:
            known = kinds.find(override.resource, override.group)
            if known is None and not override.group:
                unknown[override.resource] = _with(unknown.get(override.resource, ()), rule)
                continue
            key = known.key if known else _guess(override)
            if known is None:
                guessed.add(key)
            resources[key] = _with(resources.get(key, ()), rule)
    return Needs(
        dict(sorted(resources.items())),
        frozenset(guessed),
        unknown,
        tuple(rule.id for rule in rules if rule.mapping.derived is not None),
    )


def _with(ids: tuple[str, ...], rule: Rule) -> tuple[str, ...]:
    return ids if rule.id in ids else (*ids, rule.id)


def _guess(override: Override) -> GroupResource:
    """The plural as custom resources usually have it; a name that ends in s is taken for one already."""
    name = override.resource.lower()
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        name = name[:-1] + "ies"
    elif not name.endswith("s"):
        name += "es" if name.endswith(HISSING) else "s"
    return GroupResource(override.group.lower(), name)
