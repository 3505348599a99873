"""OpenAPI documents as the aggregator collects them."""

import json

from tests.support import aggregator_wire as wire
from tests.support.aggregator_client import Answer
from tests.support.aggregator_proxy import Proxy
from tests.support.aggregator_wire import Outgoing
from tests.support.fake_kube_world import Body

SECONDS = 60.0


class OpenApi:
    """What extension API servers gave: v2 and v3 by APIService name. `complaints` are lines of the real one's log."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
        self.v2: dict[str, Body] = {}
        self.v3: dict[str, Body] = {}
        self.legacy: set[str] = set()
        """Those without v3: never asked for it again while their APIService stays."""

        self.complaints: list[str] = []
        self._etags: dict[str, str] = {}

    async def fetch_v2(self, name: str) -> bool:
        """GET /openapi/v2; anything but 200 and 304 is complained of."""
        headers = [("Accept", "application/json")]
        if name in self._etags:
            headers.append(("If-None-Match", self._etags[name]))
        answer = await self._get(name, "/openapi/v2", headers)
        if answer is None or answer.status == 304:
            return True
        if answer.status != 200:
            why = "resource not found" if answer.status == 404 else f"http error: {answer.status}"
            self.complaints.append(f"failed to download {name}: {why}")
            return False
        etag = next((value for key, value in answer.headers if key.lower() == "etag"), "")
        if etag:
            self._etags[name] = etag
        return self._parsed(self.v2, name, answer)

    async def fetch_v3(self, name: str) -> bool:
        """GET /openapi/v3, which leads to the documents; those are fetched when a user asks."""
        if name in self.legacy:
            return True
        answer = await self._get(name, "/openapi/v3", [])
        if answer is None:
            return True
        if answer.status == 404:
            self.legacy.add(name)
            return True
        if answer.status != 200:
            self.complaints.append(f"failed to download v3 of {name}: {answer.status}")
            return False
        return self._parsed(self.v3, name, answer)

    def forget(self, name: str) -> None:
        for held in (self.v2, self.v3, self._etags):
            held.pop(name, None)
        self.legacy.discard(name)

    def root(self) -> Body:
        """GET /openapi/v3 of the cluster: all keys of all servers."""
        paths: Body = {}
        for document in self.v3.values():
            paths |= document.get("paths", {})
        return {"paths": paths}

    async def _get(self, name: str, path: str, headers: wire.Headers) -> Answer | None:
        api = self._proxy.find(name)
        if api is None:
            self.forget(name)
            return None
        return await self._proxy.own_request(
            "openapi", api, Outgoing(wire.OPENAPI, path, headers=headers), SECONDS
        )

    def _parsed(self, held: dict[str, Body], name: str, answer: Answer) -> bool:
        try:
            held[name] = json.loads(answer.body)
        except ValueError as error:
            self.complaints.append(f"failed to parse {name}: {error}")
            return False
        return True
