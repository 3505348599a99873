"""What aiohttp, ssl and the system may raise, with the error and the words that stand for it."""

import errno
import socket
import ssl
from types import SimpleNamespace

import aiohttp
from aiohttp import client_exceptions, http_exceptions
from yarl import URL

from adapter import errors
from adapter.prometheus import faults

SECRET_URL = "http://canary-user:canary-pass@secret-host:9090/prefix/?apikey=canary-key"
"""An address of which nothing may be shown: each of its secret parts has the word canary."""

HOST = SECRET_URL
"""What stands for the address in the words of the exceptions: more than aiohttp would ever say."""

KEY = SimpleNamespace(host="secret-host", port=9090, is_ssl=True, ssl=True)
INFO = SimpleNamespace(real_url=URL(HOST))


def _os_error(number: int) -> OSError:
    return OSError(number, f"Connect call failed ('{HOST}', 9090)")


def _certificate_error(code: int, words: str) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, f"certificate verify failed: {words}")
    error.verify_code, error.verify_message = code, words
    return error


def _ssl_error(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, f"[SSL: {reason}]")
    error.reason = reason
    return error


def _payload_error(cause: Exception) -> aiohttp.ClientPayloadError:
    error = aiohttp.ClientPayloadError("broken")
    error.__cause__ = cause
    return error


DOWN, SLOW, BAD = errors.BackendUnavailable, errors.BackendTimeout, errors.BackendBadAnswer
CASES = [
    (
        aiohttp.ClientConnectorDNSError(KEY, socket.gaierror(-2, "Name or service not known")),
        DOWN,
        "name not found",
    ),
    (aiohttp.ClientConnectorError(KEY, _os_error(errno.ECONNREFUSED)), DOWN, "connection refused"),
    (aiohttp.ClientConnectorError(KEY, _os_error(errno.EHOSTUNREACH)), DOWN, "no route to the host"),
    (aiohttp.ClientConnectorError(KEY, _os_error(errno.ECONNRESET)), DOWN, "connection reset"),
    (aiohttp.ClientConnectorError(KEY, _os_error(errno.ETIMEDOUT)), DOWN, "no connection in time"),
    (aiohttp.ClientConnectorError(KEY, _os_error(errno.EMFILE)), DOWN, "too many open files"),
    (aiohttp.ClientConnectorError(KEY, OSError(f"Multiple exceptions: {HOST}")), DOWN, "no connection"),
    (aiohttp.ClientProxyConnectionError(KEY, _os_error(errno.ECONNREFUSED)), DOWN, "connection refused"),
    (
        client_exceptions.UnixClientConnectorError(HOST, KEY, _os_error(errno.ENOENT)),
        DOWN,
        "no such file or directory",
    ),
    (
        aiohttp.ClientConnectorSSLError(KEY, _ssl_error("WRONG_VERSION_NUMBER")),
        DOWN,
        "TLS: wrong version number",
    ),
    (aiohttp.ClientSSLError(KEY, ssl.SSLError(1, HOST)), DOWN, "TLS: handshake failed"),
    (
        aiohttp.ClientConnectorCertificateError(KEY, _certificate_error(18, "self-signed certificate")),
        DOWN,
        "TLS: self-signed certificate",
    ),
    (
        aiohttp.ClientConnectorCertificateError(KEY, _certificate_error(62, f"not valid for '{HOST}'")),
        DOWN,
        "TLS: the certificate is for another name",
    ),
    (aiohttp.ServerFingerprintMismatch(b"a", b"b", HOST, 1), DOWN, "TLS: handshake failed"),
    (_ssl_error("SSLV3_ALERT_BAD_CERTIFICATE"), DOWN, "TLS: sslv3 alert bad certificate"),
    (aiohttp.ConnectionTimeoutError(HOST), DOWN, "no connection in time"),
    (aiohttp.SocketTimeoutError(HOST), SLOW, "no answer in time"),
    (aiohttp.ServerTimeoutError(HOST), SLOW, "no answer in time"),
    (TimeoutError(), SLOW, "no answer in time"),
    (aiohttp.ServerDisconnectedError(), faults.Passing, "connection reset"),
    (aiohttp.ClientConnectionResetError(HOST), faults.Passing, "connection reset"),
    (aiohttp.ClientOSError(errno.ECONNRESET, HOST), faults.Passing, "connection reset"),
    (aiohttp.ClientOSError(errno.EPIPE, HOST), faults.Passing, "connection reset"),
    (ConnectionResetError(errno.ECONNRESET, HOST), faults.Passing, "connection reset"),
    (aiohttp.ClientOSError(errno.ENETUNREACH, HOST), DOWN, "no route to the network"),
    (aiohttp.ServerConnectionError(HOST), DOWN, "no connection"),
    (aiohttp.ClientConnectionError(HOST), DOWN, "no connection"),
    (aiohttp.ClientError(HOST), DOWN, "no connection"),
    (aiohttp.InvalidURL(HOST), DOWN, "no connection"),
    (client_exceptions.UploadAbortedError(HOST), DOWN, "no connection"),
    (aiohttp.ClientPayloadError(HOST), DOWN, "connection lost within the answer"),
    (_payload_error(http_exceptions.TransferEncodingError(HOST)), DOWN, "connection lost within the answer"),
    (
        _payload_error(http_exceptions.ContentEncodingError("Can not decode content-encoding: gzip")),
        BAD,
        "the answer's compression is broken",
    ),
    (aiohttp.ClientResponseError(INFO, (), status=400, message=HOST), BAD, "the answer is not HTTP"),
]
