"""What a request wants, in the words of a review: as kube-apiserver reads the same path (docs/contract.md 4.2). Pure.

Path and attributes must come of one parse: where a path was found in the table, its parts decide.
"""

import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Final

from adapter.wire.identity import Attributes

READING: Final = "get"
LISTING: Final = "list"

_RESOURCE_SEGMENTS: Final = 4
"""apis, group, version, and at least one more."""

_OF_NAMESPACES: Final = frozenset({"status", "finalize"})
"""Below namespaces/NS these are parts of the namespace, and not kinds of objects in it."""


def of_match(action: str, parts: Mapping[str, str], raw_path: str) -> Attributes:
    """The attributes of a path that is in the table: its action, and what its segments stood for."""
    if "metric" not in parts:
        return of_path(raw_path)
    group = _decoded(raw_path).strip("/").split("/")[1]
    return _of_resource(group, parts["version"], _tail(action, parts))


def of_path(raw_path: str) -> Attributes:
    """The attributes of any path, still percent-encoded: what may be asked before saying that there is no such."""
    path = _decoded(raw_path)
    segments = path.strip("/").split("/")
    if len(segments) < _RESOURCE_SEGMENTS or segments[0] != "apis":
        return Attributes(READING, path=path)
    _, group, version, *tail = segments
    return _of_resource(group, version, tail)


def _tail(action: str, parts: Mapping[str, str]) -> list[str]:
    """What follows the version."""
    within = ["namespaces", parts["namespace"]] if "namespace" in parts else []
    if "resource" in parts:
        return [*within, parts["resource"], parts["name"], parts["metric"]]
    if action == "namespace_values":
        return [*within, "metrics", parts["metric"]]
    return [*within, parts["metric"]]


def _of_resource(group: str, version: str, tail: Sequence[str]) -> Attributes:
    namespace = ""
    if tail[0] == "namespaces" and len(tail) > 1:
        namespace = tail[1]
        if len(tail) > 2 and tail[2] not in _OF_NAMESPACES:  # noqa: PLR2004 - something stands behind the namespace
            tail = tail[2:]
    resource, name, subresource = (*tail, "", "")[:3]
    return Attributes(
        READING if name else LISTING, group, version, resource, subresource, name, namespace=namespace
    )


def _decoded(raw_path: str) -> str:
    """As text in any case: what is not UTF-8 becomes U+FFFD, which no name holds."""
    text = raw_path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return urllib.parse.unquote(text)
