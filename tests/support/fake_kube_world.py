"""What a stand-in cluster holds: kinds, objects, and the history of their changes by resource version."""

import asyncio
import base64
import copy
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from adapter.wire import selectors

Body = dict[str, Any]

USUAL = """
v1                        Pod                      pods                      pod     log,status
v1                        Namespace                namespaces                -       status
v1                        Node                     nodes                     -       status,proxy
v1                        Service                  services                  service status
v1                        Endpoints                endpoints                 ns      -
v1                        ConfigMap                configmaps                ns      -
v1                        Secret                   secrets                   ns      -
v1                        ServiceAccount           serviceaccounts           ns      -
v1                        PersistentVolume         persistentvolumes         -       status
v1                        PersistentVolumeClaim    persistentvolumeclaims    ns      status
apps/v1                   Deployment               deployments               ns      scale,status
apps/v1                   StatefulSet              statefulsets              ns      scale,status
apps/v1                   DaemonSet                daemonsets                ns      status
apps/v1                   ReplicaSet               replicasets               ns      scale,status
autoscaling/v2,v1         HorizontalPodAutoscaler  horizontalpodautoscalers  ns      status
batch/v1                  Job                      jobs                      ns      status
batch/v1                  CronJob                  cronjobs                  ns      status
networking.k8s.io/v1      Ingress                  ingresses                 ns      status
storage.k8s.io/v1         StorageClass             storageclasses            -       -
discovery.k8s.io/v1       EndpointSlice            endpointslices            ns      -
apiregistration.k8s.io/v1 APIService               apiservices               -       status
rbac.authorization.k8s.io/v1 ClusterRole           clusterroles              -       -
rbac.authorization.k8s.io/v1 ClusterRoleBinding    clusterrolebindings       -       -
rbac.authorization.k8s.io/v1 Role                  roles                     ns      -
rbac.authorization.k8s.io/v1 RoleBinding           rolebindings              ns      -
authentication.k8s.io/v1  TokenReview              tokenreviews              -       -
authorization.k8s.io/v1   SubjectAccessReview      subjectaccessreviews      -       -
"""

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
REVIEWS = ("tokenreviews", "subjectaccessreviews")
"""These are only created, and never held."""


@dataclass(frozen=True)
class Kind:
    """One kind; the preferred version is the first."""

    group: str
    versions: tuple[str, ...]
    kind: str
    plural: str
    namespaced: bool = True
    subresources: tuple[str, ...] = ()
    singular: str | None = None
    """None: the kind in lower case; "" as some extension servers have it."""

    @property
    def verbs(self) -> tuple[str, ...]:
        return ("create",) if self.plural in REVIEWS else ALL_VERBS

    @property
    def name(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.versions[0]}" if self.group else self.versions[0]

    @property
    def singular_name(self) -> str:
        return self.kind.lower() if self.singular is None else self.singular


def usual_kinds() -> list[Kind]:
    """The kinds that a cluster usually has."""
    found = []
    for line in USUAL.strip().splitlines():
        where, kind, plural, scope, more = line.split()
        group, _, versions = where.rpartition("/")
        subresources = () if more == "-" else tuple(more.split(","))
        found.append(Kind(group, tuple(versions.split(",")), kind, plural, scope != "-", subresources))
    return found


def many_kinds(number: int) -> list[Kind]:
    """So many custom resources, each in a group of its own."""
    return [
        Kind(f"g{n:04}.example.com", ("v1", "v1beta1"), f"Thing{n:04}", f"thing{n:04}s")
        for n in range(number)
    ]


@dataclass(frozen=True)
class Selection:
    """Which objects a list or a watch is about."""

    namespace: str = ""
    labels: str = ""
    fields: str = ""

    def has(self, body: Body) -> bool:
        """Whether this object is among them. Fields: metadata.name and metadata.namespace with = and ==."""
        metadata = body["metadata"]
        if self.namespace and metadata.get("namespace", "") != self.namespace:
            return False
        for clause in filter(None, self.fields.split(",")):
            field_name, _, wanted = clause.replace("==", "=").partition("=")
            if metadata.get(field_name.removeprefix("metadata."), "") != wanted:
                return False
        return not self.labels or selectors.parse(self.labels).matches(metadata.get("labels") or {})


@dataclass(frozen=True)
class Happening:
    """One change, as a watch tells it."""

    version: int
    kind: Kind
    word: str
    body: Body


