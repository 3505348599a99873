"""Discovery documents as the API server writes them: bytes in, versions and kinds out.

There are two forms: the old one is a document per group and per version, the aggregated one (1.26) is all in
one. Every function raises BadAnswer for what is no such document.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec

from adapter.kube.failures import BadAnswer
from adapter.wire.resources import Resource

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GroupVersion:
    """One version of a group; "" is core."""

    group: str
    version: str

    def __str__(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def path(self) -> str:
        """Where its kinds are listed."""
        return f"/apis/{self}" if self.group else f"/api/{self}"


CORE: Final = GroupVersion("", "v1")


@dataclass(frozen=True, slots=True)
class Served:
    """The kinds of one version; `stale`: its extension server did not answer the API server."""

    where: GroupVersion
    resources: tuple[Resource, ...]
    stale: bool = False


class _ResponseKind(msgspec.Struct, gc=False):
    kind: str = ""


class _AggregatedEntry(msgspec.Struct, gc=False, rename="camel"):
    resource: str
    response_kind: _ResponseKind | None = None
    scope: str = ""
    singular_resource: str = ""


class _AggregatedVersion(msgspec.Struct):
    version: str
    resources: list[_AggregatedEntry] | None = None
    freshness: str = ""


class _Named(msgspec.Struct, gc=False):
    name: str = ""


class _AggregatedGroup(msgspec.Struct):
    metadata: _Named = msgspec.field(default_factory=_Named)
    versions: list[_AggregatedVersion] | None = None


class _Aggregated(msgspec.Struct):
    kind: str
    items: list[_AggregatedGroup] | None = None


class _Version(msgspec.Struct, gc=False):
    version: str


class _Group(msgspec.Struct, rename="camel"):
    name: str
    versions: list[_Version]
    preferred_version: _Version | None = None


class _Groups(msgspec.Struct):
    groups: list[_Group] | None = None


class _Entry(msgspec.Struct, gc=False, rename="camel"):
    name: str
    kind: str = ""
    namespaced: bool = False
    singular_name: str = ""


class _Entries(msgspec.Struct):
    resources: list[_Entry] | None = None


def aggregated(body: bytes) -> dict[str, list[Served]] | None:
    """By group, or None if the server answered in the old form. The preferred version comes first."""
    found = _decoded(body, _Aggregated)
    if found.kind != "APIGroupDiscoveryList":
        return None
    return {group.metadata.name: list(_served(group)) for group in found.items or ()}


def groups(body: bytes) -> dict[str, list[GroupVersion]]:
    """The versions of each group of the old form, the preferred ones first."""
    return {one.name: _in_order(one) for one in _decoded(body, _Groups).groups or ()}


def versions(body: bytes) -> list[GroupVersion]:
    """The versions of one group of the old form, the preferred one first."""
    return _in_order(_decoded(body, _Group))


def kinds(body: bytes, where: GroupVersion) -> tuple[Resource, ...]:
    """The kinds of one version of the old form."""
    return tuple(_kinds(where, _decoded(body, _Entries).resources or ()))


def _served(group: _AggregatedGroup) -> Iterator[Served]:
    for one in group.versions or ():
        where = GroupVersion(group.metadata.name, one.version)
        entries = [_entry(entry) for entry in one.resources or ()]
        yield Served(where, tuple(_kinds(where, entries)), stale=one.freshness == "Stale")


def _entry(one: _AggregatedEntry) -> _Entry:
    kind = one.response_kind.kind if one.response_kind else ""
    return _Entry(one.resource, kind, one.scope == "Namespaced", one.singular_resource)


def _in_order(group: _Group) -> list[GroupVersion]:
    first = group.preferred_version.version if group.preferred_version else ""
    found = sorted((one.version for one in group.versions), key=lambda version: version != first)
    return [GroupVersion(group.name, version) for version in found]


def _kinds(where: GroupVersion, entries: Sequence[_Entry]) -> Iterable[Resource]:
    """Without subresources, and without those that have no kind (metrics have none)."""
    for one in entries:
        if one.kind and "/" not in one.name:
            singular = one.singular_name or one.kind.lower()
            yield Resource(where.group, where.version, one.name, singular, one.kind, one.namespaced)


def _decoded(body: bytes, form: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=form)
    except msgspec.MsgspecError as error:
        raise BadAnswer(str(error)) from error
