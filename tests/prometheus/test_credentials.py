"""The login in force: renewed when a file changes, kept while the new one is unusable, each told once."""

import json
import logging
import ssl

import pytest

from adapter import errors
from adapter.prometheus.client import PrometheusClient
from adapter.prometheus.credentials import LOOK_SECONDS, Credentials
from adapter.prometheus.login import CredentialsUnusable, Paths
from adapter.prometheus.transport import Transport
from adapter.telemetry.logs import JsonLines
from tests.support.clock import FakeClock
from tests.support.fake_kube_tls import Authority
from tests.support.guarded_prometheus import GuardedPrometheus


class FakeLender:
    """Lends what the test says."""

    def __init__(self) -> None:
        self.tls, self.token = ssl.create_default_context(), "Bearer lent-1"
        self.stale, self.failure, self.asked = False, "", 0

    async def lend(self) -> tuple[ssl.SSLContext, str | None, str | None]:
        self.asked += 1
        if self.failure:
            raise ValueError(self.failure)
        return self.tls, self.token, None

    def outdated(self, *, refused: bool) -> bool:
        return self.stale or refused


@pytest.fixture
def token(tmp_path):
    path = tmp_path / "token"
    path.write_text("one\n")
    return path


@pytest.fixture
async def credentials(token, clock):
    found = Credentials(clock, Paths(token=str(token)))
    yield found
    await found.close()


