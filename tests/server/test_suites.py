"""Versions and cipher suites: fewer if asked for, never weaker ones."""

import ssl

import pytest

from adapter.server import suites
from adapter.settings import Serving

AES = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
WEAK = "TLS_RSA_WITH_AES_128_CBC_SHA"


def offered(**settings) -> tuple[ssl.TLSVersion, set[str]]:
    """(oldest version, names of TLS 1.2's suites) of a context with these settings."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    suites.of(Serving(**settings)).apply(context)
    names = {one["name"] for one in context.get_ciphers() if one["protocol"] != "TLSv1.3"}
    return context.minimum_version, names


def test_by_default_all_that_is_forward_secret_and_authenticated():
    """Six suites of TLS 1.2, none with CBC or static RSA."""
    minimum, names = offered()
    assert minimum == ssl.TLSVersion.TLSv1_2
    assert names == set(suites.OPENSSL_NAMES.values())


@pytest.mark.parametrize("asked", ["", "VersionTLS10", "VersionTLS11", "VersionTLS12"])
def test_no_version_below_1_2(asked):
    """Older names are taken, as the flag has them, and mean the oldest that is served."""
    assert offered(tls_min_version=asked)[0] == ssl.TLSVersion.TLSv1_2


def test_1_3_can_be_the_only_version():
    """The other choice."""
    assert offered(tls_min_version="VersionTLS13")[0] == ssl.TLSVersion.TLSv1_3


def test_unknown_version_is_refused():
    """The flag is named, and what it takes."""
    with pytest.raises(suites.SuitesRefused, match=r"--tls-min-version: there is no 1\.2.*VersionTLS13"):
        offered(tls_min_version="1.2")


def test_list_narrows_what_is_offered():
    """Names of weak or unknown suites are left out, and said."""
    serving = {"tls_cipher_suites": (WEAK, AES, "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "typo")}
    assert offered(**serving)[1] == {"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"}
    assert suites.of(Serving(**serving)).left_out == (WEAK, "typo")


def test_list_without_anything_strong_is_refused():
    """The flag is named, and what it could hold."""
    with pytest.raises(suites.SuitesRefused, match=f"--tls-cipher-suites: .*{AES}"):
        offered(tls_cipher_suites=(WEAK,))


@pytest.mark.parametrize(
    "settings",
    [
        {"tls_cipher_suites": ("TLS_AES_128_GCM_SHA256", WEAK)},
        {"tls_cipher_suites": (WEAK,), "tls_min_version": "VersionTLS13"},
    ],
)
def test_list_of_1_3_suites_means_1_3(settings):
    """They cannot be chosen one by one, in Go neither; of 1.2 nothing is left."""
    assert offered(**settings)[0] == ssl.TLSVersion.TLSv1_3


def test_1_3_is_always_on():
    """A list of 1.2's suites takes nothing from it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    suites.of(Serving(tls_cipher_suites=(AES,))).apply(context)
    assert {one["protocol"] for one in context.get_ciphers()} == {"TLSv1.3", "TLSv1.2"}
