"""Kinds and resources as plain data, and the lookup of a name as kube-apiserver's REST mapper does it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

ROOT_SCOPED = frozenset({"namespaces", "nodes", "persistentvolumes"})
"""Core resources whose metrics are registered without a namespace; upstream takes every other resource for
namespaced, whatever the cluster says (docs/upstream.md 2.3)."""


@dataclass(frozen=True, slots=True, order=True)
class GroupResource:
    """A resource without its version: `pods`, `deployments.apps`."""

    group: str
    resource: str

    def __str__(self) -> str:
        """`plural` for core, else `plural.group`."""
        return f"{self.resource}.{self.group}" if self.group else self.resource


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind that an API server serves. `namespaced` is what the cluster says of it."""

    group: str
    version: str
    plural: str
    singular: str
    kind: str
    namespaced: bool

    @property
    def key(self) -> GroupResource:
        """This resource without its version: the same in every list of this cluster."""
        return GroupResource(self.group, self.plural)

    @property
    def api_version(self) -> str:
        """group/version, with the slash also for core: `/v1` (docs/upstream.md 3.2)."""
        return f"{self.group}/{self.version}"

    @property
    def root_scoped(self) -> bool:
        """Whether its metrics are registered without a namespace."""
        return not self.group and self.plural in ROOT_SCOPED


PODS = Resource("", "v1", "pods", "pod", "Pod", namespaced=True)
NAMESPACES = Resource("", "v1", "namespaces", "namespace", "Namespace", namespaced=False)
"""The two that every cluster has, and nearly every question is about."""


@dataclass(frozen=True)
class Kinds:
    """The resources of a cluster, in the order of preference.

    Core comes first, then groups in the server's order, each with its preferred version before its others.

    Lookup rules (docs/upstream.md 2.3): names are lower-cased, plural and singular match, short names do not; with
    a group the exact one wins, else the first whose name begins with it.
    """

    resources: tuple[Resource, ...] = ()
    _by_name: dict[str, list[Resource]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for resource in self.resources:
            for name in {resource.plural, resource.singular}:
                self._by_name.setdefault(name.lower(), []).append(resource)

    @classmethod
    def of(cls, resources: Iterable[Resource]) -> "Kinds":
        """These resources, core v1 moved to the front, each in the given order otherwise."""
        return cls(tuple(sorted(resources, key=lambda one: bool(one.group))))

    def find(self, name: str, group: str = "") -> Resource | None:
        """The resource that `name` (and `group`, which may be a prefix) means, or None."""
        found = self._by_name.get(name.lower(), [])
        if not group:
            return found[0] if found else None
        group = group.lower()
        exact = [one for one in found if one.group == group]
        return next(iter(exact or [one for one in found if one.group.startswith(group)]), None)

    def parse(self, text: str) -> Resource | None:
        """The resource that a path segment (`pods`, `deployments.apps`, `Pod`) means, or None."""
        name, _, group = text.partition(".")
        return self.find(name, group)
