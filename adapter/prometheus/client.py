"""The client of one Prometheus-compatible backend: two questions, bounded in time, space and number."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Generic, TypeVar

import aiohttp

from adapter import errors
from adapter.prometheus import address, faults, listing, reply
from adapter.prometheus.credentials import Credentials
from adapter.prometheus.gate import Gate
from adapter.prometheus.journal import Journal
from adapter.prometheus.login import Login
from adapter.prometheus.reply import Reply
from adapter.prometheus.transport import Transport
from adapter.promql import vector
from adapter.promql.vector import Result, SeriesShape
from adapter.telemetry.clock import Clock

T = TypeVar("T")

TOO_MANY: Final = "too many samples"

WHOLE: Final = {"partial_response": "false"}
"""Thanos then fails where it would leave out what it cannot reach. Others pass over what they do not know."""

POST_AGAIN_SECONDS: Final = 300.0
"""How long a 405 is believed. It may come from a proxy that is soon set right, and long queries need POST."""


@dataclass(frozen=True, slots=True)
class _Ask(Generic[T]):
    """One question: `form` gives its parameters for the seconds that are left."""

    endpoint: str
    form: Callable[[float], dict[str, str]]
    decode: Callable[[bytes], Awaitable[T]]
    max_bytes: int
    end: float


class PrometheusClient:
    """This asks one backend. Between start() and close() it holds connections."""

    def __init__(
        self,
        secret_url: str,
        clock: Clock,
        transport: Transport | None = None,
        credentials: Credentials | None = None,
    ) -> None:
        self._address = address.parse(secret_url)
        self._clock, self._transport = clock, transport or Transport()
        self._credentials = credentials or Credentials(clock)
        self._headers = self._transport.all_headers(self._address.authorization)
        limits = self._transport.limits
        self._extra = {} if self._transport.partial_answers else WHOLE
        self._gate = Gate(at_once=limits.at_once, waiting=limits.waiting)
        self._get_until = clock.monotonic()
        self._session: aiohttp.ClientSession | None = None
        self.journal = Journal(clock, self._address.safe_url)

    async def start(self, *, strict: bool = False) -> None:
        """Make ready to ask; nothing is sent. With `strict`: raises CredentialsUnusable if there are none.

        Without, they may still appear: until then each question fails, and the log says why.
        """
        # The gate bounds connections. A limit here would let requests wait inside connect_seconds.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(total=None, connect=self._transport.limits.connect_seconds),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
        )
        if strict:
            await self._credentials.require()

    async def close(self) -> None:
        """Close all connections."""
        await self._credentials.close()
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def instant(self, promql: str, *, deadline: float) -> Result:
        """The result of `promql` at the backend's own now; `deadline` in monotonic seconds."""
        limits = self._transport.limits
        result = await self._told(
            _Ask(
                endpoint="query",
                form=lambda left: {"query": promql, "timeout": _timeout(left)} | self._extra,
                decode=lambda body: _result(body, limits.query_samples),
                max_bytes=limits.query_bytes,
                end=min(deadline, self._clock.monotonic() + limits.query_seconds),
            )
        )
        self.journal.answered(result)
        return result

    async def series(self, match: str, *, start: float, deadline: float) -> tuple[SeriesShape, ...]:
        """Distinct shapes of the series that `match` selects, seen since `start` (seconds since 1970)."""
        limits = self._transport.limits
        return await self._told(
            _Ask(
                endpoint="series",
                form=lambda _left: {"match[]": match, "start": _seconds(start)},
                decode=listing.shapes,
                max_bytes=limits.listing_bytes,
                end=min(deadline, self._clock.monotonic() + limits.listing_seconds),
            )
        )

    async def _told(self, ask: _Ask[T]) -> T:
        """The answer in time, and the journal told how it went."""
        try:
            found = await self._in_time(ask)
        except errors.AdapterError as error:
            self.journal.bad(error, ask.endpoint)
            raise
        self.journal.good()
        return found

    async def _in_time(self, ask: _Ask[T]) -> T:
        try:
            async with asyncio.timeout(self._left(ask)), self._gate:
                return await self._twice(ask)
        except TimeoutError as error:
            raise faults.slow() from error

    async def _twice(self, ask: _Ask[T]) -> T:
        """One try, and one more if the fault may have passed and there is time."""
        limits = self._transport.limits
        try:
            return await self._once(ask)
        except faults.Passing:
            if self._left(ask) < limits.retry_needs_seconds:
                raise
        low, high = limits.retry_pause_seconds
        await self._transport.sleep(low + (high - low) * self._transport.random())
        return await self._once(ask)

    async def _once(self, ask: _Ask[T]) -> T:
        login = await self._credentials.now()
        answer = await self._exchange(ask, login)
        if answer.status == HTTPStatus.UNAUTHORIZED:
            login, refused = await self._credentials.instead_of(login), login
            if login is not refused:
                answer = await self._exchange(ask, login)
        if answer.status == HTTPStatus.UNAUTHORIZED:
            self._credentials.rejected(login)
        return await reply.read(answer, ask.decode)

    async def _exchange(self, ask: _Ask[T], login: Login) -> Reply:
        """The answer by POST, or by GET where that is refused; or by the only method that may be used."""
        only = self._transport.method
        method = only or ("GET" if self._clock.monotonic() < self._get_until else "POST")
        answer = await self._send(ask, method, login)
        if answer.status == HTTPStatus.METHOD_NOT_ALLOWED and method == "POST" and not only:
            self._get_until = self._clock.monotonic() + POST_AGAIN_SECONDS
            answer = await self._send(ask, "GET", login)
        return answer

    async def _send(self, ask: _Ask[T], method: str, login: Login) -> Reply:
        if self._session is None:
            raise RuntimeError("the client is not started")
        url, form = self._address.endpoint(ask.endpoint), ask.form(self._left(ask))
        posted = method == "POST"
        try:
            async with self._session.request(
                method,
                url if posted else url.extend_query(form),
                data=form if posted else None,
                headers=self._shown(login),
                ssl=login.tls,
                server_hostname=login.server_name,
                allow_redirects=False,
            ) as response:
                return Reply(response.status, await _body(response, ask.max_bytes))
        except aiohttp.ClientResponseError as error:
            raise faults.of_transport(error) from None  # its own words are the address, with all of its query
        except (aiohttp.ClientError, OSError) as error:
            raise faults.of_transport(error) from error

    def _shown(self, login: Login) -> dict[str, str]:
        """The login's header. A configured one wins, and so does the user of the address, as upstream has it."""
        if login.authorization is None or "Authorization" in self._headers:
            return {}
        return {"Authorization": login.authorization}

    def _left(self, ask: _Ask[T]) -> float:
        return ask.end - self._clock.monotonic()


async def _body(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """The body, decompressed; at the limit reading stops and the connection is closed."""
    parts, size = [], 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > max_bytes:
            response.close()
            raise faults.rejected(TOO_MANY)
        parts.append(part)
    return b"".join(parts)


async def _result(body: bytes, most: int) -> Result:
    result = vector.decode(body)
    if len(result.samples) > most:
        raise faults.rejected(TOO_MANY)
    return result


def _timeout(left: float) -> str:
    """What the backend may take of the seconds left: one less, so that its own refusal still reaches us."""
    hundredths = max(100, round((left - 1) * 100))
    return f"{hundredths // 100}s" if hundredths % 100 == 0 else f"{hundredths * 10}ms"


def _seconds(time: float) -> str:
    return f"{time:.3f}".rstrip("0").rstrip(".")
