"""Requests to the API server: bytes in, bytes out, each with a deadline; failures are those of `failures.py`.

The transport is kubernetes.aio's, without its models: they take a hundred times msgspec's time and memory.
Credentials are looked at again as time passes, and at once when they are refused.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

import aiohttp

from adapter.kube import credentials
from adapter.kube.connection import CONNECT_SECONDS, Connection, Request
from adapter.kube.failures import BadAnswer, NoCredentials, Unauthorized, refusal, translated
from adapter.telemetry import logs
from adapter.telemetry.clock import Clock

JSON: Final = "application/json"

CHECK_SECONDS: Final = 10.0
"""How often the files of the credentials are looked at, at most; changes must be noticed within 60 s."""

RENEW_SECONDS: Final = 10.0
"""A plugin is not run more often than this, however many requests are refused."""

EXPIRY_MARGIN_SECONDS: Final = 60.0
"""Credentials are renewed this long before they expire."""

CHUNK_BYTES: Final = 64 * 1024
"""About a hundred events: after so many, others have their turn."""

log = logs.get("kube")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may cost."""

    whole_seconds: float = 30.0
    """A page of a list, or any other whole answer. The API server itself gives up after 60 s."""

    head_seconds: float = 30.0
    """Until a watch is accepted or refused. Both include finding credentials and a second try with newer ones."""

    silence_seconds: float = 300.0
    """Of a watch. Five missed bookmarks: the other end is gone without a word."""

    max_answer_bytes: int = 128 * 1024 * 1024
    """A page of 500 objects with the largest annotations that are allowed (256 KiB each)."""

    max_line_bytes: int = 8 * 1024 * 1024
    """An event: etcd takes no object above 1.5 MiB."""


class KubeClient:
    """This asks one API server, with credentials that are read again when they change."""

    def __init__(self, source: credentials.Source, clock: Clock, limits: Limits | None = None) -> None:
        self._source, self._clock, self._limits = source, clock, limits or Limits()
        self._connection: Connection | None = None
        self._checked_at = self._made_at = 0.0
        self._trouble = ""
        self._lock = asyncio.Lock()

    async def get_bytes(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        *,
        accept: str = JSON,
        timeout: float | None = None,  # noqa: ASYNC109 - its default is a limit, not "for ever"
    ) -> bytes:
        """The body of a 2xx answer, or KubeError, within `timeout` seconds whatever they are spent on."""
        return await self._whole(Request("GET", path, params or {}, accept), timeout)

    async def post_bytes(
        self,
        path: str,
        body: Mapping[str, object],
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - see get_bytes
    ) -> bytes:
        """The body of a 2xx answer to `body` sent as JSON, or KubeError, in the same way."""
        return await self._whole(Request("POST", path, {}, JSON, body), timeout)

    async def put_bytes(
        self,
        path: str,
        body: Mapping[str, object],
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - see get_bytes
    ) -> bytes:
        """The same for an object in place of the one that is there."""
        return await self._whole(Request("PUT", path, {}, JSON, body), timeout)

    async def delete_bytes(
        self,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - see get_bytes
    ) -> bytes:
        """The same for no object any more; `body` are DeleteOptions."""
        return await self._whole(Request("DELETE", path, {}, JSON, body), timeout)

    async def lines(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        *,
        accept: str = JSON,
    ) -> AsyncGenerator[bytes]:
        """The lines of an answer that goes on; an empty one first, once it is a 2xx. Raises KubeError."""
        limits = aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS, sock_read=self._limits.silence_seconds)
        request = Request("GET", path, params or {}, accept)
        with translated():
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self._limits.head_seconds):
                    response = await stack.enter_async_context(self._answer(request, limits))
                yield b""
                rest = b""
                async for chunk in response.content.iter_chunked(CHUNK_BYTES):
                    *whole, rest = (rest + chunk).split(b"\n")
                    for line in filter(None, whole):
                        yield line
                    if len(rest) > self._limits.max_line_bytes:
                        raise BadAnswer("an event without end")
                    await asyncio.sleep(0)

    async def close(self) -> None:
        """Close all connections; a later request opens new ones."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.retire()

    # -- one request

    async def _whole(self, request: Request, seconds: float | None) -> bytes:
        whole = self._limits.whole_seconds if seconds is None else seconds
        limits = aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS)
        with translated():
            async with asyncio.timeout(whole), self._answer(request, limits) as response:
                return await _body(response, self._limits.max_answer_bytes)

    @asynccontextmanager
    async def _answer(
        self, request: Request, limits: aiohttp.ClientTimeout
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        connection, response = await self._sent(request, limits)
        try:
            if not 200 <= response.status < 300:  # noqa: PLR2004 - HTTP's own
                raise await refusal(response)
            yield response
        finally:
            await connection.done(response)

    async def _sent(
        self, request: Request, limits: aiohttp.ClientTimeout
    ) -> tuple[Connection, aiohttp.ClientResponse]:
        """The answer; a second one with newer credentials, if those were refused and there are any."""
        connection, response = await self._sent_once(request, limits)
        if response.status != Unauthorized.status:
            return connection, response
        try:
            renewed = await self._renewed(connection)
        except BaseException:
            await connection.done(response)
            raise
        if not renewed:
            return connection, response
        await connection.done(response)
        return await self._sent_once(request, limits)

    async def _sent_once(
        self, request: Request, limits: aiohttp.ClientTimeout
    ) -> tuple[Connection, aiohttp.ClientResponse]:
        connection = await self._current()
        return connection, await connection.send(request, limits)

    # -- credentials

    async def _current(self) -> Connection:
        async with self._lock:
            now = self._clock.monotonic()
            if self._connection is None:
                self._connection = await self._made()
            elif now - self._checked_at >= CHECK_SECONDS:
                self._checked_at = now
                if self._connection.outdated(self._clock.now() + EXPIRY_MARGIN_SECONDS):
                    await self._replace(self._connection)
            return self._connection

    async def _renewed(self, refused: Connection) -> bool:
        """Whether there are other credentials than those that were refused."""
        async with self._lock:
            if self._connection is refused:
                old_enough = self._clock.monotonic() - self._made_at >= RENEW_SECONDS
                if refused.outdated(self._clock.now()) or (refused.renewable and old_enough):
                    await self._replace(refused)
            return self._connection is not refused

    async def _replace(self, old: Connection) -> None:
        try:
            self._connection = await self._made()
        except NoCredentials as error:  # half-written files, most likely: the old ones may still do
            if self._trouble != str(error):
                log.warning("kube_credentials_unusable", extra={"text": str(error)})
            self._trouble = str(error)
        else:
            await old.retire()
            self._trouble = ""
            log.info("kube_credentials_changed")

    async def _made(self) -> Connection:
        self._checked_at = self._made_at = self._clock.monotonic()
        try:
            return await Connection.open(self._source)
        except credentials.CredentialsUnusable as error:
            raise NoCredentials(str(error)) from error


async def _body(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    parts, size = [], 0
    async for chunk in response.content.iter_chunked(CHUNK_BYTES):
        parts.append(chunk)
        size += len(chunk)
        if size > max_bytes:
            raise BadAnswer(f"more than {max_bytes} bytes")
    return b"".join(parts)
