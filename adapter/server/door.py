"""HTTP as we speak it: aiohttp's server with the adapter's limits, whose every error is a Status in JSON."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, cast

from aiohttp import HttpVersion10, HttpVersion11, web

from adapter import errors
from adapter.server.connections import Reason, Standing
from adapter.settings import Limits
from adapter.telemetry import logs
from adapter.wire import status

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

JSON: Final = "application/json"

VERSIONS: Final = (HttpVersion10, HttpVersion11)
"""aiohttp takes requests of any version, and answers in the same."""

PIECE_BYTES: Final = 48 * 1024
"""A larger answer is written in such pieces, each when there is room for it. aiohttp waits for room after each 64 KiB
only: of this size two are written at once at most."""

LINGERING_SECONDS: Final = 1.0
"""How long the rest of a body is thrown away after the answer, lest the sender misses the answer by a reset."""

LATER_SECONDS: Final = 10.0
"""aiohttp's own limit of an idle connection lies so much behind ours: ours counts them."""

SOFTWARE: Final = "hpa-adapter"
"""aiohttp would tell its own version, and Python's."""

NO_BODY: Final = "the server reads no request bodies and changes no protocols"

log = logs.get("door")


class Gate(Protocol):
    """What a connection tells and asks its gate (gate.Gate)."""

    standing: Standing

    def received(self, size: int) -> bool:
        """So many bytes came. Whether they may still be the head of a request."""
        ...

    def answered(self) -> None:
        """A request has its answer."""
        ...

    def moved(self) -> None:
        """The caller has taken so much that there is room for more."""
        ...

    def over(self, reason: Reason) -> None:
        """The connection ends after the answer that is being written."""
        ...

    def lost(self) -> None:
        """The connection is closed."""
        ...


class Connection(web.RequestHandler):
    """One connection. What cannot be read as HTTP is answered in JSON too, without an echo of the bytes."""

    def __init__(self, door: "Door", gate: Gate, limits: Limits) -> None:
        super().__init__(
            door,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=limits.keepalive_seconds + LATER_SECONDS,
            lingering_time=LINGERING_SECONDS,
            max_line_size=limits.max_line_bytes,
            max_field_size=limits.max_field_bytes,
            max_headers=limits.max_headers,
            access_log=None,  # type: ignore[arg-type]  # aiohttp checks for it: no log of each request
            logger=logging.getLogger("adapter.http"),
        )
        self.gate = gate

    def data_received(self, data: bytes) -> None:
        """Bytes of a request, unless there are too many of them."""
        if self.gate.received(len(data)):
            super().data_received(data)
        else:
            self.refuse(Reason.LARGE_HEAD)

    def refuse(self, reason: Reason) -> None:
        """400 and the end, where aiohttp has no request to answer, or would answer in a version that is none."""
        self.gate.over(reason)
        if self.transport is not None:
            self.transport.write(_MALFORMED)
        self.force_close()

    def resume_writing(self) -> None:
        """There is room in the connection's buffer again."""
        super().resume_writing()
        self.gate.moved()

    def connection_lost(self, exc: BaseException | None) -> None:
        """The other end, or we, closed it."""
        super().connection_lost(exc)
        self.gate.lost()

    def handle_error(
        self,
        request: web.BaseRequest,
        status_code: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """The answer to a request that never became one. `message` may hold the caller's bytes: it is not shown."""
        if request.writer.output_size > 0 or isinstance(exc, ConnectionError):
            raise ConnectionError("the caller has left, or has a part of the answer already")
        del message
        if status_code >= 500:  # noqa: PLR2004
            log.error("request_failed", exc_info=exc)
            return _refusal(errors.Bug("the adapter failed to answer"))
        log.debug("request_malformed", extra={"kind": type(exc).__name__})
        self.gate.over(Reason.MALFORMED)
        return _refusal(_malformed())


LET_IN: Final = web.RequestKey("let_in", bool)
"""Whether access control has let a request in; a handler that has none says nothing."""


class Door(web.Server):
    """The server: what is done with every request, whatever it asks."""

    def __init__(self, handler: Handler, limits: Limits, *, compat: bool = False) -> None:
        super().__init__(self._answered)
        self._handler, self._limits, self._compat = handler, limits, compat
        self.draining = False
        """Whether each answer is the last of its connection: the caller then opens the next one elsewhere."""

    def connection(self, gate: Gate) -> Connection:
        """The HTTP of one connection."""
        return Connection(self, gate, self._limits)

    async def _answered(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = cast("Connection", request.protocol)
        gate = connection.gate
        gate.standing.began()
        if request.version not in VERSIONS:
            connection.refuse(Reason.MALFORMED)
            raise ConnectionError("the caller has its answer")
        try:
            return await self._written(request, await self._response(request, gate))
        finally:
            gate.answered()

    async def _response(self, request: web.BaseRequest, gate: Gate) -> web.StreamResponse:
        more = request.body_exists or "Upgrade" in request.headers
        if more and request.method == "GET" and not self._compat:  # other methods are refused as such
            response: web.StreamResponse = _refusal(errors.OnlyReading(NO_BODY), Allow="GET")
        else:
            response = await self._handler(request)
        if request.get(LET_IN, True):
            gate.standing.let_in()
        else:
            response.force_close()  # a stranger, or a probe, which opens a new one each time anyway
        response.headers.setdefault("Server", SOFTWARE)
        if more:
            gate.standing.closing()
        if more or self.draining:
            response.force_close()
        return response

    async def _written(self, request: web.BaseRequest, whole: web.StreamResponse) -> web.StreamResponse:
        """The response itself; in place of a large one, its like that has been written already."""
        if not isinstance(whole, web.Response) or not isinstance(whole.body, bytes):
            return whole
        if len(whole.body) <= PIECE_BYTES:
            return whole
        stream = web.StreamResponse(status=whole.status, headers=whole.headers)
        stream.content_length = len(whole.body)
        if whole.keep_alive is False:
            stream.force_close()
        await stream.prepare(request)
        body = memoryview(whole.body)
        for start in range(0, len(body), PIECE_BYTES):
            await stream.write(body[start : start + PIECE_BYTES])
        await stream.write_eof()
        return stream


def _malformed() -> errors.AdapterError:
    return errors.BadRequest(
        "the request is not HTTP as this server reads it",
        next_step="check the length of the request line and of its headers, and their form",
    )


def _refusal(error: errors.AdapterError, **headers: str) -> web.Response:
    code, body = status.failure(error, compat=False)
    response = web.Response(
        status=code, body=body, content_type=JSON, headers={"Server": SOFTWARE, **headers}
    )
    response.force_close()
    return response


def _raw(error: errors.AdapterError, phrase: str) -> bytes:
    code, body = status.failure(error, compat=False)
    head = (
        f"HTTP/1.1 {code} {phrase}\r\nContent-Type: {JSON}\r\nContent-Length: {len(body)}\r\n"
        f"Server: {SOFTWARE}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


_MALFORMED: Final = _raw(_malformed(), "Bad Request")
