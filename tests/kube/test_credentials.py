"""Credentials from kubeconfigs and service accounts, and the traps on the way."""

from pathlib import Path

import pytest

from adapter.kube import credentials
from adapter.kube.credentials import BEARER, CredentialsUnusable, Source
from tests.kube.conftest import embedded
from tests.support.fake_kube_tls import Authority

URL = "https://127.0.0.1:6443"
SECRET = "s3cr3t-canary"


async def load(path, **more):
    async with credentials.opened(Source(path, **more)) as loaded:
        return loaded


def token_of(loaded):
    return loaded.configuration.api_key.get(BEARER)


async def test_a_token(kubeconfig):
    """The token of the current context's user is the one that is sent."""
    loaded = await load(kubeconfig(URL, user={"token": SECRET}))
    assert token_of(loaded) == f"Bearer {SECRET}"
    assert loaded.configuration.host == URL


async def test_a_token_file_loses_its_line_break(kubeconfig, tmp_path):
    """A header with a line break would be refused; the path is relative to the kubeconfig."""
    (tmp_path / "token").write_text(f"{SECRET}\n")
    assert token_of(await load(kubeconfig(URL, user={"tokenFile": "token"}))) == f"Bearer {SECRET}"


async def test_a_token_file_wins_over_a_token(kubeconfig, tmp_path):
    """The token beside it may be an old one."""
    (tmp_path / "token").write_text(SECRET)
    loaded = await load(kubeconfig(URL, user={"tokenFile": "token", "token": "old"}))
    assert token_of(loaded) == f"Bearer {SECRET}"


async def test_a_password(kubeconfig):
    """Basic authentication, as proxies in front of API servers ask for it."""
    loaded = await load(kubeconfig(URL, user={"username": "me", "password": "pw"}))
    assert token_of(loaded) == "Basic bWU6cHc="


async def test_a_context_without_user(tmp_path):
    """Nobody is somebody: it works, without credentials."""
    path = tmp_path / "config"
    path.write_text(
        "current-context: c\ncontexts: [{name: c, context: {cluster: c}}]\n"
        f"clusters: [{{name: c, cluster: {{server: '{URL}'}}}}]\n"
    )
    loaded = await load(str(path))
    assert token_of(loaded) is None
    assert loaded.configuration.host == URL


async def test_several_files(kubeconfig, tmp_path):
    """They are merged as kubectl does: the first one of a name wins, and so does the first current context."""
    first = kubeconfig(URL, user={"token": "first"}, name="first")
    second = tmp_path / "second"
    second.write_text(
        "current-context: other\ncontexts: [{name: other, context: {cluster: test, user: other}}]\n"
        "users: [{name: other, user: {token: second}}, {name: test, user: {token: shadowed}}]\nclusters: []\n"
    )
    missing = tmp_path / "missing"
    assert token_of(await load(f"{missing}:{first}:{second}")) == "Bearer first"
    assert token_of(await load(f"{second}:{missing}:{first}")) == "Bearer second"


async def test_server_name_proxy_and_verification(kubeconfig):
    """What the cluster entry says about the way to the API server."""
    cluster = {
        "tls-server-name": "kube.example.com",
        "proxy-url": "http://proxy:3128",
        "insecure-skip-tls-verify": True,
    }
    configuration = (await load(kubeconfig(URL, cluster=cluster))).configuration
    assert configuration.tls_server_name == "kube.example.com"
    assert configuration.proxy == "http://proxy:3128"
    assert configuration.verify_ssl is False


async def test_embedded_keys_are_on_disk_for_a_moment_only(kubeconfig, authority):
    """OpenSSL reads keys from files; afterwards they are gone."""
    pair = authority.client("adapter")
    user = {"client-certificate-data": embedded(pair.certificate), "client-key-data": embedded(pair.key)}
    path = kubeconfig(URL, user=user, cluster={"certificate-authority-data": embedded(authority.pem)})
    async with credentials.opened(Source(path)) as loaded:
        configuration = loaded.configuration
        assert Path(configuration.key_file).read_bytes() == pair.key
        assert Path(configuration.cert_file).read_bytes() == pair.certificate
        assert Path(configuration.ssl_ca_cert).read_bytes() == authority.pem
        assert Path(configuration.key_file).parent.stat().st_mode & 0o077 == 0
    assert not Path(configuration.key_file).exists()


async def test_strict_verification_can_be_switched_off(kubeconfig):
    """Python 3.13 refuses the certificates of old clusters."""
    assert (await load(kubeconfig(URL))).configuration.disable_strict_ssl_verification is False
    relaxed = await load(kubeconfig(URL), disable_strict_x509=True)
    assert relaxed.configuration.disable_strict_ssl_verification is True


@pytest.mark.parametrize("key", ["certificate-authority", "client-certificate", "client-key", "tokenFile"])
async def test_every_file_is_looked_after(kubeconfig, tmp_path, authority, key):
    """A change of any file that a kubeconfig refers to is noticed."""
    (tmp_path / "file").write_text("before")
    side = {"cluster": {key: "file"}} if key == "certificate-authority" else {"user": {key: "file"}}
    path = kubeconfig(URL, **side)
    loaded = await load(path)
    assert not loaded.files.changed()
    (tmp_path / "file").write_text("after")
    assert loaded.files.changed()


async def test_the_kubeconfig_itself_is_looked_after(kubeconfig):
    """Somebody may log in again meanwhile."""
    loaded = await load(kubeconfig(URL, user={"token": "a"}))
    kubeconfig(URL, user={"token": "b"})
    assert loaded.files.changed()


# -- what cannot be used


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "usual form"),
        ("a: [", "line"),
        ("contexts: []\nclusters: []\nusers: []", "no context"),
        (
            "current-context: x\ncontexts: [{name: x, context: {cluster: y}}]\nclusters: []\nusers: []",
            "no cluster",
        ),
        ("users: [{name: a, user: {token: s3cr3t-canary}}", "line"),
        ("- s3cr3t-canary", "usual form"),
        ("\x00s3cr3t-canary", "no YAML"),
    ],
)
async def test_a_broken_kubeconfig_says_where_and_not_what(tmp_path, text, says):
    """Its content never reaches an error: it may be a token."""
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(CredentialsUnusable, match=says) as caught:
        await load(str(path))
    assert SECRET not in str(caught.value)


async def test_a_missing_kubeconfig_is_named(tmp_path):
    """The path is what helps."""
    with pytest.raises(CredentialsUnusable, match="nowhere"):
        await load(str(tmp_path / "nowhere"))


# -- in the cluster


async def test_a_service_account(service_account, authority):
    """The token without its line break, the CA, and the address from the environment."""
    source = service_account(6443, SECRET, authority.pem)
    async with credentials.opened(source) as loaded:
        assert token_of(loaded).lower() == f"bearer {SECRET}"
        assert loaded.configuration.host == URL
        assert Path(loaded.configuration.ssl_ca_cert).read_bytes() == authority.pem


@pytest.mark.parametrize("name", ["token", "ca.crt"])
async def test_token_and_ca_are_looked_after(service_account, authority, name):
    """kubelet rewrites the token each hour, and the CA when it is rotated."""
    source = service_account(6443, SECRET, authority.pem)
    async with credentials.opened(source) as loaded:
        assert not loaded.files.changed()
        Path(source.service_account, name).write_bytes(Authority("other").pem)
        assert loaded.files.changed()


async def test_outside_of_a_cluster_it_says_so(tmp_path):
    """No kubeconfig and no service account."""
    with pytest.raises(CredentialsUnusable, match="Service host/port is not set"):
        await load("", service_account=str(tmp_path), environment={})
