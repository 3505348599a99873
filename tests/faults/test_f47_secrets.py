"""F47: what is secret is in nothing that the process shows.

Every secret here begins with `canary`, and then all output is searched for that word, as it is and in base64: each record
of the log with its trace, each body, /metrics, the probes, and the `repr` of what holds one. To see them fail: log
`secret_url` in `Journal.bad`; put the token into the text of `Tokens.user`'s refusal; take a `repr=False` away.
"""

import contextlib
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import click
import pytest

from adapter import app, build
from adapter.app import App
from adapter.cli import serve
from adapter.kube import kubeconfig
from adapter.kube.connection import Request
from adapter.kube.credentials import CredentialsUnusable, Source, opened
from adapter.kube.exec_plugin import Credential
from adapter.prometheus import address
from adapter.prometheus.login import Contents, Login
from adapter.prometheus.transport import Transport
from adapter.settings import Kubernetes, Prometheus, Serving, Settings
from adapter.telemetry.logs import JsonLines
from tests.support.certificates import Pki
from tests.support.clock import FakeClock
from tests.support.eventually import until
from tests.support.fake_kube import FakeKube
from tests.support.fake_prometheus_answers import sample, vector
from tests.support.guarded_prometheus import GuardedPrometheus
from tests.support.kit import GOROUTINES, PODS

SECRETS = ("canary", "Y2FuYXJ5", "PRIVATE KEY")
SERIES = {"__name__": "go_goroutines", "namespace": "default", "pod": "web-1", "job": "my-go-app"}

KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: here}}]
clusters: [{name: here, cluster: {server: "%s"}}]
users: [{name: here, user: {token: canary-kube}}]
"""

PATHS = (
    *(
        f"{PODS}/{rest}"
        for rest in ("web-1/goroutines", "*/goroutines", "web-1/none", "web-1/goroutines?timeout=x")
    ),
    "/apis/custom.metrics.k8s.io/v1beta2",
    "/apis/none",
    "/metrics",
    "/livez?verbose",
    "/readyz?verbose",
    "/",
)
CALLERS = ("Bearer canary-good", "Bearer canary-bad", "Basic Y2FuYXJ5OmNhbmFyeQ==", "canary", "")


def leaks(text: str) -> list[str]:
    return [one for one in SECRETS if one in text]


def settings(directory: Path, kube: str, backend: str) -> Settings:
    for name, text in (("rules", GOROUTINES), ("kubeconfig", KUBECONFIG % kube), ("token", "canary-file")):
        (directory / name).write_text(text)
    where = str(directory / "kubeconfig")
    return Settings(
        config=(str(directory / "rules"),),
        serving=Serving("127.0.0.1", 0, cert_dir=str(directory)),
        prometheus=Prometheus(
            backend,
            headers=(("X-Api-Key", "canary-header"),),
            token_file=str(directory / "token"),
        ),
        kubernetes=Kubernetes(where, where, where),
    )


@contextlib.asynccontextmanager
async def running(chosen: Settings) -> AsyncIterator[App]:
    process = App(chosen)
    try:
        await process.start()
        yield process
    finally:
        await process.stop()


async def answers(process: App) -> str:
    """All that is sent to these callers for these paths, with its headers."""
    shown = []
    async with aiohttp.ClientSession(f"https://127.0.0.1:{process.port}") as session:
        for path in PATHS:
            for caller in CALLERS:
                headers = {"Authorization": caller} if caller else {}
                async with session.get(path, headers=headers, ssl=False) as reply:
                    shown.append(f"{path} {reply.status} {reply.headers} {await reply.text()}")
    return "\n".join(shown)


@pytest.mark.parametrize(
    "trouble", ["none", "backend refuses", "backend away", "cluster refuses", "reviews fail"]
)
@pytest.mark.parametrize("login", ["canary-user:canary-password@", ""], ids=["user", "token"])
async def test_f47_a_process_shows_none_of_its_secrets(trouble, login, tmp_path, caplog, capfd):
    """Of the backend's address, headers and token, of the kubeconfig, and of the callers; whatever goes wrong."""
    caplog.set_level(logging.DEBUG, "adapter")
    async with GuardedPrometheus() as fake, FakeKube() as kube:
        fake.series('go_goroutines{job="my-go-app"}', [SERIES])
        fake.otherwise(lambda _: vector(sample({"namespace": "default", "pod": "web-1"}, 1)))
        kube.put("pods", "web-1", "default")
        kube.publish_authorities(Pki().data())
        kube.reviews.know("canary-good", "jane")
        kube.reviews.allow("jane")
        kube.tokens = {"other"} if trouble == "cluster refuses" else {"canary-kube"}
        fake.taken = {"other"} if trouble == "backend refuses" else set()
        if trouble == "reviews fail":
            kube.fail("post", "tokenreviews.authentication.k8s.io", status=500)
        where = "127.0.0.1:1" if trouble == "backend away" else fake.url.removeprefix("http://")
        chosen = settings(tmp_path, kube.url, f"http://{login}{where}/?token=canary-query")
        async with running(chosen) as process:
            await until(
                lambda: process._guard.knows_the_front_proxy() is None or trouble == "cluster refuses"
            )
            await until(lambda: process._relist.catalog.names() or trouble != "none")
            sent = await answers(process)
            repeated = f"{chosen!r} {process._settings!r} {vars(process)!r}"
    seen = {"none": '"value":"1"', "cluster refuses": "Unauthorized", "reviews fail": "AccessUnknown"}
    assert seen.get(trouble, "StillStarting") in sent
    lines = "\n".join(f"{vars(one)} {JsonLines().format(one)}" for one in caplog.records)
    assert len(caplog.records) >= 2
    for what in (sent, lines, repeated, *capfd.readouterr()):
        assert leaks(what) == []


