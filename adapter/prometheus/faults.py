"""What went wrong on the way to the backend, as errors of the adapter's family.

The text says the class of the fault and nothing of the address: it goes to callers, who may not know it.
"""

import errno
import os
import ssl
from typing import Final

import aiohttp
from aiohttp.http_exceptions import PayloadEncodingError

from adapter import errors

_ANOTHER_NAME: Final = {62, 64}
"""OpenSSL's codes for a certificate of another host name or IP address: its own words repeat the name."""

_WORDS: Final = {
    errno.ECONNREFUSED: "connection refused",
    errno.ECONNRESET: "connection reset",
    errno.EPIPE: "connection reset",
    errno.ETIMEDOUT: "no connection in time",
    errno.EHOSTUNREACH: "no route to the host",
    errno.ENETUNREACH: "no route to the network",
}

_DROPPED: Final = {errno.ECONNRESET, errno.EPIPE}


class Passing(errors.BackendUnavailable):
    """A fault that one more try may cure: 502, 503, or a connection that broke before the first byte."""


def of_transport(error: BaseException) -> errors.AdapterError:
    """The error for what aiohttp, ssl or the system raised before the whole answer was there."""
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return errors.BackendUnavailable(_text("no connection in time"))
    if isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ClientConnectorError):
        return errors.BackendTimeout(_text("no answer in time"))
    if isinstance(error, aiohttp.ClientPayloadError):
        return _of_body(error)
    if isinstance(error, aiohttp.ClientResponseError):
        return errors.BackendBadAnswer(_text("the answer is not HTTP"))
    if _is_dropped(error):
        return Passing(_text("connection reset"))
    return errors.BackendUnavailable(_text(_connection_words(error)))


def unavailable(words: str) -> errors.BackendUnavailable:
    """The backend cannot serve now."""
    return errors.BackendUnavailable(_text(words))


def bad_answer(words: str) -> errors.BackendBadAnswer:
    """What came is no answer."""
    return errors.BackendBadAnswer(_text(words))


def rejected(words: str) -> errors.RuleRejected:
    """The query is at fault."""
    return errors.RuleRejected(_text(words))


def slow() -> errors.BackendTimeout:
    """The time is up."""
    return errors.BackendTimeout(_text("no answer in time"))


def passing(words: str) -> Passing:
    """The backend cannot serve in this moment."""
    return Passing(_text(words))


def _text(words: str) -> str:
    return f"{errors.NO_METRICS}: {words}"


def _of_body(error: aiohttp.ClientPayloadError) -> errors.AdapterError:
    cause = error.__cause__
    if isinstance(cause, PayloadEncodingError) and "decode" in str(cause):
        return bad_answer("the answer's compression is broken")
    return unavailable("connection lost within the answer")


def _is_dropped(error: BaseException) -> bool:
    """Whether an established connection was cut."""
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientConnectionResetError):
        return True
    if isinstance(error, aiohttp.ClientConnectorError):
        return False
    return isinstance(error, OSError) and error.errno in _DROPPED


def _connection_words(error: BaseException) -> str:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "name not found"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"TLS: {_tls_words(error.certificate_error)}"
    inner = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(inner, ssl.SSLError | aiohttp.ServerFingerprintMismatch):
        return f"TLS: {_tls_words(inner)}"
    number = inner.errno if isinstance(inner, OSError) else None
    if number is None:
        return "no connection"
    return _WORDS.get(number) or os.strerror(number).lower()


def _tls_words(error: BaseException) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in _ANOTHER_NAME:
            return "the certificate is for another name"
        return str(error.verify_message)
    reason = getattr(error, "reason", None)
    return reason.lower().replace("_", " ") if isinstance(reason, str) else "handshake failed"
