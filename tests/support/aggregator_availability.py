"""Whether an APIService is available: five requests at once, and its condition says what came of them."""

import asyncio
import datetime
from dataclasses import dataclass

from tests.support import aggregator_wire as wire
from tests.support.aggregator_client import NoTransport, Unreachable
from tests.support.aggregator_proxy import Proxy, condition, way
from tests.support.aggregator_service import NotThere
from tests.support.aggregator_wire import Outgoing
from tests.support.fake_kube_world import Body

ATTEMPTS = 5
CHECK_SECONDS = 5.0


@dataclass(frozen=True)
class Finding:
    """A condition to be."""

    good: bool
    reason: str
    message: str


class Availability:
    """This checks APIServices and writes what it finds into their status."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
        self._running: set[asyncio.Task[str]] = set()

    async def close(self) -> None:
        """No request of it runs any more."""
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def check(self, name: str) -> Finding:
        """One check, as the API server does it every 30 s and at each change."""
        api = self._proxy.find(name)
        if api is None:
            return Finding(False, "Gone", "")
        finding = await self._found(api)
        self._write(name, finding)
        if not finding.good:
            await self._proxy.client.forget(way(api))
        return finding

    async def _found(self, api: Body) -> Finding:
        try:
            self._proxy.services.check(api["spec"]["service"])
            trouble = await self._ask_all(api)
        except NotThere as error:
            return Finding(False, error.reason, str(error))
        if trouble:
            return Finding(False, "FailedDiscoveryCheck", trouble)
        return Finding(True, "Passed", "all checks passed")

    async def _ask_all(self, api: Body) -> str:
        """What the last of them says, or "" at the first success; the others go on by themselves, unheard."""
        tasks = {asyncio.create_task(self._ask(api)) for _ in range(ATTEMPTS)}
        self._running |= tasks
        for task in tasks:
            task.add_done_callback(self._running.discard)
        trouble = ""
        for done in asyncio.as_completed(tasks):
            trouble = await done
            if not trouble:
                break
        return trouble

    async def _ask(self, api: Body) -> str:
        """One request: "" if its answer is a 2xx, else Go's words."""
        spec = api["spec"]
        place = self._proxy.services.place(spec["service"])
        path = f"/apis/{spec['group']}/{spec['version']}"
        url = f"https://{place.shown}{path}"
        headers = [("User-Agent", "Go-http-client/1.1"), *wire.identity(wire.PROBE)]
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                asked = Outgoing(wire.PROBE, path)
                complete = wire.ordered(headers, place.shown)
                answer = await self._proxy.dispatch("check", api, place, asked, complete)
        except TimeoutError:
            trouble = (
                f'Get "{url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
            )
        except Unreachable as error:
            trouble = f'Get "{url}": {error}'
        except (NoTransport, NotThere) as error:
            return str(error)
        else:
            if 200 <= answer.status < 300:
                return ""
            trouble = f"bad status from {url}: {answer.status}"
        return f"failing or missing response from {url}: {trouble}"

    def _write(self, name: str, finding: Finding) -> None:
        """The condition, if it is another one; it is also a change that watchers see."""
        api = self._proxy.find(name)
        if api is None:
            return
        before = condition(api)
        word = "True" if finding.good else "False"
        if (word, finding.reason, finding.message) == tuple(
            before.get(key) for key in ("status", "reason", "message")
        ):
            return
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        after = {
            "type": "Available",
            "status": word,
            "lastTransitionTime": before["lastTransitionTime"] if before.get("status") == word else now,
            "reason": finding.reason,
            "message": finding.message,
        }
        changed = dict(api) | {"metadata": dict(api["metadata"]), "status": {"conditions": [after]}}
        self._proxy.world.put(self._proxy.world.kind("apiservices.apiregistration.k8s.io"), changed)
