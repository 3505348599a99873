"""Exec plugins of a kubeconfig: what they are given, what they give, and that none is left behind."""

import asyncio
import json
import logging
from pathlib import Path

import pytest

from adapter.kube import credentials, exec_plugin
from adapter.kube.credentials import BEARER, CredentialsUnusable, Source
from tests.kube.conftest import embedded
from tests.support.eventually import until

URL = "https://127.0.0.1:6443"
SECRET = "s3cr3t-canary"
HANGING = "exec sleep 60"
V1 = "client.authentication.k8s.io/v1"


@pytest.fixture
def load(kubeconfig):
    """`load(section)` gives the credentials of a user with this exec section."""

    async def loaded(section, *, cluster=None, **more):
        path = kubeconfig(URL, user={"exec": section}, cluster=cluster)
        async with credentials.opened(Source(path, **more)) as found:
            return found

    return loaded


def alive(pid):
    """Whether it runs, or is dead but was not reaped."""
    return Path(f"/proc/{pid}").exists()


# -- what it gives


async def test_a_token(load, plugin):
    """It is sent, and is known to expire."""
    loaded = await load(plugin({"token": SECRET, "expirationTimestamp": "2030-01-01T00:00:00Z"}))
    assert loaded.configuration.api_key[BEARER] == f"Bearer {SECRET}"
    assert loaded.renewable
    assert loaded.expires_at == 1893456000.0


async def test_a_certificate(kubeconfig, plugin, authority):
    """Its key, too, is on disk for a moment only."""
    pair = authority.client("adapter")
    status = {"clientCertificateData": pair.certificate.decode(), "clientKeyData": pair.key.decode()}
    path = kubeconfig(URL, user={"exec": plugin(status)})
    async with credentials.opened(Source(path)) as loaded:
        assert Path(loaded.configuration.key_file).read_bytes() == pair.key
    assert loaded.expires_at is None
    assert not Path(loaded.configuration.key_file).exists()


@pytest.mark.parametrize(
    "status",
    [
        {},
        None,
        {"token": ""},
        {"token": 7, "note": SECRET},
        {"clientCertificateData": SECRET},
        {"clientKeyData": SECRET},
    ],
    ids=str,
)
async def test_half_an_answer_never_makes_us_anonymous(load, plugin, status):
    """Requests without credentials would be somebody else's."""
    with pytest.raises(CredentialsUnusable, match="exec") as caught:
        await load(plugin(status))
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "printed",
    [
        SECRET,
        "",
        f'["{SECRET}"]',
        json.dumps({"kind": SECRET, "apiVersion": V1, "status": {"token": "t"}}),
        json.dumps({"kind": "ExecCredential", "apiVersion": f"{V1}beta1", "status": {"token": "t"}}),
    ],
)
async def test_what_is_no_credential_is_not_shown(load, plugin_script, printed):
    """It may be a token by itself."""
    with pytest.raises(CredentialsUnusable, match="printed no ExecCredential") as caught:
        await load(plugin_script(f"printf '%s' '{printed}'"))
    assert SECRET not in str(caught.value)


async def test_more_than_any_credential_is_not_kept(load, plugin_script):
    """A plugin that floods us costs no memory."""
    with pytest.raises(CredentialsUnusable, match="printed no ExecCredential"):
        await load(plugin_script(f"head -c {3 * exec_plugin.MAX_OUTPUT_BYTES} /dev/zero"))


# -- what it is given


async def test_command_arguments_and_environment(load, plugin_script, tmp_path):
    """Its own variables win over ours; it is told that nobody is there to be asked."""
    section = plugin_script(
        'printf "%s\\n" "$@" "$KUBERNETES_EXEC_INFO" "$OURS" "$BOTH" > given; exit 1',
        args=["get-token", "--cluster=a b"],
        env=[{"name": "BOTH", "value": "plugin's"}],
    )
    with pytest.raises(CredentialsUnusable):
        await load(section, environment={"OURS": "ours", "BOTH": "ours", "PATH": "/usr/bin:/bin"})
    first, second, info, *variables = (tmp_path / "given").read_text().splitlines()
    assert [first, second] == ["get-token", "--cluster=a b"]
    assert json.loads(info) == {"kind": "ExecCredential", "apiVersion": V1, "spec": {"interactive": False}}
    assert variables == ["ours", "plugin's"]


