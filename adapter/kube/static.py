"""A file that stands for the cluster: `--objects FILE`, a Kubernetes List in YAML or JSON (docs/design.md D12).

It is read again when it changes; if the new text is broken, the old objects stay and the log says where.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml
from yaml.constructor import ConstructorError

from adapter.kube import usual_kinds
from adapter.kube.files import Files
from adapter.telemetry import logs
from adapter.wire import objects
from adapter.wire.objects import Change, Listing, Object
from adapter.wire.resources import GroupResource, Kinds, Resource

POLL_SECONDS: Final = 2.0
"""How often the file is looked at: somebody who tries things out saves it and asks."""

log = logs.get("kube")


class ObjectsFileBroken(ValueError):
    """This is a file that holds no objects; its text begins with FILE:LINE:COLUMN."""


@dataclass(frozen=True, slots=True)
class _Content:
    kinds: Kinds = field(default_factory=Kinds)
    objects: dict[GroupResource, list[Object]] = field(default_factory=dict)


class StaticObjects:
    """This is the mirror's feed and the source of kinds, from a file. Raises ObjectsFileBroken at once."""

    def __init__(self, path: str, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._path, self._sleep = path, sleep
        self._files = Files([path])
        self._content = read(path)
        self._generation = 1

    async def kinds(self, groups: frozenset[str] | None) -> Kinds:
        """The usual kinds and those of the file; of these groups (None: of all)."""
        self._refresh()
        found = self._content.kinds.resources
        return Kinds(tuple(one for one in found if groups is None or one.group in groups))

    async def listing(self, resource: Resource, page: str) -> Listing:  # noqa: ARG002 - there is one page only
        """All objects of this kind."""
        self._refresh()
        return Listing(self._content.objects.get(resource.key, ()), str(self._generation))

    async def changes(self, resource: Resource, version: str) -> AsyncGenerator[Change]:  # noqa: ARG002
        """Bookmarks while the file stays as it is; then Gone, so that it is listed again."""
        while version == str(self._generation):
            yield Change(objects.BOOKMARK, version)
            await self._sleep(POLL_SECONDS)
            self._refresh()
        raise objects.Gone(f"{self._path} changed")

    def skipped_counts(self) -> Mapping[tuple[str, str], int]:
        """Nothing ever is: a file with a bad object is refused as a whole; a cluster has this too."""
        return {}

    async def close(self) -> None:
        """Nothing is held open; a cluster has this too."""

    def _refresh(self) -> None:
        if not self._files.changed():
            return
        self._files.accept()
        try:
            self._content = read(self._path)
        except ObjectsFileBroken as error:
            log.warning("objects_file_broken", extra={"text": str(error)})
            return
        self._generation += 1
        log.info("objects_file_read", extra={"file": self._path})


def read(path: str) -> _Content:
    """What the file at `path` holds. Raises ObjectsFileBroken."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _broken(path, None, str(error)) from error
    try:
        return _content(list(_items(text, path)))
    except yaml.MarkedYAMLError as error:
        raise _broken(path, error.problem_mark, str(error.problem)) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise _broken(path, None, " ".join(str(error).split())) from error


class _Loader(yaml.CSafeLoader):
    """This says of every value that its type cannot be made of it; PyYAML lets bare Python errors escape."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 - PyYAML's
        """The value of `node`. Raises ConstructorError with its place."""
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError, ArithmeticError) as error:
            word = node.tag.rpartition(":")[2]
            raise ConstructorError(
                None, None, f"this is no {word}; if it is meant as text, put it in quotes", node.start_mark
            ) from error


def _items(text: str, path: str) -> Iterator[tuple[Resource, Object]]:
    """Each object of each document; a List is opened."""
    loader = _Loader(text)
    try:
        while loader.check_node():
            for node in _opened(loader.get_node()):
                yield _item(loader.construct_document(node), node.start_mark, path)
    finally:
        loader.dispose()


def _opened(node: yaml.Node | None) -> Iterator[yaml.Node]:
    members = dict(_members(node))
    if "items" in members and str(getattr(members.get("kind"), "value", "")).endswith("List"):
        items = members["items"].value
        yield from items if isinstance(items, list) else ()
    elif (
        node is not None and node.tag != "tag:yaml.org,2002:null"
    ):  # an empty document between two lines of dashes
        yield node


def _members(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield str(key.value), value


def _item(found: Any, mark: yaml.Mark, path: str) -> tuple[Resource, Object]:
    """One object. Raises ObjectsFileBroken with its place."""
    metadata = found.get("metadata") if isinstance(found, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str) or not metadata["name"]:
        raise _broken(path, mark, "an object needs metadata.name")
    if not all(isinstance(found.get(key), str) for key in ("apiVersion", "kind")):
        raise _broken(path, mark, "an object needs apiVersion and kind")
    labels = metadata.get("labels") or {}
    for key, value in labels.items() if isinstance(labels, dict) else [("labels", labels)]:
        if not isinstance(key, str) or not isinstance(value, str):
            raise _broken(path, mark, f"label {key!r} of {metadata['name']} is no text; put it in quotes")
    resource = _resource(found["apiVersion"], found["kind"], namespaced="namespace" in metadata)
    namespace = str(metadata.get("namespace") or "default") if resource.namespaced else ""
    return resource, Object(namespace, metadata["name"], labels)


def _resource(api_version: str, kind: str, *, namespaced: bool) -> Resource:
    group = api_version.rpartition("/")[0]
    usual = (one for one in usual_kinds.USUAL if (one.group, one.kind) == (group, kind))
    return next(usual, None) or usual_kinds.guessed(api_version, kind, namespaced=namespaced)


def _content(items: list[tuple[Resource, Object]]) -> _Content:
    kinds = dict.fromkeys([*usual_kinds.USUAL, *(resource for resource, _ in items)])
    found: dict[GroupResource, dict[tuple[str, str], Object]] = {}
    for resource, one in items:
        found.setdefault(resource.key, {})[one.namespace, one.name] = one
    namespaces = found.setdefault(GroupResource("", "namespaces"), {})
    for _, one in items:  # a namespace with objects exists, written down or not
        if one.namespace:
            namespaces.setdefault(("", one.namespace), Object("", one.namespace, {}))
    return _Content(Kinds.of(kinds), {key: list(members.values()) for key, members in found.items()})


def _broken(path: str, mark: yaml.Mark | None, text: str) -> ObjectsFileBroken:
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    return ObjectsFileBroken(f"{path}:{line}:{column}: {text}")
