"""The table of metrics on offer. Immutable: a relist makes a new one, and a reader keeps the one it began with."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from adapter import errors
from adapter.rulebook.mapping import BoundMapping
from adapter.rulebook.model import Rule
from adapter.wire.resources import GroupResource, Kinds, Resource


@dataclass(frozen=True, slots=True)
class Key:
    """What a request names: the same metric exists apart for each resource, and with and without a namespace."""

    resource: GroupResource
    namespaced: bool
    metric: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One metric of one resource: the series it comes from and the rule that turns it into a query."""

    resource: Resource
    metric: str
    series: str
    rule: Rule
    mapping: BoundMapping


@dataclass(frozen=True)
class Catalog:
    """All metrics on offer, and the kinds by which resource names are understood."""

    entries: Mapping[Key, Entry] = field(default_factory=dict)
    kinds: Kinds = field(default_factory=Kinds)

    def find(self, *, resource: str, namespaced: bool, metric: str) -> Entry:
        """The entry that a request means; `resource` is as written in the path.

        Raises MetricUnknown, with upstream's text: the resource as the caller wrote it.
        """
        known = self.kinds.parse(resource)
        entry = self.entries.get(Key(known.key, namespaced, metric)) if known else None
        if entry is None:
            raise errors.MetricUnknown(not_found(metric, resource))
        return entry

    def names(self) -> tuple[tuple[str, bool], ...]:
        """(`resource/metric`, namespaced) of every entry, as discovery lists them."""
        return tuple((f"{key.resource}/{key.metric}", key.namespaced) for key in self.entries)


def not_found(metric: str, resource: str, name: str = "") -> str:
    """Upstream's sentence for anything that is missing (docs/upstream.md 3.4)."""
    words = f"the server could not find the metric {metric} for {resource}"
    return f"{words} {name}" if name else words
