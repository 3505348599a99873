"""The socket: an HTTP server with the adapter's limits, whose every error is a Status in JSON."""

import logging
import ssl
from collections.abc import Awaitable, Callable

from aiohttp import web

from adapter import errors
from adapter.settings import Limits, Serving
from adapter.telemetry import logs
from adapter.wire import status

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

log = logs.get("listener")


class Connection(web.RequestHandler):
    """One connection. What cannot be read as HTTP is answered in JSON too, without an echo of the bytes."""

    def handle_error(
        self,
        request: web.BaseRequest,
        status_code: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """The answer to a request that never became one. `message` may hold the caller's bytes: it is not shown."""
        if request.writer.output_size > 0:
            raise ConnectionError("the answer has begun already")
        del message
        error: errors.AdapterError
        if status_code >= 500:  # noqa: PLR2004
            log.error("request_failed", exc_info=exc)
            error = errors.Bug("the adapter failed to answer")
        else:
            log.debug("request_malformed", extra={"kind": type(exc).__name__})
            error = errors.BadRequest(
                "the request is not HTTP as this server reads it",
                next_step="check the length of the request line and of its headers, and their form",
            )
        code, body = status.failure(error, compat=False)
        response = web.Response(status=code, body=body, content_type="application/json")
        response.force_close()
        return response


class Door(web.Server):
    """The server: makes a Connection for each connection."""

    def __init__(self, handler: Handler, limits: Limits) -> None:
        super().__init__(handler)
        self._limits = limits

    def __call__(self) -> web.RequestHandler:
        """One connection's protocol: the loop asks for it."""
        return Connection(
            self,
            loop=self._loop,
            keepalive_timeout=self._limits.keepalive_seconds,
            max_line_size=self._limits.max_line_bytes,
            max_field_size=self._limits.max_field_bytes,
            max_headers=self._limits.max_headers,
            access_log=None,  # type: ignore[arg-type]  # aiohttp checks for it: no log of each request
            logger=logging.getLogger("adapter.http"),
        )


class Listener:
    """This opens the port and closes it again."""

    def __init__(self, handler: Handler, serving: Serving, limits: Limits) -> None:
        self._runner = web.ServerRunner(Door(handler, limits), shutdown_timeout=limits.shutdown_seconds)
        self._serving = serving

    async def start(self, context: ssl.SSLContext) -> int:
        """The port that is open now. Raises OSError where it cannot be."""
        await self._runner.setup()
        site = web.TCPSite(
            self._runner, self._serving.address, self._serving.port, ssl_context=context, reuse_address=True
        )
        await site.start()
        port: int = self._runner.addresses[0][1]
        return port

    async def stop(self) -> None:
        """No new connection; requests in flight end, up to the limit."""
        await self._runner.cleanup()
