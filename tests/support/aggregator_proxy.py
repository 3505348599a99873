"""The proxy of the aggregation layer: requests of users, and the API server's own, to whom an APIService names."""

import asyncio
import base64
import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from tests.support import aggregator_wire as wire
from tests.support.aggregator_client import Answer, Client, NoTransport, Unreachable, Way
from tests.support.aggregator_service import NotThere, Place, Services
from tests.support.aggregator_wire import Headers, Outgoing
from tests.support.fake_kube_world import Body, World

DISCOVERY_SECONDS = 5.0
REQUEST_SECONDS = 60.0
KEPT = 20_000
"""So many requests are remembered."""

TEXT = [("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff")]
REDIRECTED = "the backend attempted to redirect this request, which is not permitted"


@dataclass(frozen=True)
class Sent:
    """One request as it left for an extension API server."""

    purpose: str
    """user, check, discovery or openapi."""

    api: str
    """Name of the APIService."""

    method: str
    target: str
    headers: Headers

    def all(self, name: str) -> list[str]:
        """All values of a header."""
        return [value for key, value in self.headers if key.lower() == name.lower()]


def failed(status: int, text: str) -> Answer:
    """An error of the aggregator's own, as Go's http.Error writes it."""
    return Answer(status, list(TEXT), f"{text}\n".encode())


def timed_out() -> Answer:
    """What the API server says when its own patience ends: a Status whose type is text."""
    body = {
        "metadata": {},
        "status": "Failure",
        "message": "Timeout: request did not complete within the allotted timeout",
        "reason": "Timeout",
        "details": {},
        "code": 504,
    }
    return Answer(504, [("Content-Type", "text/plain; charset=utf-8")], json.dumps(body).encode())


def available(api: Body) -> bool:
    """Whether its condition says so."""
    return condition(api).get("status") == "True"


def condition(api: Body) -> Body:
    """Its condition Available, or {}."""
    for one in (api.get("status") or {}).get("conditions") or ():
        if one["type"] == "Available":
            found: Body = one
            return found
    return {}


def way(api: Body) -> Way:
    """How it is connected to."""
    spec = api["spec"]
    bundle = base64.b64decode(spec.get("caBundle") or "")
    name = f"{spec['service']['name']}.{spec['service']['namespace']}.svc"
    return Way(name, bundle, bool(spec.get("insecureSkipTLSVerify")))


class Proxy:
    """This sends requests on. `sent` are the latest of them."""

    def __init__(self, world: World, services: Services, client: Client) -> None:
        self.world, self.services, self.client = world, services, client
        self.sent: deque[Sent] = deque(maxlen=KEPT)

    def registered(self) -> Iterator[tuple[str, Body]]:
        """(name, APIService) of those that name a Service."""
        kind = self.world.kind("apiservices.apiregistration.k8s.io")
        for (_, name), body in sorted(self.world.objects.get(kind, {}).items()):
            if body.get("spec", {}).get("service"):
                yield name, body

    def find(self, name: str) -> Body | None:
        return dict(self.registered()).get(name)

    async def user_request(self, api: Body, outgoing: Outgoing, seconds: float) -> Answer:
        """The answer that a user gets."""
        discovery = outgoing.path.strip("/").count("/") == 2 and outgoing.method == "GET"
        try:
            async with asyncio.timeout(min(seconds, DISCOVERY_SECONDS) if discovery else seconds):
                return await self._exchange("user", api, outgoing)
        except TimeoutError:
            if discovery and seconds > DISCOVERY_SECONDS:
                return failed(503, "error trying to reach service: context deadline exceeded")
            return timed_out()

    async def own_request(self, purpose: str, api: Body, outgoing: Outgoing, seconds: float) -> Answer:
        """The answer to a request of the API server itself: by the same handler, into memory."""
        try:
            async with asyncio.timeout(seconds):
                return await self._exchange(purpose, api, outgoing)
        except TimeoutError:
            return failed(503, "request timed out")

    async def _exchange(self, purpose: str, api: Body, outgoing: Outgoing) -> Answer:
        if not available(api):
            return failed(503, "service unavailable")
        try:
            answer = await self._dial(purpose, api, outgoing)
        except NotThere:
            return failed(503, "service unavailable")
        except NoTransport as error:
            return failed(500, str(error))
        except Unreachable as error:
            return failed(503, f"error trying to reach service: {error}")
        if 300 <= answer.status < 400 and any(name.lower() == "location" for name, _ in answer.headers):
            return Answer(502, TEXT[:1], REDIRECTED.encode())
        return answer

    async def _dial(self, purpose: str, api: Body, outgoing: Outgoing) -> Answer:
        place = self.services.place(api["spec"]["service"])
        headers = wire.complete(outgoing, place.shown)
        return await self.dispatch(purpose, api, place, outgoing, headers)

    async def dispatch(
        self, purpose: str, api: Body, place: Place, outgoing: Outgoing, headers: Headers
    ) -> Answer:
        """One request with exactly these headers. Raises NoTransport, Unreachable."""
        name = api["metadata"]["name"]
        self.sent.append(Sent(purpose, name, outgoing.method, outgoing.target, headers))
        return await self.client.send(way(api), place, outgoing, headers)
