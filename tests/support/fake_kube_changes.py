"""POST, PUT, PATCH and DELETE of a stand-in API server, with optimistic locking as the real one has it."""

import base64
import binascii
import copy
import json
from typing import Any

from aiohttp import web

from tests.support.fake_kube_refusals import Refusal, not_found, reply
from tests.support.fake_kube_world import Body, Kind, World

STRICT = ("secrets", "apiservices", "configmaps")
"""Of other kinds a PUT also makes what is not there: so tests change objects of a process of its own."""

STALE = "the object has been modified; please apply your changes to the latest version and try again"
MERGES = ("application/merge-patch+json", "application/strategic-merge-patch+json")
"""Lists are replaced whole in both, which is all that the kinds here need."""


async def change(world: World, request: web.Request, kind: Kind, namespace: str, name: str) -> web.Response:
    """The answer to a request that changes an object. Raises Refusal."""
    if request.method == "POST":
        return reply(_create(world, kind, namespace, await request.json()), status=201)
    held = world.objects.get(kind, {}).get((namespace, name))
    if request.method == "DELETE":
        return _delete(world, kind, held, name, json.loads(await request.read() or b"{}"))
    if held is None and (request.method == "PATCH" or kind.plural in STRICT):
        raise not_found(kind, name)
    body = await request.json()
    if request.method == "PATCH":
        body = _patched(held or {}, body, request.headers.get("Content-Type", ""))
    body.setdefault("metadata", {}).setdefault("name", name)
    if body["metadata"]["name"] != name:
        text = (
            f"the name of the object ({body['metadata']['name']}) does not match the name on the URL ({name})"
        )
        raise Refusal(400, "BadRequest", text)
    return reply(_update(world, kind, namespace, held, body))


def _create(world: World, kind: Kind, namespace: str, body: Body) -> Body:
    metadata = body.setdefault("metadata", {})
    if "name" not in metadata:
        metadata["name"] = f"{metadata.get('generateName', 'x-')}{world.version:05}"
    name = metadata["name"]
    if metadata.get("resourceVersion"):
        text = "resourceVersion should not be set on objects to be created"
        raise Refusal(500, "InternalError", f"Internal error occurred: {text}")
    if (namespace, name) in world.objects.get(kind, {}):
        raise Refusal(409, "AlreadyExists", f'{kind.name} "{name}" already exists', _details(kind, name))
    metadata.update({"namespace": namespace} if namespace else {})
    if "status" in kind.subresources and kind.plural in STRICT:
        body.pop("status", None)
    return world.put(kind, _prepared(kind, body))


def _update(world: World, kind: Kind, namespace: str, held: Body | None, body: Body) -> Body:
    metadata = body["metadata"]
    metadata.update({"namespace": namespace} if namespace else {})
    if held is None:
        return world.put(kind, body)
    _check_version(kind, held, metadata)
    for key in ("uid", "creationTimestamp", "resourceVersion"):
        metadata[key] = held["metadata"][key]
    if "status" in kind.subresources and kind.plural in STRICT:
        body.pop("status", None)  # its own path changes it, this one never
        body |= {"status": held["status"]} if "status" in held else {}
    body = _prepared(kind, {"apiVersion": kind.api_version, "kind": kind.kind} | body)
    if held.get("immutable") and body.get("data") != held.get("data"):
        text = f'{kind.kind} "{metadata["name"]}" is invalid: data: Forbidden: field is immutable when `immutable` is set'
        raise Refusal(422, "Invalid", text, _details(kind, metadata["name"]))
    return held if body == held else world.put(kind, body)


def _check_version(kind: Kind, held: Body, metadata: Body) -> None:
    name, wanted = metadata["name"], metadata.get("resourceVersion")
    if not wanted and kind.plural == "apiservices":
        text = "metadata.resourceVersion: Invalid value: 0x0: must be specified for an update"
        raise Refusal(422, "Invalid", f'{kind.name} "{name}" is invalid: {text}', _details(kind, name))
    if wanted and wanted != held["metadata"]["resourceVersion"]:
        _conflict(kind, name, STALE)
    uid, present = metadata.get("uid"), held["metadata"]["uid"]
    if uid and uid != present:
        _conflict(
            kind, name, f"Precondition failed: UID in precondition: {uid}, UID in object meta: {present}"
        )


def _conflict(kind: Kind, name: str, why: str) -> None:
    text = f'Operation cannot be fulfilled on {kind.name} "{name}": {why}'
    raise Refusal(409, "Conflict", text, _details(kind, name))


