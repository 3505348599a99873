"""Labels and resources, both ways, for the kinds of one cluster (docs/upstream.md 2.3, 2.4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from adapter.promql import template
from adapter.rulebook import findings, hints
from adapter.rulebook.findings import Finding
from adapter.rulebook.model import LabelMapping, LabelTemplate, Override
from adapter.wire.resources import GroupResource, Kinds, Resource

CORE: Final = frozenset(
    {"configmap", "endpoints", "event", "limitrange", "namespace", "node", "persistentvolume"}
    | {"persistentvolumeclaim", "pod", "podtemplate", "replicationcontroller", "resourcequota", "secret"}
    | {"service", "serviceaccount"}
)
"""Core kinds of every cluster: core comes first in any lookup, so no other group need be asked for these."""

FULL_NAMES: Final = frozenset({"apps", "autoscaling", "batch", "policy"})
"""Groups without a dot that are complete; any other might be the beginning of a longer one."""


@dataclass(frozen=True, slots=True)
class BoundMapping:
    """A mapping whose overrides are resolved. Made by bind()."""

    derived: LabelTemplate | None
    kinds: Kinds
    by_label: Mapping[str, Resource]
    by_resource: Mapping[GroupResource, str]

    def resource_of(self, label: str) -> Resource | None:
        """The resource that a label stands for; None for a label like any other."""
        if label in self.by_label:
            return self.by_label[label]
        if self.derived is None:
            return None
        name = self.derived.pattern.expand(self.derived.resource, label)
        if not name:
            return None
        group = self.derived.pattern.expand(self.derived.group, label) if self.derived.group else ""
        return self.kinds.find(name, group or "")

    def label_of(self, resource: Resource) -> str | None:
        """The label that stands for a resource; None if neither override nor template names one.

        Of two overrides the first in the file counts (upstream: a random one).
        """
        if resource.key in self.by_resource:
            return self.by_resource[resource.key]
        if self.derived is None:
            return None
        group = resource.group.replace(".", "_").replace("-", "_")
        names = template.Struct("schema.GroupResource", {"Group": group, "Resource": resource.singular})
        try:
            return self.derived.template.render(names) or None
        except template.TemplateError:
            return None


def bind(mapping: LabelMapping, kinds: Kinds) -> BoundMapping | list[Finding]:
    """The mapping in this cluster, or a finding for each override whose resource it does not know."""
    by_label: dict[str, Resource] = {}
    by_resource: dict[GroupResource, str] = {}
    unknown = []
    for override in mapping.overrides:
        resource = kinds.find(override.resource, override.group)
        if resource is None:
            unknown.append(_unknown(override, kinds, mapping.rule))
        else:
            by_label[override.label] = resource
            by_resource.setdefault(resource.key, override.label)
    return unknown or BoundMapping(mapping.derived, kinds, by_label, by_resource)


def groups_needed(mapping: LabelMapping) -> frozenset[str] | None:
    """The API groups that bind() must know, "" being core; None if it must know all.

    A group with a dot is taken for complete. Upstream also accepts the beginning of one, so a caller whose
    bind() fails with these groups asks for all before it believes that.
    """
    if mapping.derived is not None:
        return None
    groups = {_group_of(one) for one in mapping.overrides}
    return None if None in groups else frozenset(one for one in groups if one is not None)


def _group_of(override: Override) -> str | None:
    if override.group:
        group = override.group.lower()
        return group if group in FULL_NAMES or "." in group else None
    name = override.resource.lower()
    return "" if name in CORE or name.removesuffix("s") in CORE else None


def _unknown(override: Override, kinds: Kinds, rule: str | None) -> Finding:
    name = f"{override.resource}.{override.group}" if override.group else override.resource
    elsewhere = kinds.find(override.resource) or kinds.parse(override.resource)
    if elsewhere is not None:
        advice = f"write `{{group: {elsewhere.group}, resource: {elsewhere.plural}}}`"
    else:
        near = findings.nearest(override.resource, [one.plural for one in kinds.resources])
        advice = f"did you mean `{near}`?" if near else hints.UNKNOWN_RESOURCE
    return Finding(
        override.position,
        "unknown-resource",
        f"the cluster has no resource `{findings.shown(name)}`",
        advice,
        rule=rule,
        length=override.length,
    )
