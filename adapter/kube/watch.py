"""Lists and watches of metadata: the API server's side of the mirror.

Only `metadata` is asked for, and only a few of its fields are decoded: a pod costs a hundredth of what its
whole object would. What cannot be read is left out and counted in `skipped`; a list never fails for one bad
object.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from typing import Final

import msgspec

from adapter.kube import failures
from adapter.kube.client import KubeClient
from adapter.wire import objects
from adapter.wire.objects import Change, Listing, Object
from adapter.wire.resources import Resource

PAGE_OBJECTS: Final = 500
"""What client-go asks for at once: a page is decoded in milliseconds, and no server refuses it."""

WATCH_SECONDS: Final = 540
"""After this the API server ends the watch, so that connections spread over its replicas again."""

_METADATA: Final = "application/json;as={};v=v1;g=meta.k8s.io,application/json"
ACCEPT_LIST: Final = _METADATA.format("PartialObjectMetadataList")
ACCEPT_WATCH: Final = _METADATA.format("PartialObjectMetadata")
"""Some extension servers know no metadata-only form; their whole objects hold the same fields."""

METHOD_NOT_ALLOWED: Final = 405
"""What a server says of a kind that it cannot list."""

_TOLD = frozenset({objects.ADDED, objects.MODIFIED, objects.DELETED})


class _Metadata(msgspec.Struct, gc=False, rename="camel"):
    name: str
    namespace: str | None = None
    labels: dict[str, str] | None = None
    resource_version: str | None = None


class _Object(msgspec.Struct, gc=False):
    metadata: _Metadata


class _ListMetadata(msgspec.Struct, gc=False, rename={"version": "resourceVersion", "next_page": "continue"}):
    version: str | None = None
    next_page: str | None = None


class _List(msgspec.Struct):
    metadata: _ListMetadata
    items: list[msgspec.Raw] | None = None


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _BookmarkMetadata(msgspec.Struct, gc=False, rename="camel"):
    resource_version: str


class _Bookmark(msgspec.Struct, gc=False):
    metadata: _BookmarkMetadata


class _Failure(msgspec.Struct, gc=False):
    code: int = 0
    reason: str = ""
    message: str = ""


_list = msgspec.json.Decoder(_List)
_event = msgspec.json.Decoder(_Event)
_object = msgspec.json.Decoder(_Object)
_bookmark = msgspec.json.Decoder(_Bookmark)
_failure = msgspec.json.Decoder(_Failure)


class KubeFeed:
    """This makes the mirror's lists and changes from an API server."""

    def __init__(self, kube: KubeClient) -> None:
        self._kube = kube
        self.skipped: Counter[tuple[str, str]] = Counter()
        """How often something of (resource, what) could not be read; what: object, event."""

    async def listing(self, resource: Resource, page: str) -> Listing:
        """One page; "" is the first. Raises objects.FeedError."""
        params = {"limit": str(PAGE_OBJECTS)} | ({"continue": page} if page else {})
        with _as_feed_errors():
            body = await self._kube.get_bytes(path(resource), params, accept=ACCEPT_LIST)
        try:
            found = _list.decode(body)
        except msgspec.MsgspecError as error:
            raise objects.Refused("BadAnswer", str(error)) from error
        read = (self._read(resource, raw) for raw in found.items or ())
        return Listing(
            objects=[one for one, _ in filter(None, read)],
            version=found.metadata.version or "",
            next_page=found.metadata.next_page or "",
        )

    async def changes(self, resource: Resource, version: str) -> AsyncGenerator[Change]:
        """What happens after `version`, a bookmark of just that first. Raises objects.FeedError."""
        params = {
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(WATCH_SECONDS),
        }
        lines = self._kube.lines(path(resource), params, accept=ACCEPT_WATCH)
        with _as_feed_errors():
            async with aclosing(lines):
                async for line in lines:
                    change = self._change(resource, line) if line else Change(objects.BOOKMARK, version)
                    if change is not None:
                        yield change

    def skipped_counts(self) -> Mapping[tuple[str, str], int]:
        """How often (resource, what) could not be read, since the start of the process."""
        return dict(self.skipped)

    def _change(self, resource: Resource, line: bytes) -> Change | None:
        try:
            event = _event.decode(line)
            if event.type == "ERROR":
                raise _error(event.object)
            if event.type == objects.BOOKMARK:
                return Change(event.type, _bookmark.decode(event.object).metadata.resource_version)
        except msgspec.MsgspecError:
            event = None
        if event is None or event.type not in _TOLD:
            self._skip(resource, "event")
            return None
        read = self._read(resource, event.object)
        return Change(event.type, read[1], read[0]) if read else None

    def _read(self, resource: Resource, raw: msgspec.Raw) -> tuple[Object, str] | None:
        """The object and its version, or None if it cannot be read."""
        try:
            found = _object.decode(raw).metadata
        except msgspec.MsgspecError:
            found = None
        if found is None or not found.name:
            self._skip(resource, "object")
            return None
        return Object(found.namespace or "", found.name, found.labels or {}), found.resource_version or ""

    def _skip(self, resource: Resource, what: str) -> None:
        self.skipped[str(resource.key), what] += 1


def path(resource: Resource) -> str:
    """Where all objects of this kind are listed."""
    root = f"/apis/{resource.group}" if resource.group else "/api"
    return f"{root}/{resource.version}/{resource.plural}"


def _error(raw: msgspec.Raw) -> objects.FeedError:
    """The API server ends a watch with a Status: most often, that the version is too old."""
    failure = _failure.decode(raw)
    if failure.code == failures.Gone.status or failure.reason in {"Expired", "Gone"}:
        return objects.Gone(failure.message)
    return objects.Refused("WatchError", failure.message or f"code {failure.code}")


@contextmanager
def _as_feed_errors() -> Iterator[None]:
    try:
        yield
    except failures.Gone as error:
        raise objects.Gone(str(error)) from error
    except (failures.Unreachable, failures.NoCredentials) as error:
        raise objects.Unreachable(error.cause, str(error)) from error
    except failures.Refused as error:
        raise _refused(error) from error
    except failures.KubeError as error:
        raise objects.Refused(error.cause, str(error)) from error


def _refused(error: failures.Refused) -> objects.FeedError:
    if isinstance(error, failures.NotFound) or error.status == METHOD_NOT_ALLOWED:
        return objects.NotListable("NotFound", str(error), absent=True)
    if isinstance(error, failures.Forbidden):
        return objects.NotListable("Forbidden", str(error))
    return objects.Refused(error.cause, str(error))