async def test_f47_no_repr_holds_a_secret(tmp_path):
    """Whoever logs one of these by mistake logs nothing."""
    (tmp_path / "kubeconfig").write_text(KUBECONFIG % "http://127.0.0.1:1")
    source = Source(kubeconfig=str(tmp_path / "kubeconfig"), environment={"A_TOKEN": "canary"})
    async with opened(source) as loaded:
        held = (
            source,
            loaded,
            kubeconfig.choose([source.kubeconfig]),
            Credential("canary", "canary", "canary"),
            Request("POST", "/", {}, "", {"spec": {"token": "canary"}}),
            Prometheus("http://canary:canary@host", (("Authorization", "canary"),)),
            Transport((("Authorization", "canary"),)),
            Login(authorization="Bearer canary"),
            Contents(b"canary", b"canary", b"canary", b"canary"),
            address.parse("http://canary:canary@host/?token=canary"),
        )
    assert {type(one).__name__: leaks(f"{one!r} {one!s}") for one in held} == {
        type(one).__name__: [] for one in held
    }


@pytest.mark.parametrize(
    "url",
    [
        "ftp://canary:canary@host",
        "canary",
        "http://canary:canary@",
        "http://canary:canary@[host",
        "//canary@h",
        "http://h:canary",
    ],
)
def test_f47_a_refused_address_is_not_repeated(url, tmp_path):
    """The reason is told; its chain of causes has none of it either."""
    with pytest.raises(app.Refused) as caught:
        build.backend(settings(tmp_path, "", url), FakeClock())
    told: list[BaseException | None] = [caught.value]
    while (error := told[-1]) is not None:
        told.append(error.__cause__ or (None if error.__suppress_context__ else error.__context__))
    assert leaks(" ".join(map(repr, told))) == []


@pytest.mark.parametrize("flag", ["--prometheus-header==canary", "--prometheus-header=X-Key=can\nary canary"])
def test_f47_a_refused_header_is_not_repeated(flag):
    """It may be a password."""
    with pytest.raises(click.UsageError) as caught:
        serve.serve.make_context("serve", ["--config=x", "--prometheus-url=http://x", flag])
    assert leaks(caught.value.format_message()) == []


@pytest.mark.parametrize(
    "text",
    [
        "users: [{name: here, user: {token: canary}}",
        "canary",
        KUBECONFIG.replace("current-context: here", "current-context: none"),
        KUBECONFIG.replace("token: canary-kube", "client-key-data: canary"),
        KUBECONFIG.replace("token: canary-kube", "exec: {command: none, env: [{name: A, value: canary}]}"),
    ],
    ids=["yaml", "text", "context", "key", "exec"],
)
async def test_f47_a_broken_kubeconfig_is_not_quoted(text, tmp_path):
    """A YAML parser's complaint holds the line that it stumbled over."""
    (tmp_path / "kubeconfig").write_text(text)
    with pytest.raises(CredentialsUnusable) as caught:
        async with opened(Source(kubeconfig=str(tmp_path / "kubeconfig"), environment={})):
            pass
    assert leaks(f"{caught.value} {caught.value!r}") == []
