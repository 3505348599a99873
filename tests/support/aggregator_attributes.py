"""What a request to kube-apiserver asks for, as its RequestInfo has it: the terms of RBAC. Pure."""

import urllib.parse

from tests.support.fake_kube_rbac import Attributes, User
from tests.support.fake_kube_refusals import Refusal

VERBS = {"POST": "create", "GET": "get", "HEAD": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
PARTS_OF_NAMESPACES = ("status", "finalize")


def of(method: str, path: str, query: dict[str, str]) -> Attributes:
    """The attributes of a request; `path` is decoded."""
    parts = [part for part in path.strip("/").split("/") if part]
    if len(parts) < 3 or parts[0] not in ("api", "apis") or (parts[0] == "apis" and len(parts) < 4):
        return Attributes(method.lower(), path=path)
    group, (version, *parts) = ("", parts[1:]) if parts[0] == "api" else (parts[1], parts[2:])
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 1:
        namespace = parts[1]
        if len(parts) > 2 and parts[2] not in PARTS_OF_NAMESPACES:
            parts = parts[2:]
    resource, name, part, *_ = [*parts, "", ""]
    verb = VERBS.get(method, "")
    if not name:
        name = named(query)
        watching = query.get("watch") in ("true", "1")
        verb = {"get": "watch" if watching else "list", "delete": "deletecollection"}.get(verb, verb)
    return Attributes(
        verb,
        group=group,
        version=version,
        resource=resource,
        subresource=part,
        name=name,
        namespace=namespace,
    )


def named(query: dict[str, str]) -> str:
    """The one name that a field selector leaves, or ""."""
    for clause in query.get("fieldSelector", "").split(","):
        key, _, value = clause.replace("==", "=").partition("=")
        if key == "metadata.name":
            return value
    return ""


def query_of(raw: str) -> dict[str, str]:
    """The first value of each key."""
    found: dict[str, str] = {}
    for key, value in urllib.parse.parse_qsl(raw, keep_blank_values=True):
        found.setdefault(key, value)
    return found


def forbidden(user: User, asked: Attributes) -> Refusal:
    """The 403 of one who may not."""
    if asked.path:
        return Refusal(
            403,
            "Forbidden",
            f'forbidden: User "{user.name}" cannot {asked.verb} path "{asked.path}"',
            {},
        )
    whole = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    kind = f"{asked.resource}.{asked.group}" if asked.group else asked.resource
    one = f'{kind} "{asked.name}"' if asked.name else kind
    place = f'in the namespace "{asked.namespace}"' if asked.namespace else "at the cluster scope"
    may_not = (
        f'User "{user.name}" cannot {asked.verb} resource "{whole}" in API group "{asked.group}" {place}'
    )
    details = {"name": asked.name} if asked.name else {}
    details |= {"group": asked.group} if asked.group else {}
    return Refusal(403, "Forbidden", f"{one} is forbidden: {may_not}", details | {"kind": asked.resource})
