"""An extension API server that is only looked at: it keeps each request as it came, and answers as it is told."""

import json
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Self

from aiohttp import web


@dataclass(frozen=True)
class Seen:
    """A request as it was on the wire."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    certificate: str
    """Common name of the client's certificate, or ""."""

    body: bytes

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]


Answering = Callable[[Seen], Awaitable[web.StreamResponse]]


class Extension:
    """By path, `answers` hold what makes the answer; elsewhere it is 200 and {}."""

    def __init__(self, tls: ssl.SSLContext | None, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.context, self.host, self.port = tls, host, port
        self.seen: list[Seen] = []
        self.answers: dict[str, Answering] = {}
        self._runner: web.ServerRunner | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def place(self) -> tuple[str, int]:
        return self.host, self.port

    async def start(self) -> None:
        """Listen, on the same port as before if it was stopped."""
        server = web.Server(
            self._handle, access_log=None, max_line_size=2**20, max_field_size=2**20, max_headers=4096
        )
        self._runner = web.ServerRunner(server, shutdown_timeout=0.01, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(
            self._runner, self.host, self.port, ssl_context=self.context, reuse_address=True
        ).start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    def count(self, path: str) -> int:
        return sum(one.path == path for one in self.seen)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        certificate = request.transport.get_extra_info("peercert") if request.transport else None
        subject = dict(pair for part in (certificate or {}).get("subject", ()) for pair in part)
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.raw_headers]
        found = Seen(
            request.method, request.raw_path, headers, subject.get("commonName", ""), await request.read()
        )
        self.seen.append(found)
        answer = self.answers.get(found.path)
        return web.json_response({}) if answer is None else await answer(found)

    def answer(self, path: str, body: object = None, status: int = 200, **headers: str) -> None:
        """This path answers so from now on: JSON of `body`, or text if it is one; _ in headers for -."""
        text = body if isinstance(body, str) else json.dumps(body)
        named = {"Content-Type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }

        async def make(_: Seen) -> web.StreamResponse:
            return web.Response(body=text.encode(), status=status, headers=named)

        self.answers[path] = make


def contexts(certificate: str, key: str, *authorities: str) -> ssl.SSLContext:
    """TLS that asks clients for certificates of these CAs (PEM), if any, and takes callers without one too."""
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata="\n".join(authorities) or None)
    made.verify_mode = ssl.CERT_OPTIONAL if authorities else ssl.CERT_NONE
    made.set_alpn_protocols(["http/1.1"])
    made.load_cert_chain(certificate, key)
    return made