def events(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [json.loads(JsonLines().format(one))["event"] for one in caplog.records]


async def test_a_changed_file_is_noticed_in_time(credentials, token, clock):
    """Not at each request, but within LOOK_SECONDS."""
    first = await credentials.now()
    token.write_text("two\n")
    assert await credentials.now() is first
    clock.advance(LOOK_SECONDS)
    assert (await credentials.now()).authorization == "Bearer two"


async def test_a_touched_file_is_no_change(credentials, token, clock, caplog):
    """kubelet touches what it leaves as it was: the same connections serve on, and the log is silent."""
    caplog.set_level(logging.INFO)
    first = await credentials.now()
    token.write_text("one\n")
    clock.advance(LOOK_SECONDS)
    assert await credentials.now() is first
    assert events(caplog) == []


async def test_an_unusable_file_changes_nothing(credentials, token, clock, caplog):
    """The old login stays; one line at its beginning and one at its end."""
    caplog.set_level(logging.INFO)
    first = await credentials.now()
    for content in ("", "", "two"):
        token.write_text(content)
        clock.advance(LOOK_SECONDS)
        last = await credentials.now()
        assert last is first or content
    assert last.authorization == "Bearer two"
    assert events(caplog) == ["backend_credentials_unusable", "backend_credentials_changed"]


async def test_without_a_first_login_there_is_no_request(credentials, token, clock, caplog):
    """503 until the file is there: a question without its credentials would only be refused."""
    token.unlink()
    for _ in range(3):
        with pytest.raises(errors.BackendUnavailable, match="credentials"):
            await credentials.now()
    assert events(caplog) == ["backend_credentials_unusable"]
    token.write_text("one")
    clock.advance(LOOK_SECONDS)
    assert (await credentials.now()).authorization == "Bearer one"


async def test_who_would_rather_not_start_is_told_why(credentials, token):
    """In compat mode, as upstream has it."""
    token.unlink()
    with pytest.raises(CredentialsUnusable, match="token: it cannot be read"):
        await credentials.require()


async def test_a_refused_login_is_read_again_at_once(credentials, token):
    """And is itself where nothing else is there."""
    first = await credentials.now()
    assert await credentials.instead_of(first) is first
    token.write_text("two")
    second = await credentials.instead_of(first)
    assert second.authorization == "Bearer two"
    assert await credentials.instead_of(first) is second


async def test_each_refused_login_is_told_once(credentials, token, caplog):
    """Not each request."""
    first = await credentials.now()
    credentials.rejected(first)
    credentials.rejected(first)
    token.write_text("two")
    credentials.rejected(await credentials.instead_of(first))
    assert events(caplog).count("backend_credentials_rejected") == 2


async def test_lent_credentials_are_asked_for_again_when_refused_or_stale(clock):
    """A plugin may have newer ones though no file changed."""
    lender = FakeLender()
    lent = Credentials(clock, lender=lender)
    first = await lent.now()
    assert (first.authorization, first.tls, lender.asked) == ("Bearer lent-1", lender.tls, 1)
    lender.token = "Bearer lent-2"
    second = await lent.instead_of(first)
    assert (second.authorization, lender.asked) == ("Bearer lent-2", 2)
    clock.advance(LOOK_SECONDS)
    assert await lent.now() is second
    lender.stale, lender.failure = True, "no kubeconfig"
    clock.advance(LOOK_SECONDS)
    assert await lent.now() is second
    await lent.close()


async def test_a_token_file_wins_over_a_lent_token(token, clock):
    """Upstream's precedence; the lent TLS stays."""
    lender = FakeLender()
    both = Credentials(clock, Paths(token=str(token)), lender)
    found = await both.now()
    assert (found.authorization, found.tls) == ("Bearer one", lender.tls)
    await both.close()


# -- on the wire


async def ask(url: str, credentials: Credentials, clock: FakeClock, **transport) -> None:
    client = PrometheusClient(url, clock, Transport(**transport), credentials)
    await client.start()
    try:
        await client.instant("up", deadline=clock.monotonic() + 5)
    finally:
        await client.close()


@pytest.mark.parametrize(
    ("prefix", "headers", "shown"),
    [
        ("", (), "Bearer one"),
        ("user:pass@", (), "Basic dXNlcjpwYXNz"),
        ("", (("authorization", "Own x"),), "Own x"),
        ("user:pass@", (("Authorization", "Own x"),), "Own x"),
    ],
)
async def test_a_header_wins_over_the_address_and_both_over_the_token(prefix, headers, shown, token, clock):
    """Upstream's precedence."""
    async with GuardedPrometheus() as fake:
        url = fake.url.replace("http://", f"http://{prefix}")
        await ask(url, Credentials(clock, Paths(token=str(token))), clock, headers=headers)
    assert fake.shown == [shown]


async def test_a_fixed_method_is_the_only_one(clock):
    """GET from the start; and no GET after a 405 to POST."""
    async with GuardedPrometheus() as fake:
        await ask(fake.url, Credentials(clock), clock, method="GET")
        fake.refuse_post = True
        with pytest.raises(errors.BackendBadAnswer, match="405"):
            await ask(fake.url, Credentials(clock), clock, method="POST")
    assert [one.method for one in fake.requests] == ["GET", "POST"]


async def test_the_backends_certificate_must_be_of_the_given_ca(clock, tmp_path):
    """Another CA's is refused, and nothing is sent; the answer says why and not to whom."""
    ours, theirs = Authority("ours"), Authority("theirs")
    (tmp_path / "ours.crt").write_bytes(ours.pem)
    (tmp_path / "theirs.crt").write_bytes(theirs.pem)
    async with GuardedPrometheus(tls=theirs.serving(tmp_path)) as fake:
        with pytest.raises(errors.BackendUnavailable, match="TLS") as caught:
            await ask(fake.url, Credentials(clock, Paths(str(tmp_path / "ours.crt"))), clock)
        assert fake.requests == []
        await ask(fake.url, Credentials(clock, Paths(str(tmp_path / "theirs.crt"))), clock)
    assert "127.0.0.1" not in str(caught.value)


async def test_our_certificate_is_shown(clock, tmp_path):
    """Where the backend asks for one."""
    authority = Authority("backend")
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    cert, key = authority.client("adapter").write(tmp_path, "client")
    tls = authority.serving(tmp_path)
    tls.verify_mode = ssl.CERT_REQUIRED
    async with GuardedPrometheus(tls=tls) as fake:
        await ask(fake.url, Credentials(clock, Paths(str(tmp_path / "ca.crt"), cert, key)), clock)
    assert fake.subjects == ["adapter"]


async def test_strict_start_is_refused_without_credentials(clock, tmp_path):
    """A start that is not strict goes on, for they may still come."""
    client = PrometheusClient(
        "http://x", clock, None, Credentials(clock, Paths(token=str(tmp_path / "none")))
    )
    with pytest.raises(CredentialsUnusable):
        await client.start(strict=True)
    await client.close()
    await client.start()
    await client.close()
