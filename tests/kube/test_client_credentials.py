"""The client's credentials at work: TLS, and files that change under a running client."""

import logging
import sys
from contextlib import aclosing

import pytest

from adapter.kube import failures
from adapter.kube.client import CHECK_SECONDS, RENEW_SECONDS
from adapter.kube.credentials import Source
from tests.kube.conftest import PODS, closing, embedded
from tests.support.fake_kube import FakeKube
from tests.support.fake_kube_tls import Authority

# -- TLS


async def test_a_service_account_over_tls(secure_kube, service_account, authority, clock):
    """The way it is in a pod."""
    secure_kube.tokens = {"t1"}
    assert await closing(service_account(secure_kube.port, "t1", authority.pem), clock)


async def test_a_client_certificate(secure_kube, kubeconfig, authority, clock):
    """The API server sees its name; the key is on disk no more."""
    pair = authority.client("adapter")
    user = {"client-certificate-data": embedded(pair.certificate), "client-key-data": embedded(pair.key)}
    path = kubeconfig(
        secure_kube.url, user=user, cluster={"certificate-authority-data": embedded(authority.pem)}
    )
    await closing(Source(path), clock)
    assert secure_kube.asked[-1].subject == "adapter"


async def test_a_server_of_another_authority_is_refused(secure_kube, service_account, clock):
    """Nothing is sent to it."""
    with pytest.raises(failures.Unreachable) as caught:
        await closing(service_account(secure_kube.port, "t1", Authority("other").pem), clock)
    assert caught.value.cause == "TLS"
    assert secure_kube.asked == []


async def test_the_servers_name_may_be_another_one(authority, kubeconfig, clock, tmp_path):
    """tls-server-name says which; without it the address must be in the certificate."""
    async with FakeKube(tls=authority.serving(tmp_path, "kube.example.com")) as kube:
        cluster = {"certificate-authority-data": embedded(authority.pem)}
        with pytest.raises(failures.Unreachable):
            await closing(Source(kubeconfig(kube.url, cluster=cluster)), clock)
        named = kubeconfig(kube.url, cluster=cluster | {"tls-server-name": "kube.example.com"})
        assert await closing(Source(named), clock)


async def test_an_old_authority_needs_the_switch_on_new_pythons(kubeconfig, clock, tmp_path):
    """From 3.13 on, certificates without an Authority Key Identifier are refused unless told otherwise."""
    old = Authority("old", strict=False)
    async with FakeKube(tls=old.serving(tmp_path)) as kube:
        path = kubeconfig(kube.url, cluster={"certificate-authority-data": embedded(old.pem)})
        assert await closing(Source(path, disable_strict_x509=True), clock)
        if sys.version_info >= (3, 13):
            with pytest.raises(failures.Unreachable):
                await closing(Source(path), clock)


@pytest.mark.parametrize("content", [b"", b"no certificate"])
async def test_a_certificate_that_is_none(service_account, clock, content):
    """It is told as unusable credentials."""
    with pytest.raises(failures.NoCredentials):
        await closing(service_account(6443, "t1", content), clock)


# -- credentials that change


@pytest.fixture
def with_plugin(kube, connect, kubeconfig, plugin):
    """`with_plugin(status)` is a client whose kubeconfig runs a plugin."""
    return lambda status: connect(Source(kubeconfig(kube.url, user={"exec": plugin(status)})))


@pytest.fixture
async def rotating(secure_kube, connect, service_account, authority):
    """A client by service account; (client, change) where change(token, ca) rewrites the files."""
    secure_kube.tokens = {"t1"}
    found = connect(service_account(secure_kube.port, "t1", authority.pem))
    await found.get_bytes(PODS)
    return found, lambda token, ca=authority.pem: service_account(secure_kube.port, token, ca)


async def test_a_new_token_is_used_without_a_failure(rotating, secure_kube, clock):
    """kubelet writes a new one while the old one is still good."""
    client, change = rotating
    change("t2")
    clock.advance(CHECK_SECONDS)
    secure_kube.tokens = {"t1", "t2"}
    await client.get_bytes(PODS)
    assert secure_kube.asked[-1].headers["Authorization"].lower() == "bearer t2"
    assert secure_kube.count("list") == 2


