"""`hpa-adapter register` and `unregister`, against a stand-in API server."""

import asyncio
import datetime

import pytest
import yaml
from click.testing import CliRunner

from adapter.cli import main
from adapter.server import own_ca
from adapter.wire import apis, registration
from adapter.wire.registration import Service
from tests.support.fake_kube import FakeKube
from tests.support.kit import GOROUTINES

KIND = "apiservices.apiregistration.k8s.io"
NAMES = registration.names((apis.CUSTOM,))
V2, V1 = NAMES
WAITS = " (without a CA it is not available: give --ca-bundle, or run the adapter with --self-managed-tls)"


@pytest.fixture
async def kube():
    async with FakeKube() as found:
        yield found


@pytest.fixture
def run(kube, tmp_path):
    """What a person types after hpa-adapter; gives (exit code, output, errors)."""
    config = {
        "current-context": "x",
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
        "clusters": [{"name": "x", "cluster": {"server": kube.url}}],
        "users": [{"name": "x", "user": {}}],
    }
    (tmp_path / "config").write_text(yaml.safe_dump(config))
    (tmp_path / "rules.yaml").write_text(GOROUTINES)

    async def invoke(name, *words, rules="rules.yaml"):
        whole = [name, f"--kubeconfig={tmp_path / 'config'}", *words]
        if name == "register":
            whole.append(f"--config={tmp_path / rules}")
        result = await asyncio.to_thread(CliRunner().invoke, main.cli, whole)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return invoke


@pytest.fixture
def bundle(tmp_path):
    """A file with a CA, and its key beside it."""
    certificate, key = own_ca.new_ca(datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1))
    path = tmp_path / "ca.pem"
    path.write_bytes(own_ca.key_pem(key) + b"# a note\n" + own_ca.pem(certificate))
    return path


def held(kube):
    return {name: body for (_, name), body in kube.world.objects.get(kube.world.kind(KIND), {}).items()}


def put(kube, service, **labels):
    document = registration.documents((apis.CUSTOM,), service, b"theirs")[1]
    kube.world.put(kube.world.kind(KIND), document | {"metadata": {"name": V1, "labels": labels}})


def writes(kube):
    return [one for one in kube.asked if one.verb != "get"]


