"""One watch of a stand-in API server."""

import asyncio
import json
import time
from typing import Any

from aiohttp import web

from tests.support.fake_kube_refusals import Refusal, expired
from tests.support.fake_kube_world import Body, Expired, Happening, Kind, Selection, World

CLOSE, DROP, FREEZE = object(), object(), object()


def wants_metadata(request: web.Request, form: str) -> bool:
    """Whether the first media type that this server knows asks for metadata only."""
    for clause in request.headers.get("Accept", "*/*").replace(" ", "").split(","):
        media, *parameters = clause.split(";")
        wanted = dict(one.split("=", 1) for one in parameters if "=" in one)
        if media not in ("application/json", "application/*", "*/*"):
            continue
        if wanted.get("as") == form and (wanted.get("g"), wanted.get("v")) == ("meta.k8s.io", "v1"):
            return True
        if "as" not in wanted:
            return False
    raise Refusal(406, "NotAcceptable", "only the following media types are accepted: application/json")


def partial(one: Body) -> Body:
    """The metadata of an object."""
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": one["metadata"]}


class Stream:
    """A watch: what is put in `queue` is sent, in order; CLOSE, DROP and FREEZE are acts."""

    def __init__(self, world: World, kind: Kind, selection: Selection, metadata_only: bool) -> None:
        self.world, self.kind, self.selection = world, kind, selection
        self.metadata_only = metadata_only
        self._shown: set[str] = set()
        self._left: set[str] = set()
        """The ids of objects that were selected when they last changed, and of those that no longer are."""

        self.queue: asyncio.Queue[Any] = asyncio.Queue()

    def bookmark(self, version: int) -> Body:
        """The event that tells a version and nothing else."""
        metadata = {"resourceVersion": str(version), "creationTimestamp": None}
        whole = {"kind": self.kind.kind, "apiVersion": self.kind.api_version, "metadata": metadata}
        return {"type": "BOOKMARK", "object": partial(whole) if self.metadata_only else whole}

    async def run(self, request: web.Request, bookmark_seconds: float) -> web.StreamResponse:
        """This sends until the watch ends in one way or another."""
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        self._begin(
            request.query.get("resourceVersion") or "0", request.query.get("sendInitialEvents") == "true"
        )
        self.world.watchers.add(self.queue)
        until = time.monotonic() + float(request.query.get("timeoutSeconds") or 3600)
        marks = request.query.get("allowWatchBookmarks") == "true"
        try:
            await response.prepare(request)
            while (left := until - time.monotonic()) > 0:
                message = await self._next(min(left, bookmark_seconds) if marks else left)
                if message is CLOSE:
                    break
                if message is DROP and request.transport is not None:
                    request.transport.abort()
                    break
                if message is FREEZE:
                    await asyncio.Event().wait()
                await self._send(response, message)
        except ConnectionError:
            pass
        finally:
            self.world.watchers.discard(self.queue)
        return response

    def _begin(self, version: str, initial: bool) -> None:
        """What the caller does not know yet comes first; with `initial` all there is, and a mark after it."""
        try:
            known = self.world.since(self.kind, int(version)) if int(version) and not initial else self._all()
        except Expired as old:
            self.queue.put_nowait(expired(str(old)))
            return
        for happening in known:
            self.queue.put_nowait(happening)
        if initial:
            mark = self.bookmark(self.world.version)
            mark["object"]["metadata"]["annotations"] = {"k8s.io/initial-events-end": "true"}
            self.queue.put_nowait(mark)

    def _all(self) -> list[Happening]:
        held = self.world.objects.get(self.kind, {})
        return [Happening(self.world.version, self.kind, "ADDED", body) for _, body in sorted(held.items())]

    async def _next(self, seconds: float) -> object:
        try:
            async with asyncio.timeout(seconds):
                return await self.queue.get()
        except TimeoutError:
            return self.bookmark(self.world.version)

    def _word(self, happening: Happening) -> str:
        """What this change is to this watch; "" if nothing. An object that is not selected any more is deleted."""
        uid = happening.body["metadata"]["uid"]
        if happening.kind != self.kind:
            return ""
        if self.selection.has(happening.body):
            again = uid in self._left
            self._left.discard(uid)
            self._shown.add(uid)
            return "ADDED" if again else happening.word
        if uid not in self._shown:
            return ""
        self._shown.discard(uid)
        self._left.add(uid)
        return "DELETED"

    async def _send(self, response: web.StreamResponse, message: Any) -> None:
        if isinstance(message, Happening):
            word, body = self._word(message), message.body
            if not word:
                return
            message = {"type": word, "object": partial(body) if self.metadata_only else body}
        line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        await response.write(line)
        if isinstance(message, dict) and message.get("type") == "ERROR":
            self.queue.put_nowait(CLOSE)