async def test_a_refused_token_is_read_again_at_once(rotating, secure_kube):
    """The old one is bad already: the request is sent again with the new one, and succeeds."""
    client, change = rotating
    change("t2")
    secure_kube.tokens = {"t2"}
    assert await client.get_bytes(PODS)


async def test_a_token_that_stays_refused_is_not_sent_again(rotating, secure_kube):
    """Without other credentials there is nothing to try."""
    client, _ = rotating
    secure_kube.tokens = {"t2"}
    with pytest.raises(failures.Unauthorized):
        await client.get_bytes(PODS)
    assert secure_kube.count("list") == 2


async def test_a_new_authority_is_trusted(rotating, secure_kube, clock, tmp_path):
    """A cluster's CA is rotated: new connections are made with the new one."""
    client, change = rotating
    other = Authority("rotated")
    await secure_kube.stop()
    async with FakeKube(tls=other.serving(tmp_path), port=secure_kube.port):
        with pytest.raises(failures.Unreachable):
            await client.get_bytes(PODS)
        change("t1", other.pem)
        clock.advance(CHECK_SECONDS)
        assert await client.get_bytes(PODS)


async def test_files_are_not_read_for_each_request(rotating, secure_kube, clock):
    """They are looked at when some seconds have passed."""
    client, change = rotating
    change("t2")
    secure_kube.tokens = {"t1", "t2"}
    clock.advance(CHECK_SECONDS / 2)
    await client.get_bytes(PODS)
    assert secure_kube.asked[-1].headers["Authorization"].lower() == "bearer t1"


async def test_half_written_files_leave_the_old_ones_in_use(rotating, secure_kube, clock, caplog):
    """It is told once, and tried again until it works."""
    caplog.set_level(logging.INFO, "adapter")
    client, change = rotating
    change("t1", b"-----BEGIN CERTIFICATE-----\nhalf")
    for _ in range(3):
        clock.advance(CHECK_SECONDS)
        assert await client.get_bytes(PODS)
    change("t2")
    secure_kube.tokens = {"t2"}
    clock.advance(CHECK_SECONDS)
    assert await client.get_bytes(PODS)
    lines = [record.getMessage() for record in caplog.records]
    assert lines == ["kube_credentials_unusable", "kube_credentials_changed"]


async def test_a_running_watch_outlives_a_change(rotating, secure_kube, clock):
    """It ends by itself within minutes; its connection is closed then."""
    client, change = rotating
    lines = client.lines(PODS, {"watch": "true", "resourceVersion": "100"})
    async with aclosing(lines):
        await anext(lines)
        change("t2")
        secure_kube.tokens = {"t2"}
        clock.advance(CHECK_SECONDS)
        await client.get_bytes(PODS)
        secure_kube.put("pods", "web-1", "shop")
        assert b"web-1" in await anext(lines)


async def test_a_plugins_token_is_renewed_before_it_expires(kube, with_plugin, clock, plugin_runs):
    """It is not asked for each request, but in time."""
    clock.advance(7200)
    status = {"token": "t", "expirationTimestamp": "2024-05-01T12:10:00Z"}  # in ten minutes
    client = with_plugin(status)
    for _ in range(3):
        await client.get_bytes(PODS)
        clock.advance(CHECK_SECONDS)
    assert len(plugin_runs()) == 1
    clock.advance(520)
    await client.get_bytes(PODS)
    assert len(plugin_runs()) == 2


async def test_a_refused_plugin_token_is_renewed(kube, with_plugin, plugin, clock, plugin_runs):
    """The API server may end a session early; one that refuses everything does not make us run it each time."""
    kube.tokens = {"t1"}
    client = with_plugin({"token": "t1"})
    await client.get_bytes(PODS)
    kube.tokens = {"t2"}
    clock.advance(RENEW_SECONDS)
    plugin({"token": "t2"})
    assert await client.get_bytes(PODS)
    kube.tokens = {"t3"}
    for _ in range(3):
        with pytest.raises(failures.Unauthorized):
            await client.get_bytes(PODS)
    assert len(plugin_runs()) == 2
