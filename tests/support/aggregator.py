"""A stand-in for kube-apiserver with its aggregation layer: it knows its callers, and proxies as the real one does.

    files = MadeFiles(directory)
    async with Aggregator(files) as cluster:                 # or automatic=False: nothing happens by itself
        cluster.service("adapter", "custom-metrics", ("127.0.0.1", port))
        cluster.register("custom.metrics.k8s.io", "v1beta2", "adapter", "custom-metrics", ca=issuer.pem)
        cluster.reviews.know("secret", "alice"); cluster.reviews.allow("alice", namespace="shop")
        await cluster.check("v1beta2.custom.metrics.k8s.io")
        ... cluster.url, cluster.condition(name), cluster.proxy.sent

Callers are users by bearer token or client certificate; RBAC decides (fake_kube_rbac.py). For a process of its own
see aggregator_process.py.
"""

import base64
import re
import uuid
from collections.abc import Sequence
from typing import Final

from aiohttp import web

from tests.support import aggregator_attributes as attributes
from tests.support import aggregator_discovery as merged
from tests.support import aggregator_service, aggregator_users
from tests.support import aggregator_wire as wire
from tests.support import fake_kube_discovery as own
from tests.support.aggregator_availability import Availability, Finding
from tests.support.aggregator_client import Answer, Client
from tests.support.aggregator_discovery import AGGREGATED, Discovery
from tests.support.aggregator_loops import Loops, Paces
from tests.support.aggregator_openapi import OpenApi
from tests.support.aggregator_pki import ClusterFiles
from tests.support.aggregator_proxy import REQUEST_SECONDS, Proxy, condition, failed
from tests.support.aggregator_service import Services
from tests.support.aggregator_wire import Outgoing
from tests.support.fake_kube import FakeKube
from tests.support.fake_kube_answers import parted
from tests.support.fake_kube_faults import Asked
from tests.support.fake_kube_rbac import User
from tests.support.fake_kube_refusals import Refusal, reply
from tests.support.fake_kube_world import Body

CLUSTER_IP = "127.96.0.10"
FLOW = {"X-Kubernetes-Pf-Flowschema-Uid": "8b7e0510", "X-Kubernetes-Pf-Prioritylevel-Uid": "5c815fd4"}
USER: Final = web.RequestKey("user", User)
AUDIT: Final = web.RequestKey("audit", str)
UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0}


