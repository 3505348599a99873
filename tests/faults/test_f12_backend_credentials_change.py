"""F12: the token, the client certificate or the CA of the backend changes under a running adapter.

What fails when the guard is gone was seen by taking it out: without the look at files each LOOK_SECONDS the certificate
stays the old one; without the second try after a 401 the questions of the moment fail.
"""

import asyncio
import contextlib
import logging
import ssl
from collections.abc import AsyncIterator

import pytest

from adapter import errors
from adapter.prometheus.client import PrometheusClient
from adapter.prometheus.credentials import LOOK_SECONDS, Credentials
from adapter.prometheus.login import Paths
from adapter.telemetry.logs import JsonLines
from tests.support.clock import FakeClock
from tests.support.fake_kube_tls import Authority
from tests.support.guarded_prometheus import GuardedPrometheus

SECRETS = ("canary-one", "canary-two", "BEGIN", "PRIVATE")


@pytest.fixture
def clock():
    return FakeClock()


@contextlib.asynccontextmanager
async def running(
    clock: FakeClock, paths: Paths, *taken: str, tls: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[GuardedPrometheus, PrometheusClient]]:
    """A backend that takes these values of Authorization, and a client of it with the credentials of these files."""
    async with GuardedPrometheus(*taken, tls=tls) as fake:
        client = PrometheusClient(fake.url, clock, None, Credentials(clock, paths))
        await client.start()
        try:
            yield fake, client
        finally:
            await client.close()


async def ask(client: PrometheusClient, clock: FakeClock) -> None:
    await client.instant("up", deadline=clock.monotonic() + 5)


async def test_f12_token_rotates_under_load_and_no_question_fails(clock, tmp_path):
    """The backend stops taking the old one at once: each question is tried once more with what the file holds then."""
    token = tmp_path / "token"
    token.write_text("canary-one")
    async with running(clock, Paths(token=str(token)), "Bearer canary-one") as (fake, client):
        for round_ in range(10):
            fake.taken = {f"Bearer canary-{round_}"}
            token.write_text(f"canary-{round_}\n")
            await asyncio.gather(*(ask(client, clock) for _ in range(20)))
    assert 10 <= fake.refused <= 10 * 8  # at most what was on its way at that moment


async def test_f12_token_that_is_refused_is_sent_twice_only_if_it_changed(clock, tmp_path, caplog):
    """One request per question, one line in all, and 503; recovery needs nothing but the file."""
    token = tmp_path / "token"
    token.write_text("canary-one")
    async with running(clock, Paths(token=str(token)), "Bearer canary-two") as (fake, client):
        for _ in range(3):
            with pytest.raises(errors.BackendUnavailable, match="refuses our credentials"):
                await ask(client, clock)
        assert len(fake.requests) == 3
        token.write_text("canary-two")
        await ask(client, clock)
    lines = [one.getMessage() for one in caplog.records]
    assert lines.count("backend_credentials_rejected") == 1


async def test_f12_certificate_rotates_without_a_failure(clock, tmp_path):
    """The next look has the new one; a pair that is half written changes nothing."""
    authority = Authority("backend")
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    cert, key = authority.client("old").write(tmp_path, "client")
    tls = authority.serving(tmp_path)
    tls.verify_mode = ssl.CERT_REQUIRED
    async with running(clock, Paths(str(tmp_path / "ca.crt"), cert, key), tls=tls) as (fake, client):
        await ask(client, clock)
        new = authority.client("new")
        (tmp_path / "client.crt").write_bytes(new.certificate)
        clock.advance(LOOK_SECONDS)
        await ask(client, clock)
        (tmp_path / "client.key").write_bytes(new.key)
        clock.advance(LOOK_SECONDS)
        await ask(client, clock)
    assert fake.subjects == ["old", "old", "new"]


async def test_f12_ca_of_the_backend_changes(clock, tmp_path):
    """A removed one is not believed any more on a new connection."""
    old, new = Authority("old"), Authority("new")
    ca = tmp_path / "ca.crt"
    ca.write_bytes(old.pem)
    async with running(clock, Paths(str(ca)), tls=old.serving(tmp_path)) as (_fake, client):
        await ask(client, clock)
        ca.write_bytes(new.pem)
        clock.advance(LOOK_SECONDS)
        with pytest.raises(errors.BackendUnavailable, match="TLS"):
            await ask(client, clock)
        ca.write_bytes(old.pem + new.pem)
        clock.advance(LOOK_SECONDS)
        await ask(client, clock)


@pytest.mark.parametrize("content", ["", "canary-one canary-two", "canary-one\ncanary-two", "canary-one\x00"])
async def test_f12_secrets_are_in_no_output(content, clock, tmp_path, caplog):
    """Neither of a good login, nor of a refused one, nor of files that are no good."""
    caplog.set_level(logging.DEBUG)
    authority = Authority("backend")
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    cert, key = authority.client("adapter").write(tmp_path, "client")
    token = tmp_path / "token"
    token.write_text("canary-one")
    paths = Paths(str(tmp_path / "ca.crt"), cert, key, str(token))
    shown: list[str] = []
    async with running(clock, paths, "Bearer canary-two", tls=authority.serving(tmp_path)) as (_fake, client):
        for written in ("canary-one", content, "canary-two"):
            token.write_text(written)
            clock.advance(LOOK_SECONDS)
            with contextlib.suppress(errors.AdapterError):
                await ask(client, clock)
                shown.append("answered")
        token.write_text(content)
        (tmp_path / "client.key").write_bytes(authority.client("other").key)
        clock.advance(LOOK_SECONDS)
        await ask(client, clock)
    assert shown == ["answered"]
    lines = [f"{vars(one)} {JsonLines().format(one)}" for one in caplog.records]
    assert len(lines) >= 3
    assert [one for one in SECRETS if one in "\n".join(lines)] == []
