"""Credentials of a kubeconfig, lent to the client of another server."""

import ssl

import pytest

from adapter.kube.client import EXPIRY_MARGIN_SECONDS, RENEW_SECONDS
from adapter.kube.credentials import Source
from adapter.kube.lending import Lending
from tests.kube.conftest import embedded

CANARY = "canary-81c4"


@pytest.fixture
def lend(kubeconfig, clock):
    """`lend(user={...}, cluster={...})` makes one; the server's address is nowhere."""
    return lambda **parts: Lending(Source(kubeconfig("https://nowhere.invalid", **parts)), clock)


async def test_token_and_trust_are_lent(lend, authority):
    """The token with its scheme; the CA as the only root."""
    lending = lend(user={"token": CANARY}, cluster={"certificate-authority-data": embedded(authority.pem)})
    tls, header, name = await lending.lend()
    assert (header, name) == (f"Bearer {CANARY}", None)
    assert len(tls.get_ca_certs()) == 1
    assert (tls.verify_mode, tls.minimum_version) == (ssl.CERT_REQUIRED, ssl.TLSVersion.TLSv1_2)


async def test_verification_is_skipped_only_if_the_kubeconfig_says_so(lend):
    """The one place where it can be."""
    tls, header, _ = await lend(cluster={"insecure-skip-tls-verify": True}).lend()
    assert (tls.verify_mode, header) == (ssl.CERT_NONE, None)


async def test_servers_name_and_password_are_lent(lend, authority):
    """tls-server-name, and Basic authentication."""
    cluster = {"certificate-authority-data": embedded(authority.pem), "tls-server-name": "prometheus.example"}
    _, header, name = await lend(user={"username": "u", "password": "p"}, cluster=cluster).lend()
    assert (header, name) == ("Basic dTpw", "prometheus.example")


async def test_a_changed_token_file_is_news(lend, tmp_path):
    """And only then is it worth asking again."""
    (tmp_path / "token").write_text("one")
    lending = lend(user={"tokenFile": str(tmp_path / "token")})
    await lending.lend()
    assert not lending.outdated(refused=True)
    (tmp_path / "token").write_text("two")
    assert lending.outdated(refused=False)
    assert (await lending.lend())[1] == "Bearer two"


async def test_a_plugin_is_asked_again_when_refused_but_not_all_the_time(lend, plugin, clock):
    """Once per RENEW_SECONDS."""
    lending = lend(user={"exec": plugin({"token": "t"})})
    await lending.lend()
    assert not lending.outdated(refused=True)
    clock.advance(RENEW_SECONDS)
    assert lending.outdated(refused=True)
    assert not lending.outdated(refused=False)


async def test_a_plugins_token_is_renewed_before_it_expires(lend, plugin, clock):
    """By the margin that the API server's client has too."""
    lending = lend(user={"exec": plugin({"token": "t", "expirationTimestamp": "2024-05-01T11:00:00Z"})})
    await lending.lend()
    left = 1_714_561_200 - clock.now()
    assert not lending.outdated(refused=False)
    clock.advance(left - EXPIRY_MARGIN_SECONDS)
    assert lending.outdated(refused=False)


@pytest.mark.parametrize("text", [f"token: [{CANARY}", f"- {CANARY}"])
async def test_a_broken_kubeconfig_is_told_by_the_flag_without_its_content(text, clock, tmp_path):
    """It may be half written, with a token in it."""
    path = tmp_path / "broken"
    path.write_text(text)
    with pytest.raises(ValueError, match="--prometheus-auth-config") as caught:
        await Lending(Source(str(path)), clock).lend()
    assert CANARY not in str(caught.value)


async def test_before_the_first_time_there_is_always_news(lend):
    """Nothing was lent yet."""
    assert lend().outdated(refused=False)