class Aggregator(FakeKube):
    """One API server. Everything of FakeKube is there too: objects, lists, watches, reviews, faults."""

    def __init__(
        self,
        files: ClusterFiles,
        *,
        paces: Paces | None = None,
        automatic: bool = True,
        by_proxy: bool = True,
        port: int = 0,
    ) -> None:
        super().__init__(tls=files.context(), port=port)
        self.files, self._automatic = files, automatic
        self.publish_authorities(files.authorities)
        self.client = Client(files.front_proxy)
        self.proxy = Proxy(self.world, Services(self.world, by_proxy=by_proxy), self.client)
        self.availability = Availability(self.proxy)
        self.discovery, self.openapi = Discovery(self.proxy), OpenApi(self.proxy)
        paces = paces or Paces()
        self._loops = Loops(
            self.world,
            lambda: [name for name, _ in self.proxy.registered()],
            {
                "check": (self._checked, paces.check),
                "discovery": (self.discovery.fetch, paces.discovery),
                "openapi v2": (self.openapi.fetch_v2, paces.openapi),
                "openapi v3": (self.openapi.fetch_v3, paces.openapi),
            },
        )

    async def start(self) -> None:
        await super().start()
        if self._automatic:
            self._loops.start()

    async def stop(self) -> None:
        await self._loops.stop()
        await self.availability.close()
        await self.client.close()
        await super().stop()

    # -- what a test does with it

    def service(
        self, name: str, namespace: str, *endpoints: tuple[str, int], cluster_ip: str = CLUSTER_IP
    ) -> None:
        """A Service, port 443, with these endpoints; again: with others."""
        kind = self.world.kind("endpointslices.discovery.k8s.io")
        for place, old in list(self.world.objects.get(kind, {})):
            if place == namespace and re.fullmatch(rf"{name}-\d+", old):
                self.world.delete(kind, place, old)
        made = aggregator_service.objects(name, namespace, *endpoints, cluster_ip=cluster_ip)
        for word, body in made:
            self.world.put(self.world.kind(word), body)

    def register(
        self, group: str, version: str, name: str, namespace: str, *, ca: str = "", **spec: object
    ) -> str:
        """An APIService, and its name; `spec` are further fields of its spec."""
        whole: Body = {
            "group": group,
            "version": version,
            "service": {"name": name, "namespace": namespace, "port": 443},
            "groupPriorityMinimum": 100,
            "versionPriority": 200 if version == "v1beta2" else 100,
        }
        whole |= {"caBundle": base64.b64encode(ca.encode()).decode()} if ca else {}
        body = {"metadata": {"name": f"{version}.{group}"}, "spec": whole | spec}
        self.world.put(self.world.kind("apiservices.apiregistration.k8s.io"), body)
        return f"{version}.{group}"

    def condition(self, api: str) -> Body:
        """The condition Available of an APIService: status, reason, message."""
        found = self.proxy.find(api)
        return condition(found) if found else {}

    async def check(self, api: str) -> Finding:
        """One availability check."""
        return await self.availability.check(api)

    async def settle(self, *apis: str) -> None:
        """Check, then fetch discovery and OpenAPI, of these APIServices: what else happens by itself."""
        for api in apis:
            await self.check(api)
            await self.discovery.fetch(api)
            await self.openapi.fetch_v2(api)
            await self.openapi.fetch_v3(api)

    async def _checked(self, api: str) -> bool:
        return (await self.check(api)).good

    # -- requests

    def application(self) -> web.Application:
        made = super().application()
        made.on_response_prepare.append(_finish)
        return made

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        request[AUDIT] = request.headers.get("Audit-Id", str(uuid.uuid4()))[:64]
        return await super()._handle(request)

    def _authenticate(self, request: web.Request) -> None:
        request[USER] = aggregator_users.asking(request, self.reviews)

    async def _allowed(self, request: web.Request, asked: Asked) -> web.StreamResponse:
        wanted = attributes.of(request.method, request.path, dict(request.query))
        if not self.reviews.allowed(request[USER], wanted):
            raise attributes.forbidden(request[USER], wanted)
        return await super()._allowed(request, asked)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Like FakeKube's, but for groups that APIServices bring."""
        parts = parted(request)
        if parts[:1] == ["openapi"]:
            return await self._openapi(request, parts)
        if parts[:1] != ["apis"]:
            return await super().answer(request)
        if len(parts) > 2 and (api := self.proxy.find(f"{parts[2]}.{parts[1]}")):
            return await self._proxied(request, api)
        return self._group(request, parts) or await super().answer(request)

    def _group(self, request: web.Request, parts: Sequence[str]) -> web.Response | None:
        """What the API server itself says of groups that APIServices bring; None if it is about others."""
        groups = self.discovery.groups()
        if len(parts) == 1:
            return self._all_groups(request, groups)
        if parts[1] not in groups:
            return None
        if len(parts) > 2:
            return _response(failed(404, "404 page not found"))
        body = {"kind": "APIGroup", "apiVersion": "v1"}
        return reply(body | merged.old_form(parts[1], groups[parts[1]]))

    def _all_groups(self, request: web.Request, groups: dict[str, list[str]]) -> web.Response:
        built_in = own.groups(self.world.kinds)
        accept = request.headers.get("Accept", "").replace(" ", "")
        for form, media in zip(merged.FORMS, AGGREGATED, strict=True):
            if media in accept and form in self.aggregated:
                whole = own.aggregated(built_in, form, self.stale, core=False)
                whole["items"] += self.discovery.aggregated()
                return reply(whole, content_type=media)
        listed = own.group_list(built_in)
        listed["groups"] += [merged.old_form(group, versions) for group, versions in groups.items()]
        return reply(listed)

    async def _openapi(self, request: web.Request, parts: Sequence[str]) -> web.Response:
        if parts[1:] == ["v3"]:
            return reply(self.openapi.root())
        if parts[1:3] == ["v3", "apis"] and len(parts) == 5:
            api = self.proxy.find(f"{parts[4]}.{parts[3]}")
            if api is not None:
                return await self._proxied(request, api)
        if parts[1:] == ["v2"]:
            info = {"title": "Kubernetes", "version": "v1.36.2"}
            return reply({"swagger": "2.0", "info": info, "paths": {}, "definitions": {}})
        return _response(failed(404, "404 page not found"))

    async def _proxied(self, request: web.Request, api: Body) -> web.Response:
        raw, _, query = request.raw_path.partition("?")
        headers = wire.forwarded(
            request.headers.items(), audit_id=request[AUDIT], peer=request.remote or "127.0.0.1"
        )
        outgoing = Outgoing(
            request[USER], wire.path(raw), wire.query(query), request.method, headers, await request.read()
        )
        return _response(await self.proxy.user_request(api, outgoing, _patience(request)))


def _patience(request: web.Request) -> float:
    """Seconds that the caller grants by ?timeout=, at most the API server's own."""
    text = request.query.get("timeout", "")
    if not text:
        return REQUEST_SECONDS
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m)", text)
    if parts is None:
        why = f'invalid timeout specified in the request URL - failed to parse duration: time: invalid duration "{text}"'
        raise Refusal(400, "BadRequest", why)
    return min(float(parts[1]) * UNIT[parts[2]] or REQUEST_SECONDS, REQUEST_SECONDS)


def _response(answer: Answer) -> web.Response:
    """The answer as it goes to the caller: as it is, but for what belongs to one connection."""
    made = web.Response(status=answer.status, body=answer.body)
    for name, value in answer.headers:
        if name.lower() not in wire.HOP_BY_HOP | {"content-length"} and not name.lower().startswith(
            "access-control-"
        ):
            made.headers.add(name, value)
    return made


async def _finish(request: web.Request, response: web.StreamResponse) -> None:
    """What every answer of an API server bears; a proxied one then has some of it twice."""
    response.headers.popall("Server", None)
    if AUDIT in request:
        response.headers.add("Audit-Id", request[AUDIT])
    response.headers.add("Cache-Control", "no-cache, private")
    if response.status == 403:
        response.headers["X-Content-Type-Options"] = "nosniff"
    if response.status != 401:
        response.headers.extend(FLOW)
