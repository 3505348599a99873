"""How a request to the API server fails: a small family, and what aiohttp and ssl raise mapped to it.

KubeError                .cause is a stable word, the text is for the log only
├── NoCredentials        kubeconfig or service account cannot be used
├── Unreachable          no answer: Timeout, TLS, DNS, Connect, Broken
├── BadAnswer            an answer that is none: redirect, too large, not the expected JSON
└── Refused              .status; also 429 and 5xx
    ├── Unauthorized 401
    ├── Forbidden    403
    ├── NotFound     404
    └── Gone         410
"""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, Final

import aiohttp
import msgspec

MAX_REFUSAL_BYTES: Final = 64 * 1024
"""A Status has some hundred bytes; more is no Status."""


class KubeError(Exception):
    """This is a request to the API server that brought nothing."""

    cause = "KubeError"

    def __init__(self, text: str = "", cause: str | None = None) -> None:
        super().__init__(text)
        self.cause = cause or self.cause


class NoCredentials(KubeError):
    """Nothing was sent."""

    cause = "NoCredentials"


class Unreachable(KubeError):
    """No answer, or only a part of one."""

    cause = "Unreachable"


class BadAnswer(KubeError):
    """An answer that no API server gives."""

    cause = "BadAnswer"


class Refused(KubeError):
    """An answer that is no 2xx; each subclass is one status."""

    cause = "Refused"
    status: int = 0
    by_status: ClassVar[dict[int, type["Refused"]]] = {}

    def __init_subclass__(cls, status: int) -> None:
        cls.status, cls.cause = status, cls.__name__
        Refused.by_status[status] = cls


class Unauthorized(Refused, status=401):
    """The API server does not know us."""


class Forbidden(Refused, status=403):
    """We lack the permission."""


class NotFound(Refused, status=404):
    """There is no such thing, or no such kind."""


class Gone(Refused, status=410):
    """The version, or the page of a list, is too old."""


class _Status(msgspec.Struct, gc=False):
    kind: str = ""
    message: str = ""


async def refusal(response: aiohttp.ClientResponse) -> Refused:
    """The error for this answer, with the API server's own words; other bodies than a Status are dropped."""
    try:
        status = msgspec.json.decode(await response.content.read(MAX_REFUSAL_BYTES), type=_Status)
    except msgspec.MsgspecError:
        status = _Status()
    text = status.message if status.kind == "Status" else ""
    error = Refused.by_status.get(response.status, Refused)(text or f"HTTP status {response.status}")
    error.status = response.status
    return error


@contextmanager
def translated() -> Iterator[None]:
    """What aiohttp, ssl and the system raise becomes a KubeError."""
    try:
        yield
    except (aiohttp.ClientError, OSError) as error:  # TimeoutError and ssl.SSLError are OSErrors
        raise Unreachable(f"{type(error).__name__}: {error}", _word(error)) from error


def _word(error: Exception) -> str:
    match error:
        case TimeoutError():
            return "Timeout"
        case aiohttp.ClientConnectorDNSError():
            return "DNS"
        case ssl.SSLError() | aiohttp.ClientSSLError() | aiohttp.ClientConnectorCertificateError():
            return "TLS"
        case aiohttp.ClientConnectorError() | aiohttp.ClientProxyConnectionError():
            return "Connect"
        case _:
            return "Broken"
