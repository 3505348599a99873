"""From the flags to what the backend sees: credentials and method, by upstream's precedence."""

import pytest
import yaml

from adapter import build
from adapter.cli import serve
from tests.support.clock import FakeClock
from tests.support.fake_kube_tls import Authority
from tests.support.guarded_prometheus import GuardedPrometheus

COMPAT = "--compat=prometheus-adapter"


async def ask(fake: GuardedPrometheus, *words: str) -> None:
    """One question of the client that these flags make."""
    clock = FakeClock()
    arguments = ["--config=@go-runtime", f"--prometheus-url={fake.url}", *words]
    with serve.serve.make_context("serve", arguments) as context:
        client = build.backend(serve.settings(context.params), clock)
    await client.start(strict=True)
    try:
        await client.instant("up", deadline=clock.monotonic() + 5)
    finally:
        await client.close()


@pytest.fixture
def kubeconfig(tmp_path):
    """One that nobody serves, with a token and without verification."""
    whole = {
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [
            {"name": "it", "cluster": {"server": "https://nowhere.invalid", "insecure-skip-tls-verify": True}}
        ],
        "users": [{"name": "it", "user": {"token": "lent"}}],
    }
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(whole))
    return path


@pytest.fixture
def token(tmp_path):
    path = tmp_path / "token"
    path.write_text("filed\n")
    return path


async def test_token_file_is_shown(token):
    """As a bearer token."""
    async with GuardedPrometheus() as fake:
        await ask(fake, f"--prometheus-token-file={token}")
    assert fake.shown == ["Bearer filed"]


async def test_kubeconfig_is_shown_unless_a_token_file_is_given(kubeconfig, token, tmp_path):
    """Its TLS settings hold in both cases: this backend's certificate is nobody's."""
    async with GuardedPrometheus(tls=Authority("unknown").serving(tmp_path)) as fake:
        await ask(fake, f"--prometheus-auth-config={kubeconfig}")
        await ask(fake, f"--prometheus-auth-config={kubeconfig}", f"--prometheus-token-file={token}")
    assert fake.shown == ["Bearer lent", "Bearer filed"]


async def test_ca_file_overrules_the_kubeconfig(kubeconfig, tmp_path):
    """Its token is not shown, and verification is on."""
    authority = Authority("backend")
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    async with GuardedPrometheus(tls=authority.serving(tmp_path)) as fake:
        await ask(
            fake, f"--prometheus-auth-config={kubeconfig}", f"--prometheus-ca-file={tmp_path / 'ca.crt'}"
        )
    assert fake.shown == [None]


@pytest.mark.parametrize(
    ("words", "method"),
    [([], "POST"), (["--prometheus-verb=GET"], "POST"), (["--prometheus-verb=GET", COMPAT], "GET")],
)
async def test_method_is_fixed_in_compat_mode_only(words, method):
    """Else it is POST, which holds long queries."""
    async with GuardedPrometheus() as fake:
        await ask(fake, *words)
    assert [one.method for one in fake.requests] == [method]
