"""The way in of every request: where it leads, who asks and whether they may, and only then an answer.

Whatever fails on the way becomes a Status here, and nothing that an answer needs is raised past here.
"""

from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from aiohttp import web

from adapter import errors
from adapter.access import attributes
from adapter.server import accept, door, routes
from adapter.server.admission import Admission
from adapter.server.routes import OPEN, Match
from adapter.telemetry import logs
from adapter.telemetry.clock import Clock
from adapter.telemetry.metrics import Metrics
from adapter.wire import discovery, status

JSON: Final = "application/json"

log = logs.get("server")


class Actions(Protocol):
    """What the table's actions are done by (handlers)."""

    def action(self, name: str) -> Callable[[Match, web.BaseRequest], Awaitable[web.Response]]:
        """The method of this name."""
        ...


class Entrance:
    """This takes a request to its action."""

    def __init__(
        self, actions: Actions, admission: Admission, metrics: Metrics, clock: Clock, *, compat: bool = False
    ) -> None:
        self._actions, self._admission = actions, admission
        self._metrics, self._clock, self._compat = metrics, clock, compat

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """The answer to a request, whatever it is."""
        began = self._clock.monotonic()
        path = request.raw_path.partition("?")[0]
        matched = routes.match(path)
        request[door.LET_IN] = False
        try:
            response = await self._dispatch(request, path, matched)
        except errors.AdapterError as error:
            response = self._failure(error, headless=request.method == "HEAD")
        except Exception:  # the outermost loop of a request: a bug is told to the log, not to the caller
            log.exception("request_failed")
            response = self._failure(errors.Bug("the adapter failed to answer"))
        if self._admission.outlived(request.transport):
            response.force_close()
        route = matched.action if matched else "unknown"
        self._metrics.requests.labels(route, str(response.status)).inc()
        self._metrics.seconds.labels(route).observe(self._clock.monotonic() - began)
        return response

    async def _dispatch(self, request: web.BaseRequest, path: str, matched: Match | None) -> web.Response:
        if matched is None or matched.access != OPEN:
            await self._admit(request, path, matched)
        if request.method != "GET":
            raise errors.OnlyReading("the server does not allow this method on the requested resource")
        if matched is None:
            return self._unknown(path)
        if not matched.any_accept and not accept.json_accepted(request.headers.get("Accept")):
            raise errors.OnlyJson("only the following media types are accepted: application/json")
        return await self._actions.action(matched.action)(matched, request)

    async def _admit(self, request: web.BaseRequest, path: str, matched: Match | None) -> None:
        """Whoever may not is refused before it is said whether there is such a path."""
        if matched is None:
            wanted = attributes.of_path(path)
        else:
            wanted = attributes.of_match(matched.action, matched.parts, path)
        access = matched.access if matched else routes.REVIEW
        await self._admission.admit(request.transport, request.headers, access, wanted)
        request[door.LET_IN] = True

    def _failure(self, error: errors.AdapterError, *, headless: bool = False) -> web.Response:
        code, body = status.failure(error, compat=self._compat)
        headers = {"Allow": "GET"} if isinstance(error, errors.OnlyReading) else None
        response = web.Response(
            status=code, body=b"" if headless else body, content_type=JSON, headers=headers
        )
        if isinstance(error, errors.NotAuthenticated):
            response.force_close()  # its certificate may have fallen out of trust: a new handshake shows another
        return response

    def _unknown(self, path: str) -> web.Response:
        if self._compat and not routes.in_served_version(path):
            return web.Response(status=404, body=discovery.paths(routes.PATHS), content_type=JSON)
        raise errors.PathUnknown(routes.NO_RESOURCE)
