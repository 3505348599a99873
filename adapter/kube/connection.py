"""One set of credentials in use: a session of kubernetes.aio that closes when its last answer was read."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode

import aiohttp
from kubernetes.aio.client import ApiClient

import adapter
from adapter.kube import credentials
from adapter.kube.failures import BadAnswer

CONNECT_SECONDS: Final = 5.0
"""To open a socket, TLS included: within a cluster it takes milliseconds."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `body` is sent as JSON."""

    method: str
    path: str
    params: Mapping[str, str]
    accept: str
    body: Mapping[str, object] | None = field(default=None, repr=False)
    """Not shown: a review holds a caller's token."""


class Connection:
    """This sends requests with one set of credentials."""

    def __init__(self, api: ApiClient, loaded: credentials.Loaded) -> None:
        self._api, self._loaded = api, loaded
        self._in_use = 0
        self._retired = False

    @classmethod
    async def open(cls, source: credentials.Source) -> "Connection":
        """A connection with the credentials as they are now. Raises credentials.CredentialsUnusable."""
        async with credentials.opened(source) as loaded:
            loaded.configuration.client_session_kwargs = {
                "trust_env": False,  # proxies and .netrc of the environment are not meant for the API server
                "middlewares": (_refuse_redirects,),
                "cookie_jar": aiohttp.DummyCookieJar(),
            }
            try:
                api = ApiClient(loaded.configuration)  # this reads certificates and keys
            except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
                raise credentials.CredentialsUnusable(f"certificates: {error}") from error
            api.user_agent = f"hpa-adapter/{adapter.__version__}"
            return cls(api, loaded)

    @property
    def renewable(self) -> bool:
        """Whether asking again may give other credentials though no file changed."""
        return self._loaded.renewable

    def outdated(self, now: float) -> bool:
        """Whether a file changed, or the credentials expire before `now` (seconds since 1970)."""
        expires_at = self._loaded.expires_at
        return (expires_at is not None and expires_at <= now) or self._loaded.files.changed()

    async def send(self, request: Request, limits: aiohttp.ClientTimeout) -> aiohttp.ClientResponse:
        """The answer, its body still unread; give it back with `done`."""
        self._in_use += 1
        try:
            answer = await self._api.call_api(
                request.method,
                self._url(request),
                header_params=self._headers(request),
                body=request.body,
                _request_timeout=limits,
            )
        except BaseException:
            await self._leave()
            raise
        response: aiohttp.ClientResponse = answer.response
        return response

    async def done(self, response: aiohttp.ClientResponse) -> None:
        """This answer is not needed any more; if it was not read to its end, its socket is closed."""
        response.close()
        await self._leave()

    async def retire(self) -> None:
        """No request will be sent any more: close when the last answer is done."""
        self._retired = True
        self._in_use += 1
        await self._leave()

    async def _leave(self) -> None:
        self._in_use -= 1
        if self._retired and not self._in_use:
            await asyncio.shield(self._api.close())  # type: ignore[no-untyped-call]

    def _url(self, request: Request) -> str:
        query = f"?{urlencode(request.params)}" if request.params else ""
        return f"{self._loaded.configuration.host}{request.path}{query}"

    def _headers(self, request: Request) -> dict[str, str]:
        headers = {
            "Accept": request.accept,
            "Accept-Encoding": "identity",  # both ends would spend more time on packing than on sending
            "User-Agent": self._api.user_agent,
        }
        secret = self._loaded.configuration.api_key.get(credentials.BEARER)
        return headers | {"Authorization": secret} if secret else headers


async def _refuse_redirects(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """An API server never redirects; whoever does is not to get our token."""
    response = await handler(request)
    if 300 <= response.status < 400:  # noqa: PLR2004 - HTTP's own
        response.close()
        raise BadAnswer(f"redirected with status {response.status}")
    return response
