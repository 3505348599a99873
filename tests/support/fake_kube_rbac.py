"""Who may do what in a stand-in cluster: RBAC over the roles and bindings that it holds, and a few that all have."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from tests.support.fake_kube_world import Body, World

MASTERS = "system:masters"
AUTHENTICATED, UNAUTHENTICATED = "system:authenticated", "system:unauthenticated"
API = "rbac.authorization.k8s.io"

BOOTSTRAP = """
- {kind: ClusterRole, metadata: {name: cluster-admin}, rules: [
    {apiGroups: ["*"], resources: ["*"], verbs: ["*"]}, {nonResourceURLs: ["*"], verbs: ["*"]}]}
- {kind: ClusterRole, metadata: {name: "system:discovery"}, rules: [{verbs: [get], nonResourceURLs: [
    /api, "/api/*", /apis, "/apis/*", /healthz, /livez, /openapi, "/openapi/*", /readyz, /version, /version/]}]}
- {kind: ClusterRole, metadata: {name: "system:public-info-viewer"}, rules: [{verbs: [get], nonResourceURLs: [
    /healthz, /livez, /readyz, /version, /version/]}]}
- {kind: ClusterRole, metadata: {name: "system:auth-delegator"}, rules: [
    {apiGroups: [authentication.k8s.io], resources: [tokenreviews], verbs: [create]},
    {apiGroups: [authorization.k8s.io], resources: [subjectaccessreviews], verbs: [create]}]}
- {kind: ClusterRole, metadata: {name: "system:controller:horizontal-pod-autoscaler"}, rules: [
    {apiGroups: [custom.metrics.k8s.io, external.metrics.k8s.io], resources: ["*"], verbs: [get, list, watch]},
    {apiGroups: [metrics.k8s.io], resources: [pods], verbs: [list]}]}
- {kind: Role, metadata: {name: extension-apiserver-authentication-reader, namespace: kube-system}, rules: [
    {apiGroups: [""], resources: [configmaps], resourceNames: [extension-apiserver-authentication],
     verbs: [get, list, watch]}]}
- {kind: ClusterRoleBinding, metadata: {name: "system:discovery"}, roleRef: {kind: ClusterRole, name: "system:discovery"},
   subjects: [{kind: Group, name: "system:authenticated"}]}
- {kind: ClusterRoleBinding, metadata: {name: "system:public-info-viewer"},
   roleRef: {kind: ClusterRole, name: "system:public-info-viewer"},
   subjects: [{kind: Group, name: "system:authenticated"}, {kind: Group, name: "system:unauthenticated"}]}
- {kind: ClusterRoleBinding, metadata: {name: "system:controller:horizontal-pod-autoscaler"},
   roleRef: {kind: ClusterRole, name: "system:controller:horizontal-pod-autoscaler"},
   subjects: [{kind: ServiceAccount, name: horizontal-pod-autoscaler, namespace: kube-system}]}
"""
"""Of what kube-apiserver makes at its first start, the part that matters here."""

HELD: list[Body] = yaml.safe_load(BOOTSTRAP)


@dataclass(frozen=True)
class User:
    """Who asks."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


ANONYMOUS = User("system:anonymous", (UNAUTHENTICATED,))


@dataclass(frozen=True)
class Attributes:
    """What is asked for: a path, or a resource."""

    verb: str
    path: str = ""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    namespace: str = ""


def authenticated(user: User) -> User:
    """The same with the group that everybody has who is somebody."""
    if {AUTHENTICATED, UNAUTHENTICATED} & set(user.groups):
        return user
    return User(user.name, (*user.groups, AUTHENTICATED), user.uid, user.extra)


def allowed(world: World, user: User, asked: Attributes) -> str:
    """The reason why this user may, or "" if not."""
    if MASTERS in user.groups:
        return "system:masters"
    for binding in _held(world, "ClusterRoleBinding", "RoleBinding"):
        place = binding["metadata"].get("namespace", "")
        if place and (asked.path or place != asked.namespace):
            continue
        if not any(_is(subject, user, place) for subject in binding.get("subjects") or ()):
            continue
        role = binding["roleRef"]
        if any(_covers(rule, asked) for rule in _rules(world, role, place)):
            kind, name = binding["kind"], binding["metadata"]["name"]
            shown = f"{name}/{place}" if place else name
            return f'RBAC: allowed by {kind} "{shown}" of {role["kind"]} "{role["name"]}"'
    return ""


def granted(who: str, rule: Body, namespace: str = "") -> Iterator[Body]:
    """A role with this rule, and its binding to a user or to `group:NAME`, in one namespace or everywhere."""
    kind, place = ("Role", {"namespace": namespace}) if namespace else ("ClusterRole", {})
    name = f"for-{who}-{abs(hash(str(rule)))}"
    subject = (
        {"kind": "Group", "name": who[6:]} if who.startswith("group:") else {"kind": "User", "name": who}
    )
    whole = {"apiVersion": f"{API}/v1", "metadata": {"name": name} | place}
    yield whole | {"kind": kind, "rules": [rule]}
    yield whole | {
        "kind": f"{kind}Binding",
        "metadata": {"name": name} | place,
        "roleRef": {"apiGroup": API, "kind": kind, "name": name},
        "subjects": [subject | {"apiGroup": API}],
    }


def _held(world: World, *kinds: str) -> Iterator[Body]:
    yield from (one for one in HELD if one["kind"] in kinds)
    for kind, objects in world.objects.items():
        if kind.group == API and kind.kind in kinds:
            yield from objects.values()


def _rules(world: World, role: Body, place: str) -> Iterable[Body]:
    wanted = (role["kind"], role["name"], place if role["kind"] == "Role" else "")
    for one in _held(world, role["kind"]):
        if (one["kind"], one["metadata"]["name"], one["metadata"].get("namespace", "")) == wanted:
            return one.get("rules") or ()
    return ()


def _is(subject: Body, user: User, place: str) -> bool:
    if subject["kind"] == "ServiceAccount":
        return user.name == f"system:serviceaccount:{subject.get('namespace', place)}:{subject['name']}"
    return subject["name"] in (user.groups if subject["kind"] == "Group" else (user.name,))


def _covers(rule: Mapping[str, Any], asked: Attributes) -> bool:
    if not _has(rule, "verbs", asked.verb):
        return False
    if asked.path:
        paths = rule.get("nonResourceURLs") or ()
        return any(one == asked.path or (one[-1] == "*" and asked.path.startswith(one[:-1])) for one in paths)
    whole = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    resources, names = rule.get("resources") or (), rule.get("resourceNames") or ()
    part = f"*/{asked.subresource}" if asked.subresource else whole
    return (
        _has(rule, "apiGroups", asked.group)
        and bool({"*", whole, part} & set(resources))
        and (not names or asked.name in names)
    )


def _has(rule: Mapping[str, Any], key: str, value: str) -> bool:
    return bool({"*", value} & set(rule.get(key) or ()))
