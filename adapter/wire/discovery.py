"""Discovery documents as bytes: made once at each change of the catalog, sent as they are, in a fixed order.

One that the aggregator does not like makes the whole API unavailable in the cluster; its rules are kept here.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

AGGREGATED: Final = ("v2", "v2beta1")
"""Versions of the aggregated form, the newer first."""

_encode = msgspec.json.Encoder().encode


class _Resource(msgspec.Struct):
    # Only `get`: what is listed with delete, list or watch, other controllers would delete, collect or count.
    name: str
    singularName: str  # noqa: N815 - as on the wire
    namespaced: bool
    kind: str
    verbs: tuple[str, ...] = ("get",)


def resource_lists(
    group_versions: Iterable[str], entries: Iterable[tuple[str, bool]], kind: str
) -> dict[str, bytes]:
    """These are the APIResourceLists of group-versions that all offer the same (name, namespaced) entries of `kind`.

    Entries of one parent (`pods` in `pods/requests`) must agree on `namespaced`, or the aggregator takes the
    group-version off the air: if any of them is namespaced, all are. What they share is written once.
    """
    listed = dict(sorted(entries))
    namespaced = {_parent(name) for name, flag in listed.items() if flag}
    resources = msgspec.Raw(
        _encode([_Resource(name, "", _parent(name) in namespaced, kind) for name in listed])
    )
    head = {"kind": "APIResourceList", "apiVersion": "v1"}
    return {
        one: _encode(head | {"groupVersion": one, "resources": resources}) + b"\n" for one in group_versions
    }


def group(name: str, versions: Sequence[str]) -> bytes:
    """This is the APIGroup `name`; the first of its versions is the preferred one."""
    return _encode({"kind": "APIGroup", "apiVersion": "v1"} | _group(name, versions)) + b"\n"


def group_list(groups: Sequence[tuple[str, Sequence[str]]]) -> bytes:
    """This is the APIGroupList of (name, versions) pairs, without apiVersion, as Go's servers send it."""
    # Part of the document since its first version, and read by nobody.
    addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": ":443"}]
    listed = [_group(name, versions) | {"serverAddressByClientCIDRs": addresses} for name, versions in groups]
    return _encode({"kind": "APIGroupList", "groups": listed}) + b"\n"


def aggregated(version: str, groups: Sequence[tuple[str, Sequence[str]]]) -> bytes:
    """This is the APIGroupDiscoveryList of (name, versions) pairs, in one of the versions of AGGREGATED.

    It names no metric: the aggregator puts this document into the one that every client of the cluster loads.
    """
    items = [
        {
            "metadata": {"name": name},
            "versions": [{"version": one, "freshness": "Current"} for one in versions],
        }
        for name, versions in groups
    ]
    head = {"kind": "APIGroupDiscoveryList", "apiVersion": f"apidiscovery.k8s.io/{version}", "metadata": {}}
    return _encode(head | {"items": items}) + b"\n"


def aggregated_type(version: str) -> str:
    """This is the media type of the aggregated form: the aggregator takes the document under no other."""
    return f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"


def paths(paths: Iterable[str]) -> bytes:
    """This is the list of all paths, sorted: the answer at `/` and for what does not exist."""
    return _indented({"paths": sorted(paths)})


def version(version: str) -> bytes:
    """This is what `/version` says of release `version` ("0.1.0"); what only Go programs know is empty."""
    major, _, rest = version.partition(".")
    unknown = ("gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform")
    known = {"major": major, "minor": rest.partition(".")[0], "gitVersion": f"v{version}"}
    return _indented(known | dict.fromkeys(unknown, ""))


def _parent(name: str) -> str:
    return name.partition("/")[0]


def _group(name: str, versions: Sequence[str]) -> dict[str, Any]:
    listed = [{"groupVersion": f"{name}/{one}", "version": one} for one in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _indented(document: dict[str, Any]) -> bytes:
    """Go writes these two documents for the eyes, and without a line feed at the end."""
    return json.dumps(document, indent=2, ensure_ascii=False).encode()
