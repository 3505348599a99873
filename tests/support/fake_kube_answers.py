"""What a stand-in API server answers when all goes well: discovery, lists, watches, changes of objects."""

from aiohttp import web

from tests.support import fake_kube_discovery as discovery
from tests.support.fake_kube_changes import change
from tests.support.fake_kube_refusals import Refusal, not_found, reply
from tests.support.fake_kube_reviews import Reviews
from tests.support.fake_kube_watch import Stream, partial, wants_metadata
from tests.support.fake_kube_world import Body, Expired, Kind, Selection, World

UNKNOWN = "the server could not find the requested resource"


class Answers:
    """This answers for one world; `streams` are its running watches."""

    def __init__(self, world: World) -> None:
        self.world, self.reviews = world, Reviews(world)
        self.aggregated: tuple[str, ...] = ("v2", "v2beta1")
        """Forms of aggregated discovery that it knows; none before 1.26."""

        self.stale: set[str] = set()
        """Group-versions whose extension server is down."""

        self.bookmark_seconds = 60.0
        self.streams: set[Stream] = set()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """The answer to a request that may be made. Raises Refusal."""
        parts = parted(request)
        if parts in (["healthz"], ["livez"], ["readyz"]):
            return web.Response(text="ok")
        if parts == ["version"]:
            return reply({"major": "1", "minor": "36", "gitVersion": "v1.36.2"})
        place = self.place(parts)
        if place is None:
            return self._discovery(request, parts)
        return await self._objects(request, *place)

    async def _objects(
        self, request: web.Request, kind: Kind, namespace: str, name: str
    ) -> web.StreamResponse:
        if kind.plural == "tokenreviews":
            return reply(self.reviews.token_review(await created(request)), status=201)
        if kind.plural == "subjectaccessreviews":
            return reply(self.reviews.access_review(await created(request)), status=201)
        if request.method in ("PUT", "POST", "PATCH", "DELETE"):
            return await change(self.world, request, kind, namespace, name)
        if name:
            return self._one(kind, namespace, name)
        query = request.query
        selection = Selection(namespace, query.get("labelSelector", ""), query.get("fieldSelector", ""))
        if watching(request):
            return await self._watch(request, kind, selection)
        return self._list(request, kind, selection)

    def place(self, parts: list[str]) -> tuple[Kind, str, str] | None:
        """(kind, namespace, name) of a path, or None if it is discovery."""
        if len(parts) < 3 or parts[0] not in ("api", "apis"):
            return None
        group, rest = ("", parts[1:]) if parts[0] == "api" else (parts[1], parts[2:])
        version, *rest = rest
        namespace = ""
        if len(rest) > 2 and rest[0] == "namespaces":
            namespace, rest = rest[1], rest[2:]
        for kind in self.world.kinds:
            if rest and (kind.group, kind.plural) == (group, rest[0]) and version in kind.versions:
                return kind, namespace, rest[1] if len(rest) > 1 else ""
        return None

    # -- discovery

    def _discovery(self, request: web.Request, parts: list[str]) -> web.Response:
        found, accept = discovery.groups(self.world.kinds), request.headers.get("Accept", "").replace(" ", "")
        if parts in (["api"], ["apis"]):
            for form in self.aggregated:
                wanted = f"application/json;g=apidiscovery.k8s.io;v={form};as=APIGroupDiscoveryList"
                if wanted in accept:
                    body = discovery.aggregated(found, form, self.stale, core=parts == ["api"])
                    return reply(body, content_type=wanted)
            old = discovery.api_versions(request.host) if parts == ["api"] else discovery.group_list(found)
            return reply(old)
        name = parts[1] if parts[:1] == ["apis"] and len(parts) > 1 else ""
        version = parts[-1] if parts[:1] in (["api"], ["apis"]) and len(parts) == (3 if name else 2) else ""
        kinds = found.get(name, [])
        if name and kinds and not version:
            return reply({"kind": "APIGroup", "apiVersion": "v1"} | discovery.group(name, kinds))
        if version not in discovery.versions(kinds):
            raise Refusal(404, "NotFound", UNKNOWN)
        if f"{name}/{version}" in self.stale:
            raise Refusal(503, "ServiceUnavailable", "service unavailable")
        return reply(discovery.resource_list(name, version, kinds))

    # -- objects

    def _one(self, kind: Kind, namespace: str, name: str) -> web.Response:
        found = self.world.objects.get(kind, {}).get((namespace, name))
        if found is None:
            raise not_found(kind, name)
        return reply(found)

    def _list(self, request: web.Request, kind: Kind, selection: Selection) -> web.Response:
        metadata_only = wants_metadata(request, "PartialObjectMetadataList")
        limit = int(request.query.get("limit") or 0)
        try:
            page = self.world.listed(kind, selection, limit, request.query.get("continue", ""))
        except Expired as old:
            raise Refusal(410, "Expired", str(old)) from old
        metadata: Body = {"resourceVersion": str(page.version)}
        if page.token:
            metadata |= {"continue": page.token, "remainingItemCount": page.remaining}
        return reply(
            {
                "kind": "PartialObjectMetadataList" if metadata_only else f"{kind.kind}List",
                "apiVersion": "meta.k8s.io/v1" if metadata_only else kind.api_version,
                "metadata": metadata,
                "items": [partial(one) if metadata_only else one for one in page.items],
            }
        )

    async def _watch(self, request: web.Request, kind: Kind, selection: Selection) -> web.StreamResponse:
        stream = Stream(self.world, kind, selection, wants_metadata(request, "PartialObjectMetadata"))
        self.streams.add(stream)
        try:
            return await stream.run(request, self.bookmark_seconds)
        finally:
            self.streams.discard(stream)


def parted(request: web.Request) -> list[str]:
    """The segments of its path."""
    return [part for part in request.path.split("/") if part]


def watching(request: web.Request) -> bool:
    return request.query.get("watch") in ("true", "1")


async def created(request: web.Request) -> Body:
    """The body of a POST; nothing else is allowed where reviews are made."""
    if request.method != "POST":
        text = "the server does not allow this method on the requested resource"
        raise Refusal(405, "MethodNotAllowed", text)
    body: Body = await request.json()
    return body
