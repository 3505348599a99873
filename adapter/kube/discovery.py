"""Which kinds the cluster serves: those of the groups that rules need, or all of them.

A group or version that does not answer keeps the kinds that it had (its extension server restarts, its rules
must not vanish); one that is not found (404) has none any more. Either is told to the log once, and the
others do not wait for its repair.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from adapter import errors
from adapter.kube import discovery_forms as forms
from adapter.kube.client import JSON, KubeClient
from adapter.kube.discovery_forms import CORE, GroupVersion
from adapter.kube.failures import BadAnswer, KubeError, NoCredentials, NotFound, Unreachable
from adapter.telemetry import logs
from adapter.wire.resources import Kinds, Resource

_AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
ACCEPT_ALL: Final = ",".join((_AGGREGATED.format("v2"), _AGGREGATED.format("v2beta1"), JSON))
"""The newest form that the server has; before 1.26 it has only the old one, a request per group-version."""

REQUESTS_AT_ONCE: Final = 8
"""For servers with only the old form: quick, and below what API priority and fairness would queue."""

SECONDS: Final = 10.0
"""One document. An extension server that hangs must not hold up the others."""

KEPT: Final = "kinds_kept"
MISSING: Final = "kinds_missing"
BACK: Final = "kinds_back"

T = TypeVar("T")

log = logs.get("kube")


@dataclass(slots=True)
class _Round:
    """What answered this time, and what did not: names of groups and of group-versions."""

    answered: set[str] = field(default_factory=set)
    failed: dict[str, KubeError] = field(default_factory=dict)


class Discovery:
    """This asks one API server for its kinds."""

    def __init__(self, kube: KubeClient) -> None:
        self._kube = kube
        self._gate = asyncio.Semaphore(REQUESTS_AT_ONCE)
        self._known: dict[str, dict[GroupVersion, tuple[Resource, ...]]] = {}
        """The newest kinds that were had, by group and version, the preferred version first."""

        self._told: dict[str, str] = {}
        """What the log was told last of a group or version that does not answer."""

    async def kinds(self, groups: frozenset[str] | None) -> Kinds:
        """The kinds of these groups ("" is core; None: of all, by one request each to /api and /apis).

        Raises StillStarting while there is no answer.
        """
        this = _Round()
        try:
            asked = await (self._all(this) if groups is None else self._some(groups, this))
        except KubeError as error:
            raise _unknown(error) from error
        if str(CORE) in this.failed:  # without pods and namespaces nothing can be said
            raise _unknown(this.failed[str(CORE)])
        listed = (found for group in asked for found in self._known.get(group, {}).values())
        known = [one for found in listed for one in found]
        if this.failed and not known:
            raise _unknown(next(iter(this.failed.values())))
        self._tell(this)
        return Kinds.of(known)

    # -- all, in one go

    async def _all(self, this: _Round) -> list[str]:
        """This learns all groups and returns their names, core first; groups of before are forgotten."""
        core, others = await asyncio.gather(
            self._kube.get_bytes("/api", accept=ACCEPT_ALL, timeout=SECONDS),
            self._kube.get_bytes("/apis", accept=ACCEPT_ALL, timeout=SECONDS),
        )
        core_groups, other_groups = forms.aggregated(core), forms.aggregated(others)
        if core_groups is not None and other_groups is not None:
            served = core_groups | other_groups
            for group, versions in served.items():
                self._keep(group, {one.where: _taken(one, this) for one in versions})
            names = list(served)
        else:
            listed = {CORE.group: [CORE]} | forms.groups(others)
            await asyncio.gather(*(self._learn(group, wanted, this) for group, wanted in listed.items()))
            names = list(listed)
        self._known = {name: self._known[name] for name in names}
        return names

    # -- some, each by itself

    async def _some(self, groups: frozenset[str], this: _Round) -> list[str]:
        """This learns these groups and returns their names, core first."""
        await asyncio.gather(*(self._ask(group, this) for group in groups))
        return sorted(groups)

    async def _ask(self, group: str, this: _Round) -> None:
        found: Sequence[GroupVersion] | None = [CORE]
        if group:
            found = await self._tried(f"/apis/{group}", group, forms.versions, this)
        if found is not None:
            await self._learn(group, found, this)

    async def _learn(self, group: str, versions: Sequence[GroupVersion], this: _Round) -> None:
        found = await asyncio.gather(
            *(self._tried(one.path, str(one), partial(forms.kinds, where=one), this) for one in versions)
        )
        self._keep(group, dict(zip(versions, found, strict=True)))

    async def _tried(
        self, path: str, what: str, read: Callable[[bytes], Sequence[T]], this: _Round
    ) -> Sequence[T] | None:
        """What is there; nothing if the server knows no such path, None if there was no answer."""
        async with self._gate:
            try:
                found = read(await self._kube.get_bytes(path, timeout=SECONDS))
            except KubeError as error:
                this.failed[what] = error
                return () if isinstance(error, NotFound) else None
        this.answered.add(what)
        return found

    # -- what is known, what is told

    def _keep(self, group: str, found: Mapping[GroupVersion, Sequence[Resource] | None]) -> None:
        """These are the kinds of `group` now; a version that did not answer (None) has those of before."""
        old = self._known.get(group, {})
        self._known[group] = {
            where: old.get(where, ()) if listed is None else tuple(listed) for where, listed in found.items()
        }

    def _tell(self, this: _Round) -> None:
        held = {name for group, versions in self._known.items() for name in _holding(group, versions)}
        for what, error in sorted(this.failed.items()):
            news = KEPT if what in held else MISSING
            if self._told.get(what) != news:
                self._told[what] = news
                log.warning(news, extra={"what": what, "cause": error.cause, "text": str(error)})
        for what in sorted(self._told.keys() & this.answered):
            del self._told[what]
            log.info(BACK, extra={"what": what})


def _taken(one: forms.Served, this: _Round) -> Sequence[Resource] | None:
    """The kinds of one version of the aggregated form; None if it has none because its server is away."""
    if not one.stale:
        this.answered.add(str(one.where))
        return one.resources
    this.failed[str(one.where)] = BadAnswer("its extension server does not answer", "Stale")
    return one.resources or None


def _holding(group: str, versions: Mapping[GroupVersion, Sequence[Resource]]) -> list[str]:
    """The names of the group and of its versions that have kinds."""
    found = [str(where) for where, listed in versions.items() if listed]
    return [group, *found] if found else []


def _unknown(error: KubeError) -> errors.StillStarting:
    away = isinstance(error, Unreachable | NoCredentials)
    return errors.StillStarting(
        f"the kinds of the cluster are not known: {error.cause}",
        next_step="check that the API server is reachable and that the adapter's credentials are valid"
        if away
        else "the API server refuses discovery to the adapter; grant it system:discovery",
    )