async def test_registers_and_unregisters(run, kube, bundle):
    """What anybody would type; the CA is published, the key beside it is not."""
    code, output, _ = await run("register", f"--ca-bundle={bundle}")
    assert (code, output) == (0, f"{V2}: created\n{V1}: created\n")
    for body in held(kube).values():
        assert body["spec"]["service"] == {"name": "hpa-adapter", "namespace": "hpa-adapter", "port": 443}
        assert body["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "hpa-adapter"}
        assert registration.bundle_of(body) in bundle.read_bytes()
        assert b"PRIVATE" not in registration.bundle_of(body)
    assert held(kube)[V2]["spec"]["versionPriority"] > held(kube)[V1]["spec"]["versionPriority"]
    assert await run("register") == (0, f"{V2}: unchanged\n{V1}: unchanged\n", "")
    assert await run("unregister") == (0, f"{V2}: removed\n{V1}: removed\n", "")
    assert not held(kube)
    assert await run("unregister") == (0, f"{V2}: absent\n{V1}: absent\n", "")


async def test_service_namespace_and_port(run, kube):
    """As installed under other names."""
    await run("register", "--service=adapter", "--namespace=metrics", "--port=6443")
    service = {"name": "adapter", "namespace": "metrics", "port": 6443}
    assert [body["spec"]["service"] for body in held(kube).values()] == [service] * 2
    code, output, _ = await run("unregister")
    assert code == 0
    assert output.count("left (it is served by another installation of this adapter, metrics/adapter)") == 2
    assert (await run("unregister", "--service=adapter", "--namespace=metrics"))[1].count("removed") == 2


async def test_dry_run_shows_documents_and_writes_nothing(run, kube):
    """The documents are such as could be applied."""
    code, output, _ = await run("register", "--dry-run")
    assert code == 0
    assert f"{V2}: would be created{WAITS}" in output
    document = output.split(f"{V2}: would be created{WAITS}\n")[1].split(f"{V1}: ")[0]
    assert yaml.safe_load(document)["metadata"]["name"] == V2
    assert not writes(kube)
    await run("register")
    kube.asked.clear()
    code, output, _ = await run("unregister", "--dry-run")
    assert (code, output) == (0, f"{V2}: would be removed\n{V1}: would be removed\n")
    assert not writes(kube)


@pytest.mark.parametrize(
    ("name", "product"),
    [
        ("prometheus-adapter", "prometheus-adapter"),
        ("keda-operator-metrics-apiserver", "KEDA"),
        ("metrics-server", "metrics-server"),
        ("other", "monitoring/other"),
    ],
)
async def test_group_of_another_is_refused_with_advice(run, kube, name, product):
    """Who it is, what to do, and the flag for those who know; nothing is written. Exit code 1."""
    put(kube, Service(name, "monitoring"))
    code, output, errors = await run("register")
    assert (code, output) == (1, "")
    assert f"{V1} is served by {product}" in errors
    assert "--take-over" in errors
    assert not writes(kube)


async def test_take_over(run, kube):
    """The other's clients come to us."""
    put(kube, Service("prometheus-adapter", "monitoring"))
    code, output, _ = await run("register", "--take-over")
    assert code == 0
    assert f"{V1}: updated (taken over from prometheus-adapter, monitoring/prometheus-adapter" in output
    assert registration.service_of(held(kube)[V1]).name == "hpa-adapter"
    assert registration.bundle_of(held(kube)[V1]) == b""


async def test_unregister_leaves_what_is_not_ours(run, kube):
    """prometheus-adapter's registration is its own."""
    put(kube, Service("prometheus-adapter", "monitoring"))
    code, output, _ = await run("unregister")
    assert code == 0
    assert f"{V1}: left (it is served by prometheus-adapter, monitoring/prometheus-adapter)" in output
    assert list(held(kube)) == [V1]


@pytest.mark.parametrize("rules", ["", "rules: []", "externalRules: []", "rules: 7", "{"])
async def test_nothing_to_serve_registers_nothing(run, kube, tmp_path, rules):
    """An API without metrics would only be one more that can break. Exit code 1."""
    (tmp_path / "empty.yaml").write_text(rules)
    code, _, errors = await run("register", rules="empty.yaml")
    assert code == 1
    assert "no group is registered" in errors
    assert not kube.asked


async def test_mistakes_in_rules_are_shown(run, tmp_path):
    """The good rules count, as they do for the server."""
    (tmp_path / "mixed.yaml").write_text(GOROUTINES + "- seriesQuery: 7\n  nonsense: 1\n")
    code, output, errors = await run("register", rules="mixed.yaml")
    assert code == 0
    assert "created" in output
    assert "nonsense" in errors


@pytest.mark.parametrize("content", [None, b"", b"rubbish"])
async def test_bundle_that_is_none_is_a_usage_error(run, kube, tmp_path, content):
    """Exit code 2, before anything is asked."""
    if content is not None:
        (tmp_path / "bad.pem").write_bytes(content)
    code, _, errors = await run("register", f"--ca-bundle={tmp_path / 'bad.pem'}")
    assert code == 2
    assert "bad.pem" in errors
    assert not kube.asked


@pytest.mark.parametrize("name", ["register", "unregister"])
async def test_right_that_lacks(run, kube, name):
    """Exit code 3, the API server's own words, and which right it is."""
    await run("register")
    kube.forbid(f"get {KIND}")
    code, _, errors = await run(name)
    assert code == 3
    assert "is forbidden" in errors
    assert "grant get, create, update and delete on apiservices" in errors


@pytest.mark.parametrize("name", ["register", "unregister"])
async def test_api_server_that_is_away(run, kube, name):
    """Exit code 3, and to be repeated."""
    await kube.stop()
    code, _, errors = await run(name)
    assert code == 3
    assert "Connect" in errors
    assert "repeat the command" in errors
