"""Every failure of aiohttp and ssl has its error, and none shows the address."""

import inspect
import ssl

import aiohttp
import pytest
from aiohttp import client_exceptions

from adapter.prometheus import faults
from tests.prometheus.foreign import CASES, HOST

OTHERS = {
    "ClientHttpProxyError",  # no proxy is ever used
    "ContentTypeError",  # .json() is never called
    "WSServerHandshakeError",  # no web socket is opened
    "TooManyRedirects",
    "RedirectClientError",
    "InvalidUrlRedirectClientError",
    "NonHttpUrlRedirectClientError",  # no redirect is followed
    "InvalidUrlClientError",
    "NonHttpUrlClientError",  # the address was checked when the client was made
}


@pytest.mark.parametrize(("foreign", "kind", "words"), CASES, ids=lambda one: getattr(one, "__name__", None))
def test_fault_has_its_class_and_says_what_it_is(foreign, kind, words):
    """The error's class decides the status, its text names the fault and never the address."""
    found = faults.of_transport(foreign)
    assert type(found) is kind
    assert found.message == f"unable to fetch metrics: {words}"
    assert "secret-host" not in found.message
    assert "canary" not in found.message


def test_every_exception_of_the_client_library_is_mapped():
    """Each exception class of aiohttp is in the table above, or listed with the reason why it cannot come."""
    known = {type(foreign).__name__ for foreign, _, _ in CASES} | OTHERS
    classes = {
        name
        for name, one in inspect.getmembers(client_exceptions, inspect.isclass)
        if issubclass(one, aiohttp.ClientError) and one.__module__ == client_exceptions.__name__
    }
    assert classes <= known


@pytest.mark.parametrize(
    "kind", [ssl.SSLZeroReturnError, ssl.SSLEOFError, ssl.SSLSyscallError, ssl.SSLWantReadError]
)
def test_every_exception_of_ssl_is_mapped(kind):
    """What ssl raises in the middle of a connection makes the backend unavailable, by TLS."""
    assert faults.of_transport(kind(1, HOST)).message == "unable to fetch metrics: TLS: handshake failed"
