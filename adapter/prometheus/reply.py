"""What an HTTP answer of the backend means (docs/upstream.md 2.1).

A body is an answer only with a 2xx status. With another one, its envelope says whose fault it is: the query's
(bad_data, execution) or the backend's.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, TypeVar

from adapter import errors
from adapter.prometheus import faults
from adapter.promql import vector

T = TypeVar("T")

_SLOW: Final = {"timeout", "canceled"}
"""Error types with which Prometheus ends a query that takes longer than it may."""

_BACKENDS_FAULT: Final = {"internal", "unavailable", "too_many_requests"}

_QUERYS_FAULT: Final = {"bad_data", "execution"}

_TOO_LONG: Final = {HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.REQUEST_URI_TOO_LONG}

_PASSING: Final = {HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE}
"""A proxy whose upstream just restarts. Not 429 and 500, which a repetition makes worse or leaves alike."""

_CREDENTIALS: Final = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came: its whole body, decompressed."""

    status: int
    body: bytes


async def read(reply: Reply, decode: Callable[[bytes], Awaitable[T]]) -> T:
    """What `decode` makes of the body.

    Raises RuleRejected, BackendUnavailable (BackendBadAnswer) or BackendTimeout, from the backend's words.
    """
    if HTTPStatus.OK <= reply.status < HTTPStatus.MULTIPLE_CHOICES:
        try:
            return await decode(reply.body)
        except vector.Refused as error:
            raise _refused(error, reply.status) from error
        except vector.NotAnAnswer as error:
            raise faults.bad_answer("the answer is not that of a Prometheus API") from error
    raise _of_status(reply)


def _of_status(reply: Reply) -> errors.AdapterError:
    status = reply.status
    if status in _CREDENTIALS:
        return faults.unavailable(f"the backend refuses our credentials (HTTP {status})")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return faults.unavailable("the backend has too many requests (HTTP 429)")
    if status in _TOO_LONG:
        return faults.rejected(f"the query is too long for the backend (HTTP {status})")
    refused = _envelope(reply.body)
    error = _of_bare(status) if refused is None else _refused(refused, status)
    error.__cause__ = refused
    return error


def _of_bare(status: int) -> errors.AdapterError:
    """The error for a status whose body says nothing."""
    if status in _PASSING:
        return faults.passing(f"HTTP {status}")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return faults.unavailable(f"HTTP {status}")
    return faults.bad_answer(f"HTTP {status}")


def _envelope(body: bytes) -> vector.Refused | None:
    try:
        vector.decode(body)
    except vector.Refused as error:
        return error
    except vector.NotAnAnswer:
        return None
    return None


def _refused(refused: vector.Refused, status: int) -> errors.AdapterError:
    """Whose fault it is by the error's type; by the status where that is none of Prometheus's own."""
    kind = refused.error_type
    if kind in _SLOW:
        return faults.slow()
    if kind in _QUERYS_FAULT:
        return faults.rejected(f"the backend refuses the query ({kind})")
    if status in _PASSING:
        return faults.passing(f"HTTP {status}")
    if kind in _BACKENDS_FAULT or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return faults.unavailable("the backend reports a fault of its own")
    if status >= HTTPStatus.BAD_REQUEST:
        return faults.rejected(f"the backend refuses the query (HTTP {status})")
    return faults.unavailable("the backend reports an error of an unknown type")
