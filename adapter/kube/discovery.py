"""Which kinds the cluster serves: those of the groups that rules need, or all of them.

A group-version that does not answer is left out and told to the log once; the others do not wait for its
repair.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec

from adapter import errors
from adapter.kube.client import JSON, KubeClient
from adapter.kube.failures import BadAnswer, KubeError, NoCredentials, Unreachable
from adapter.telemetry import logs
from adapter.wire.resources import Kinds, Resource

_AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
ACCEPT_ALL: Final = ",".join((_AGGREGATED.format("v2"), _AGGREGATED.format("v2beta1"), JSON))
"""The newest form that the server has; before 1.26 it has only the old one, a request per group-version."""

REQUESTS_AT_ONCE: Final = 8
"""For servers with only the old form: quick, and below what API priority and fairness would queue."""

SECONDS: Final = 10.0
"""One document. An extension server that hangs must not hold up the others."""

T = TypeVar("T")

log = logs.get("kube")


class _ResponseKind(msgspec.Struct, gc=False):
    kind: str = ""


class _Served(msgspec.Struct, gc=False, rename="camel"):
    """A resource in the aggregated form."""

    resource: str
    response_kind: _ResponseKind | None = None
    scope: str = ""
    singular_resource: str = ""


class _ServedVersion(msgspec.Struct):
    version: str
    resources: list[_Served] | None = None
    freshness: str = ""


class _Named(msgspec.Struct, gc=False):
    name: str = ""


class _ServedGroup(msgspec.Struct):
    metadata: _Named = msgspec.field(default_factory=_Named)
    versions: list[_ServedVersion] | None = None


class _Aggregated(msgspec.Struct):
    kind: str
    items: list[_ServedGroup] | None = None


class _Version(msgspec.Struct, gc=False):
    version: str


class _Group(msgspec.Struct, rename="camel"):
    """A group in the old form."""

    name: str
    versions: list[_Version]
    preferred_version: _Version | None = None


class _GroupList(msgspec.Struct):
    groups: list[_Group] | None = None


class _Entry(msgspec.Struct, gc=False, rename="camel"):
    """A resource in the old form."""

    name: str
    kind: str = ""
    namespaced: bool = False
    singular_name: str = ""


class _Entries(msgspec.Struct):
    resources: list[_Entry] | None = None


@dataclass(frozen=True, slots=True)
class _GroupVersion:
    group: str
    version: str

    def __str__(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def path(self) -> str:
        return f"/apis/{self}" if self.group else f"/api/{self}"


CORE: Final = _GroupVersion("", "v1")


class Discovery:
    """This asks one API server for its kinds."""

    def __init__(self, kube: KubeClient) -> None:
        self._kube = kube
        self._gate = asyncio.Semaphore(REQUESTS_AT_ONCE)
        self._missing: frozenset[str] = frozenset()

    async def kinds(self, groups: frozenset[str] | None) -> Kinds:
        """The kinds of these groups ("" is core; None: of all, by one request each to /api and /apis).

        Raises StillStarting while there is no answer.
        """
        missing: dict[str, KubeError] = {}
        try:
            found = await (self._all(missing) if groups is None else self._some(groups, missing))
        except KubeError as error:
            raise _unknown(error) from error
        if str(CORE) in missing:  # without pods and namespaces nothing can be said
            raise _unknown(missing[str(CORE)])
        if missing and not found:
            raise _unknown(next(iter(missing.values())))
        self._tell(missing)
        return Kinds.of(found)

    # -- all, in one go

    async def _all(self, missing: dict[str, KubeError]) -> list[Resource]:
        core, others = await asyncio.gather(
            self._kube.get_bytes("/api", accept=ACCEPT_ALL, timeout=SECONDS),
            self._kube.get_bytes("/apis", accept=ACCEPT_ALL, timeout=SECONDS),
        )
        core_groups, other_groups = _aggregated(core), _aggregated(others)
        if core_groups is not None and other_groups is not None:
            return list(_served([*core_groups, *other_groups], missing))
        listed = _decoded(others, _GroupList).groups or []
        wanted = [CORE, *(one for group in listed for one in _in_order(group))]
        return await self._entries(wanted, missing)

    # -- some, each by itself

    async def _some(self, groups: frozenset[str], missing: dict[str, KubeError]) -> list[Resource]:
        named = sorted(groups - {""})
        found = await asyncio.gather(*(self._versions(group, missing) for group in named))
        wanted = [CORE] if "" in groups else []
        return await self._entries([*wanted, *(one for versions in found for one in versions)], missing)

    async def _versions(self, group: str, missing: dict[str, KubeError]) -> list[_GroupVersion]:
        found = await self._tried(f"/apis/{group}", group, missing, _Group)
        return _in_order(found) if found else []

    async def _entries(
        self, wanted: Sequence[_GroupVersion], missing: dict[str, KubeError]
    ) -> list[Resource]:
        found = await asyncio.gather(*(self._tried(one.path, str(one), missing, _Entries) for one in wanted))
        pairs = zip(wanted, found, strict=True)
        return [one for where, listed in pairs if listed for one in _listed(where, listed.resources or ())]

    async def _tried(self, path: str, what: str, missing: dict[str, KubeError], form: type[T]) -> T | None:
        async with self._gate:
            try:
                return _decoded(await self._kube.get_bytes(path, timeout=SECONDS), form)
            except KubeError as error:
                missing[what] = error
                return None

    def _tell(self, missing: dict[str, KubeError]) -> None:
        for what in sorted(missing.keys() - self._missing):
            error = missing[what]
            log.warning("kinds_missing", extra={"what": what, "cause": error.cause, "text": str(error)})
        for what in sorted(self._missing - missing.keys()):
            log.info("kinds_back", extra={"what": what})
        self._missing = frozenset(missing)


def _unknown(error: KubeError) -> errors.StillStarting:
    away = isinstance(error, Unreachable | NoCredentials)
    return errors.StillStarting(
        f"the kinds of the cluster are not known: {error.cause}",
        next_step="check that the API server is reachable and that the adapter's credentials are valid"
        if away
        else "the API server refuses discovery to the adapter; grant it system:discovery",
    )


def _decoded(body: bytes, form: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=form)
    except msgspec.MsgspecError as error:
        raise BadAnswer(str(error)) from error


def _aggregated(body: bytes) -> list[_ServedGroup] | None:
    """The groups, or None if the server answered in the old form."""
    found = _decoded(body, _Aggregated)
    return (found.items or []) if found.kind == "APIGroupDiscoveryList" else None


def _in_order(group: _Group) -> list[_GroupVersion]:
    """The preferred version first."""
    first = group.preferred_version.version if group.preferred_version else ""
    versions = sorted((one.version for one in group.versions), key=lambda version: version != first)
    return [_GroupVersion(group.name, version) for version in versions]


def _served(groups: Iterable[_ServedGroup], missing: dict[str, KubeError]) -> Iterable[Resource]:
    """The resources of the aggregated form, which has the preferred version first."""
    for group in groups:
        for version in group.versions or ():
            where = _GroupVersion(group.metadata.name, version.version)
            if version.freshness == "Stale":
                missing[str(where)] = BadAnswer("its extension server does not answer", "Stale")
            entries = (_as_entry(one) for one in version.resources or ())
            yield from _listed(where, entries)


def _as_entry(one: _Served) -> _Entry:
    kind = one.response_kind.kind if one.response_kind else ""
    return _Entry(one.resource, kind, one.scope == "Namespaced", one.singular_resource)


def _listed(where: _GroupVersion, entries: Iterable[_Entry]) -> Iterable[Resource]:
    """These as resources: without subresources, and without those that have no kind (metrics have none)."""
    for one in entries:
        if one.kind and "/" not in one.name:
            singular = one.singular_name or one.kind.lower()
            yield Resource(where.group, where.version, one.name, singular, one.kind, one.namespaced)