@pytest.mark.parametrize("ca", ["certificate-authority-data", "certificate-authority"])
async def test_the_cluster_if_it_wants_to_know(load, plugin_script, tmp_path, ca):
    """Some plugins log in at the cluster itself."""
    (tmp_path / "ca.crt").write_bytes(b"CA")
    cluster = {
        ca: embedded(b"CA") if ca.endswith("data") else "ca.crt",
        "tls-server-name": "kube.example.com",
        "extensions": [{"name": exec_plugin.EXTENSION, "extension": {"audience": "x"}}, {"name": "other"}],
    }
    section = plugin_script(
        'printf "%s" "$KUBERNETES_EXEC_INFO" > given; exit 1',
        provideClusterInfo=True,
        apiVersion=f"{V1}beta1",
    )
    with pytest.raises(CredentialsUnusable):
        await load(section, cluster=cluster)
    given = json.loads((tmp_path / "given").read_text())
    assert given["apiVersion"] == f"{V1}beta1"
    assert given["spec"]["cluster"] == {
        "server": URL,
        "tls-server-name": "kube.example.com",
        "certificate-authority-data": embedded(b"CA"),
        "config": {"audience": "x"},
    }


async def test_a_command_beside_the_kubeconfig(load, plugin):
    """A path with a slash is relative to the file that names it, as for kubectl."""
    section = plugin({"token": SECRET})
    assert (await load(section | {"command": "./plugin.sh"})).configuration.api_key[BEARER]


@pytest.mark.parametrize("version", ["client.authentication.k8s.io/v1alpha1", None])
async def test_an_unknown_protocol_is_refused(load, plugin, version):
    """We would not understand the answer."""
    with pytest.raises(CredentialsUnusable, match="needs apiVersion"):
        await load(plugin({"token": SECRET}) | {"apiVersion": version})


async def test_a_plugin_that_must_ask_somebody_is_not_run(load, plugin, tmp_path):
    """There is nobody."""
    with pytest.raises(CredentialsUnusable, match="nobody"):
        await load(plugin({"token": SECRET}) | {"interactiveMode": "Always"})
    assert not (tmp_path / "runs").exists()


# -- how it fails


async def test_what_a_plugin_prints_is_never_shown(load, plugin, caplog, capfd):
    """Neither stdout nor stderr: not in the error, not in a log, not on our own stderr."""
    caplog.set_level(logging.DEBUG)
    with pytest.raises(CredentialsUnusable, match="exit code 3") as caught:
        await load(plugin({"token": SECRET}, code=3, noise=f"token={SECRET}"))
    assert SECRET not in f"{caught.value!r} {caught.value.__cause__!r} {caplog.text} {capfd.readouterr()}"


async def test_a_plugin_that_is_not_there(load):
    """The command is not installed."""
    with pytest.raises(CredentialsUnusable, match="/nowhere/x cannot be run: No such file"):
        await load({"apiVersion": V1, "command": "/nowhere/x"})


def test_a_plugin_has_no_more_time_than_a_list():
    """A question must not wait for ever."""
    assert Source().plugin_seconds <= 30


async def test_a_plugin_that_hangs_is_killed(load, plugin_script, plugin_runs):
    """Three tries leave no process, not even an unreaped one."""
    for _ in range(3):
        with pytest.raises(CredentialsUnusable, match="was not done within"):
            await load(plugin_script(HANGING), plugin_seconds=0.1)
    assert [alive(pid) for pid in plugin_runs()] == [False] * 3


async def test_what_a_plugin_started_is_killed_with_it(load, plugin_script, plugin_runs, tmp_path):
    """A script's child would else go on; one that holds our pipe but left the script's group holds up nobody."""
    section = plugin_script("sleep 60 & echo $! > child\nsetsid sleep 3 &\nwait")
    async with asyncio.timeout(2):
        with pytest.raises(CredentialsUnusable, match="was not done within"):
            await load(section, plugin_seconds=0.2)
    child = int((tmp_path / "child").read_text())
    await until(lambda: not alive(child) or "Z" in Path(f"/proc/{child}/stat").read_text())
    assert not alive(plugin_runs()[0])


async def test_a_caller_that_leaves_takes_the_plugin_along(load, plugin_script, plugin_runs, tmp_path):
    """Cancelled questions leave nothing running either."""
    question = asyncio.create_task(load(plugin_script(HANGING)))
    await until(lambda: (tmp_path / "runs").exists() and plugin_runs())
    question.cancel()
    with pytest.raises(asyncio.CancelledError):
        await question
    assert not alive(plugin_runs()[0])
