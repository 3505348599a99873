"""OpenAPI documents of the groups on offer, as bytes: small, and the same whatever metrics there are.

The aggregator merges them into the cluster's own. So every schema is one of ours, written out to its end: a shared
one that differs from the cluster's in a word would appear there twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from adapter.wire.apis import TEXT, Api, Operation

TITLE: Final = "hpa-adapter"
JSON: Final = "application/json"

_Json = dict[str, Any]


def v2(apis: Sequence[Api], release: str) -> bytes:
    """This is the Swagger 2.0 document of all groups."""
    paths: _Json = {}
    definitions: _Json = {}
    for api in apis:
        paths |= _group_path(api, _V2)
        for version in api.versions:
            paths |= _version_paths(api, version, _V2)
            definitions |= _schemas(api, version, _V2)
    return _encoded({"swagger": "2.0", "info": _info(release), "paths": paths, "definitions": definitions})


def v3_index(documents: Mapping[str, str]) -> bytes:
    """This lists the documents of group-versions, {"apis/GROUP/VERSION": hash of its content}.

    The aggregator adds every entry to the cluster's own list, so there are none but ours.
    """
    return _encoded(
        {
            "paths": {
                path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={documents[path]}"}
                for path in sorted(documents)
            }
        }
    )


def v3_group(api: Api, release: str) -> bytes:
    """This is the OpenAPI 3 document of a group: its one path."""
    return _v3(_group_path(api, _V3), {}, release)


def v3_version(api: Api, version: str, release: str) -> bytes:
    """This is the OpenAPI 3 document of a group-version."""
    return _v3(_version_paths(api, version, _V3), _schemas(api, version, _V3), release)


def _v3(paths: _Json, schemas: _Json, release: str) -> bytes:
    components = {"schemas": schemas}
    return _encoded({"openapi": "3.0.0", "info": _info(release), "paths": paths, "components": components})


@dataclass(frozen=True, slots=True)
class _Dialect:
    """Where OpenAPI 2 and 3 differ for documents as small as ours."""

    schemas: str
    nested: bool
    """Whether the type of a parameter, and the schema of an answer, have a level of their own."""

    def parameter(self, name: str, place: str) -> _Json:
        """A parameter that is text."""
        head: _Json = {"name": name, "in": place} | ({"required": True} if place == "path" else {})
        return head | ({"schema": TEXT} if self.nested else TEXT)

    def answer(self, schema: str | None) -> _Json:
        """What a GET gives: in JSON, of that schema."""
        good: _Json = {"description": "OK"}
        shown: _Json = {} if schema is None else {"schema": self.reference(schema)}
        if self.nested:
            return {"responses": {"200": good | {"content": {JSON: shown}}}}
        return {"produces": [JSON], "responses": {"200": good | shown}}

    def reference(self, schema: str) -> _Json:
        """Where the schema of that name stands."""
        return {"$ref": f"{self.schemas}{schema}"}


_V2: Final = _Dialect("#/definitions/", nested=False)
_V3: Final = _Dialect("#/components/schemas/", nested=True)


def _group_path(api: Api, dialect: _Dialect) -> _Json:
    told = {"description": "the versions of the group", "operationId": f"get{api.stem}APIGroup"}
    return {f"/apis/{api.group}/": {"get": told | dialect.answer(None)}}


def _version_paths(api: Api, version: str, dialect: _Dialect) -> _Json:
    base = f"/apis/{api.group}/{version}/"
    stem = f"{api.stem}{version.capitalize()}"
    told: _Json = {"description": "the metrics on offer", "operationId": f"get{stem}APIResources"}
    paths: _Json = {base: {"get": told | dialect.answer(None)}}
    for one in api.operations:
        named = {
            "description": one.does,
            "operationId": one.id.format(stem),
            "x-kubernetes-group-version-kind": _kind(api, version, api.kind),
        }
        answer = dialect.answer(_name(api, version, api.list_kind))
        paths[base + one.tail] = {"get": named | answer, "parameters": _parameters(one, dialect)}
    return paths


def _parameters(operation: Operation, dialect: _Dialect) -> list[_Json]:
    segments = [one[1:-1] for one in operation.tail.split("/") if one.startswith("{")]
    return [
        *(dialect.parameter(name, "path") for name in segments),
        *(dialect.parameter(name, "query") for name in operation.query),
    ]


def _schemas(api: Api, version: str, dialect: _Dialect) -> _Json:
    fields = api.fields[version]
    required = [one for one in fields if one not in api.optional]
    items: _Json = {"type": "array", "items": dialect.reference(_name(api, version, api.kind))}
    listed: _Json = {"metadata": {"type": "object"}, "items": items}
    return {
        _name(api, version, api.kind): _schema(fields, required, _kind(api, version, api.kind)),
        _name(api, version, api.list_kind): _schema(listed, ["items"], _kind(api, version, api.list_kind)),
    }


def _schema(fields: Mapping[str, Any], required: Sequence[str], kind: _Json) -> _Json:
    return {
        "type": "object",
        "required": required,
        "properties": {"kind": TEXT, "apiVersion": TEXT, **fields},
        "x-kubernetes-group-version-kind": [kind],
    }


def _name(api: Api, version: str, kind: str) -> str:
    """The name that Go's servers give the schema, after the package of its type."""
    return f"io.k8s.metrics.pkg.apis.{api.package}.{version}.{kind}"


def _kind(api: Api, version: str, kind: str) -> _Json:
    return {"group": api.group, "kind": kind, "version": version}


def _info(release: str) -> _Json:
    return {"title": TITLE, "version": release}


def _encoded(document: _Json) -> bytes:
    return msgspec.json.encode(document) + b"\n"