def _details(kind: Kind, name: str) -> Body:
    return {"name": name} | ({"group": kind.group} if kind.group else {}) | {"kind": kind.plural}


def _delete(world: World, kind: Kind, held: Body | None, name: str, options: Body) -> web.Response:
    if held is None:
        raise not_found(kind, name)
    wanted = options.get("preconditions") or {}
    for key, word in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        if key in wanted and wanted[key] != held["metadata"][key]:
            shown = f"{word} in precondition: {wanted[key]}, {word} in object meta: {held['metadata'][key]}"
            _conflict(kind, name, f"Precondition failed: {shown}")
    world.delete(kind, held["metadata"].get("namespace", "") if kind.namespaced else "", name)
    details = _details(kind, name) | {"uid": held["metadata"]["uid"]}
    done = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return reply(done | {"details": details})


def _patched(held: Body, patch: Any, content_type: str) -> Body:
    media = content_type.partition(";")[0]
    if media in MERGES:
        merged: Body = _merged(held, patch)
        return merged
    if media == "application/json-patch+json":
        return _stepped(copy.deepcopy(held), patch)
    known = ["application/json-patch+json", *MERGES]
    text = (
        f"the body of the request was in an unknown format - accepted media types include: {', '.join(known)}"
    )
    raise Refusal(415, "UnsupportedMediaType", text)


def _merged(held: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    made = dict(held) if isinstance(held, dict) else {}
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        else:
            made[key] = _merged(made.get(key), value)
    return made


def _stepped(made: Body, steps: list[Body]) -> Body:
    """RFC 6902, but for move and copy."""
    for step in steps:
        *path, last = (part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")[1:])
        place: Any = made
        try:
            for part in path:
                place = place[int(part)] if isinstance(place, list) else place[part]
            if isinstance(place, list):
                last = len(place) if last == "-" else int(last)  # type: ignore[assignment]
            _step(place, last, step)
        except (LookupError, ValueError, TypeError) as error:
            text = "the server rejected our request due to an error in our request"
            raise Refusal(422, "Invalid", text) from error
    return made


def _step(place: Any, last: Any, step: Body) -> None:
    word = step["op"]
    if word == "add" and isinstance(place, list):
        place.insert(last, step["value"])
    elif word == "remove":
        del place[last]
    elif word == "test":
        if place[last] != step["value"]:
            raise ValueError(step["path"])
    else:
        if word == "replace":
            place[last]
        place[last] = step["value"]


# -- what the real one fills in and refuses


def _prepared(kind: Kind, body: Body) -> Body:
    if kind.plural == "secrets":
        body.setdefault("type", "Opaque")
        more = body.pop("stringData", None) or {}
        packed = {key: base64.b64encode(value.encode()).decode() for key, value in more.items()}
        body["data"] = (body.get("data") or {}) | packed
        _check_base64(kind, *body["data"].values())
    if kind.plural == "apiservices":
        _check_base64(kind, body.setdefault("spec", {}).get("caBundle") or "")
        _check_api_service(kind, body)
    return body


def _check_base64(kind: Kind, *values: str) -> None:
    try:
        for value in values:
            base64.b64decode(value, validate=True)
    except binascii.Error as error:
        text = f'{kind.kind} in version "{kind.versions[0]}" cannot be handled as a {kind.kind}: illegal base64 data'
        raise Refusal(400, "BadRequest", text) from error


def _check_api_service(kind: Kind, body: Body) -> None:
    name, spec = body["metadata"]["name"], body.setdefault("spec", {})
    problems = list(_problems(name, spec))
    if problems:
        text = f'APIService.{kind.group} "{name}" is invalid: {"; ".join(problems)}'
        raise Refusal(422, "Invalid", text, _details(kind, name))
    if spec.get("service"):
        spec["service"].setdefault("port", 443)


def _problems(name: str, spec: Body) -> list[str]:
    group, version = spec.get("group", ""), spec.get("version", "")
    found = []
    if name != f"{version}.{group}":
        found.append(f'metadata.name: Invalid value: "{name}": must be `spec.version+"."+spec.group`')
    for key, most in (("groupPriorityMinimum", 20_000), ("versionPriority", 1000)):
        if not 1 <= spec.get(key, 0) <= most:
            found.append(
                f"spec.{key}: Invalid value: {spec.get(key, 0)}: must be positive and less than {most}"
            )
    bundle, skipped = spec.get("caBundle"), spec.get("insecureSkipTLSVerify")
    if not spec.get("service") and (bundle or skipped):
        found.append("spec.caBundle: Invalid value: local APIServices may not have a caBundle")
    if bundle and skipped:
        found.append(
            "spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present"
        )
    return found