@dataclass(frozen=True)
class Page:
    """A part of a list; `token` leads to the next one."""

    items: list[Body]
    version: int
    token: str = ""
    remaining: int = 0


class Expired(Exception):
    """The version, or the page, is older than what the history holds."""


@dataclass
class World:
    """Kinds and objects; every change gets the next version and is told to all watchers."""

    kinds: list[Kind] = field(default_factory=usual_kinds)
    version: int = 100
    oldest: int = 0
    """History below this version is forgotten."""

    objects: dict[Kind, dict[tuple[str, str], Body]] = field(default_factory=dict)
    history: list[Happening] = field(default_factory=list)
    watchers: set[asyncio.Queue[Any]] = field(default_factory=set)
    _snapshots: dict[tuple[int, Kind, Selection], list[Body]] = field(default_factory=dict)

    def kind(self, name: str) -> Kind:
        """By `pods` or `deployments.apps`, by `Pod` or `apps/v1 Deployment`."""
        for one in self.kinds:
            if name in (one.name, one.kind, f"{one.api_version} {one.kind}"):
                return one
        raise LookupError(name)

    def put(self, kind: Kind, body: Body) -> Body:
        """This object is there from now on, or changed."""
        metadata = body.setdefault("metadata", {})
        key = (metadata.get("namespace") or "" if kind.namespaced else "", metadata["name"])
        held = self.objects.setdefault(kind, {})
        word = "MODIFIED" if key in held else "ADDED"
        metadata.setdefault("uid", f"{kind.plural}-{key[0]}-{key[1]}")
        metadata.setdefault("creationTimestamp", "2026-11-30T06:00:00Z")
        held[key] = {"apiVersion": kind.api_version, "kind": kind.kind} | body
        self._happened(kind, word, held[key])
        return held[key]

    def delete(self, kind: Kind, namespace: str, name: str) -> None:
        """This object is no more."""
        body = self.objects[kind].pop((namespace, name))
        self._happened(kind, "DELETED", body | {"metadata": dict(body["metadata"])})

    def forget(self) -> None:
        """All history and all pages are too old from now on, as after a compaction."""
        self.version += 1
        self.oldest = self.version
        self.history.clear()
        self._snapshots.clear()

    def since(self, kind: Kind, version: int) -> list[Happening]:
        """What happened to this kind after `version`. Raises Expired."""
        if version < self.oldest:
            raise Expired(f"too old resource version: {version} ({self.oldest})")
        return [one for one in self.history if one.version > version and one.kind == kind]

    def listed(self, kind: Kind, selection: Selection, limit: int, token: str) -> Page:
        """A page of the list as it was when its first page was asked for. Raises Expired."""
        version, start = _unpacked(token) if token else (self.version, 0)
        snapshot = self._snapshots.get((version, kind, selection))
        if snapshot is None and token:
            raise Expired("The provided continue parameter is too old to display a consistent list result.")
        if snapshot is None:
            snapshot = list(self._sorted(kind, selection))
        end = start + limit if limit else len(snapshot)
        remaining = max(0, len(snapshot) - end)
        if not remaining:
            self._snapshots.pop((version, kind, selection), None)
            return Page(snapshot[start:], version)
        self._snapshots[version, kind, selection] = snapshot
        return Page(snapshot[start:end], version, _packed(version, end), remaining)

    def _sorted(self, kind: Kind, selection: Selection) -> Iterator[Body]:
        for _, body in sorted(self.objects.get(kind, {}).items(), key=lambda one: one[0]):
            if selection.has(body):
                yield body

    def _happened(self, kind: Kind, word: str, body: Body) -> None:
        self.version += 1
        body["metadata"]["resourceVersion"] = str(self.version)
        happening = Happening(self.version, kind, word, copy.deepcopy(body))
        self.history.append(happening)
        for watcher in self.watchers:
            watcher.put_nowait(happening)


def _packed(version: int, start: int) -> str:
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": version, "start": str(start)})
    return base64.urlsafe_b64encode(text.encode()).decode()


def _unpacked(token: str) -> tuple[int, int]:
    found = json.loads(base64.urlsafe_b64decode(token))
    return found["rv"], int(found["start"])


def documents(found: Iterable[Body | None]) -> Iterator[Body]:
    """Each object of these documents; lists are opened."""
    for one in found:
        if one and "items" in one:
            yield from one["items"] or ()
        elif one:
            yield one
