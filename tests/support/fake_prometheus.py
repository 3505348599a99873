"""A scriptable stand-in for Prometheus on loopback.

async with FakePrometheus() as fake:
    fake.answer("up", vector(sample({"pod": "a"}, 1)))               # by the query's text
    fake.answer(lambda query: "rate" in query, status(503), vector())  # by a predicate; in turn, the last stays
    fake.otherwise(lambda query: vector(...))                         # for all other queries (default: no sample)
    fake.series("up", [{"__name__": "up", "pod": "a"}])               # listings by match[]
    ... fake.url, fake.queries(), fake.requests
"""

import asyncio
import socket
import ssl
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from aiohttp import web

from tests.support.fake_prometheus_answers import Reply, status, success, vector

CHUNK = b" " * 65_536


@dataclass(frozen=True)
class Request:
    """One request as it came."""

    method: str
    path: str
    form: Mapping[str, str]
    headers: Mapping[str, str]
    url_query: Mapping[str, str]


Answer = Reply | Callable[[str], Reply]


class FakePrometheus:
    """The server. Attributes may be changed at any time."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self.refuse_post = False
        self.max_url_bytes: int | None = None
        self.max_query_bytes: int | None = None
        self.sent_bytes = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self._tls = tls
        self._port = 0
        self._scripts: list[tuple[Callable[[str], bool], list[Answer]]] = []
        self._otherwise: Answer = lambda _query: vector()
        self._listings: dict[str, list[Answer]] = {}
        self._open = asyncio.Event()
        self._open.set()
        self._closing = asyncio.Event()
        self._arrived = asyncio.Condition()
        self._runner: web.AppRunner | None = None

    # -- the script

    def answer(self, query: str | Callable[[str], bool], *answers: Answer) -> None:
        """Answer this query text (or those that the predicate takes) so, in turn; the last one stays.

        A later script for the same query goes before an earlier one.
        """
        matches = (lambda text: text == query) if isinstance(query, str) else query
        self._scripts.insert(0, (matches, list(answers)))

    def otherwise(self, answer: Answer) -> None:
        """Answer all other queries so."""
        self._otherwise = answer

    def series(self, match: str, *answers: Iterable[Mapping[str, str]] | Answer) -> None:
        """Answer listings of `match` with these series (or replies), in turn; the last one stays."""
        self._listings[match] = [
            one if isinstance(one, Reply) or callable(one) else success([dict(labels) for labels in one])
            for one in answers
        ]

    def hold(self) -> None:
        """Let requests in, but answer none before release()."""
        self._open.clear()

    def release(self) -> None:
        self._open.set()

    async def asked(self, number: int) -> None:
        """Wait until so many requests have come in all."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= number)

    # -- what came

    def queries(self) -> list[str]:
        """The texts of the queries, in order."""
        return [one.form["query"] for one in self.requests if one.path.endswith("/query")]

    def listings(self) -> list[str]:
        """The match[] of the series listings, in order."""
        return [one.form["match[]"] for one in self.requests if one.path.endswith("/series")]

    @property
    def connections(self) -> int:
        """Connections that are open at this moment."""
        server = self._runner.server if self._runner else None
        return len(server.connections) if server else 0

    # -- life

    @property
    def url(self) -> str:
        scheme = "https" if self._tls else "http"
        return f"{scheme}://127.0.0.1:{self._port}"

    async def start(self) -> None:
        """Open the port: a free one the first time, the same one afterwards."""
        self._closing.clear()
        app = web.Application(client_max_size=1 << 24)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, max_line_size=1 << 20)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port, ssl_context=self._tls, reuse_address=True)
        await site.start()
        self._port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Close the port and every connection."""
        self._closing.set()
        self._open.set()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    # -- one request

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        form = dict(request.query) | {name: str(value) for name, value in (await request.post()).items()}
        await self._record(request, form)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._send(request, self._limited(request, form) or self._choose(request.path, form))
        finally:
            self.in_flight -= 1

    async def _record(self, request: web.Request, form: Mapping[str, str]) -> None:
        came = Request(request.method, request.path, form, dict(request.headers), dict(request.query))
        async with self._arrived:
            self.requests.append(came)
            self._arrived.notify_all()
        await self._open.wait()

    def _limited(self, request: web.Request, form: Mapping[str, str]) -> Reply | None:
        if self.refuse_post and request.method == "POST":
            return status(405, b"only GET")
        if self.max_url_bytes is not None and len(request.raw_path) > self.max_url_bytes:
            return status(414, b"too long")
        if self.max_query_bytes is not None and len(form.get("query", "")) > self.max_query_bytes:
            return status(413, b"too long")
        return None

    def _choose(self, path: str, form: Mapping[str, str]) -> Reply:
        if path.endswith("/api/v1/series"):
            match = form.get("match[]", "")
            return _next(self._listings.get(match) or [success([])], match)
        if not path.endswith("/api/v1/query"):
            return status(404, b"404 page not found")
        query = form.get("query", "")
        for matches, answers in self._scripts:
            if matches(query):
                return _next(answers, query)
        return _next([self._otherwise], query)

    async def _send(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        if reply.black_hole:
            await self._closing.wait()
            return web.Response(status=503)
        if reply.delay_seconds:
            await asyncio.sleep(reply.delay_seconds)
        if reply.endless:
            return await self._stream(request, reply)
        if reply.reset_after is not None:
            return await self._tear(request, reply)
        headers = {"Content-Type": reply.content_type} | dict(reply.headers)
        return web.Response(body=reply.body, status=reply.status, headers=headers)

    async def _stream(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": reply.content_type} | dict(reply.headers))
        await response.prepare(request)
        await response.write(reply.body)
        while not self._closing.is_set():
            await response.write(CHUNK)
            self.sent_bytes += len(CHUNK)
        return response

    async def _tear(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": reply.content_type})
        response.content_length = len(reply.body)
        if reply.reset_after:
            await response.prepare(request)
            await response.write(reply.body[: reply.reset_after])
        transport = request.transport
        if transport is not None:
            # Without lingering a close is a reset: the peer sees ECONNRESET, not the end of the stream.
            if not reply.reset_after:
                plain = transport.get_extra_info("socket")
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                transport.abort()
            else:
                transport.close()
        return response


def _next(answers: list[Answer], text: str) -> Reply:
    answer = answers.pop(0) if len(answers) > 1 else answers[0]
    return answer if isinstance(answer, Reply) else answer(text)
