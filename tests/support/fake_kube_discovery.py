"""Discovery documents of a stand-in API server: the old form and the aggregated one."""

from typing import Any

from tests.support.fake_kube_world import Kind

SHORT_NAMES = {
    "pods": ["po"],
    "services": ["svc"],
    "namespaces": ["ns"],
    "nodes": ["no"],
    "deployments": ["deploy"],
}
SUBRESOURCE_KINDS = {"scale": ("autoscaling", "v1", "Scale"), "proxy": ("", "v1", "NodeProxyOptions")}

Groups = dict[str, list[Kind]]


def groups(kinds: list[Kind]) -> Groups:
    """The kinds by group, in the order of the kinds; "" is core."""
    found: Groups = {}
    for kind in kinds:
        found.setdefault(kind.group, []).append(kind)
    return found


def versions(kinds: list[Kind]) -> list[str]:
    """The versions of a group, the preferred one first."""
    return list(dict.fromkeys(version for kind in kinds for version in kind.versions))


def api_versions(host: str) -> dict[str, Any]:
    """/api in the old form."""
    addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": host}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}


def group_list(found: Groups) -> dict[str, Any]:
    """/apis in the old form."""
    members = [group(name, kinds) for name, kinds in found.items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": members}


def group(name: str, kinds: list[Kind]) -> dict[str, Any]:
    """One group in the old form, without kind and apiVersion."""
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions(kinds)]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def resource_list(name: str, version: str, kinds: list[Kind]) -> dict[str, Any]:
    """One group-version in the old form; subresources are entries with a slash."""
    entries = [entry for kind in kinds if version in kind.versions for entry in _entries(kind)]
    full = f"{name}/{version}" if name else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": full, "resources": entries}


def aggregated(found: Groups, form: str, stale: set[str], *, core: bool) -> dict[str, Any]:
    """/api or /apis in the aggregated form; `stale` names group-versions whose server does not answer."""
    members = [_group(name, kinds, stale) for name, kinds in found.items() if core != bool(name)]
    version = f"apidiscovery.k8s.io/{form}"
    return {"kind": "APIGroupDiscoveryList", "apiVersion": version, "metadata": {}, "items": members}


def _entries(kind: Kind) -> list[dict[str, Any]]:
    whole = {
        "name": kind.plural,
        "singularName": kind.singular_name,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": list(kind.verbs),
    } | ({"shortNames": SHORT_NAMES[kind.plural]} if kind.plural in SHORT_NAMES else {})
    parts = [
        {
            "name": f"{kind.plural}/{part}",
            "singularName": "",
            "namespaced": kind.namespaced,
            "kind": SUBRESOURCE_KINDS.get(part, ("", "", kind.kind))[2],
            "verbs": ["get"],
        }
        for part in kind.subresources
    ]
    return [whole, *parts]


def _group(name: str, kinds: list[Kind], stale: set[str]) -> dict[str, Any]:
    return {
        "metadata": {"name": name} if name else {},
        "versions": [_version(name, version, kinds, stale) for version in versions(kinds)],
    }


def _version(name: str, version: str, kinds: list[Kind], stale: set[str]) -> dict[str, Any]:
    if f"{name}/{version}" in stale:
        return {"version": version, "freshness": "Stale"}
    served = [_resource(kind, version) for kind in kinds if version in kind.versions]
    return {"version": version, "resources": served, "freshness": "Current"}


def _resource(kind: Kind, version: str) -> dict[str, Any]:
    own = {"group": kind.group, "version": version, "kind": kind.kind}
    found: dict[str, Any] = {
        "resource": kind.plural,
        "responseKind": own,
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular_name,
        "verbs": list(kind.verbs),
    }
    if kind.subresources:
        found["subresources"] = [_subresource(part, own) for part in kind.subresources]
    return found


def _subresource(part: str, own: dict[str, str]) -> dict[str, Any]:
    kind = own
    if part in SUBRESOURCE_KINDS:
        kind = dict(zip(("group", "version", "kind"), SUBRESOURCE_KINDS[part], strict=True))
    return {"subresource": part, "responseKind": kind, "verbs": ["get"]}
