"""F54: somebody who writes rules, or answers as the backend, makes us ask another address.

To see them fail: allow redirects in `PrometheusClient._send`, or set `trust_env` there; take the scheme's check out of
`address.parse`; empty `OWN_HEADERS`; give `check`'s backend a plain session.
"""

import contextlib
import http.server
import json
import threading

import pytest
from click.testing import CliRunner

from adapter import errors
from adapter.cli import main, serve
from adapter.cli.flags import backend
from adapter.prometheus import address
from adapter.prometheus.client import PrometheusClient
from adapter.prometheus.transport import Transport
from adapter.rulebook import parse
from tests.support.clock import FakeClock
from tests.support.fake_prometheus import FakePrometheus
from tests.support.fake_prometheus_answers import status
from tests.support.kit import GOROUTINES

TRANSPORTS = ("Host", "Content-Type", "Content-Length", "Transfer-Encoding", "Accept-Encoding")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
REDIRECTS = (301, 302, 303, 307, 308)
ELSEWHERE = (
    "url",
    "prometheusUrl",
    "address",
    "host",
    "file",
    "path",
    "headers",
    "proxy",
    "secretRef",
    "include",
)


@contextlib.asynccontextmanager
async def client(url: str, **changes):
    found = PrometheusClient(url, FakeClock(), Transport(**changes))
    await found.start()
    try:
        yield found
    finally:
        await found.close()


@contextlib.contextmanager
def listening(code: int = 200, location: str = ""):
    """(address, headers of the requests) of a server that lists nothing, or sends callers elsewhere."""
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(dict(self.headers))
            body = json.dumps({"status": "success", "data": []}).encode()
            self.send_response(code)
            self.send_header("Location", location)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", seen
        server.shutdown()


@pytest.fixture
def check(tmp_path):
    """The output of `check` of a good rule, with this backend."""
    (tmp_path / "rules.yaml").write_text(GOROUTINES)

    def run(url: str, *words: str) -> str:
        words = ("check", str(tmp_path / "rules.yaml"), f"--prometheus-url={url}", *words)
        return CliRunner().invoke(main.cli, words).output

    return run


# -- rules


@pytest.mark.parametrize("key", ELSEWHERE)
@pytest.mark.parametrize("place", ["top", "rule", "resources", "name"])
def test_f54_a_rule_has_no_place_for_an_address(place, key):
    """Neither of a server nor of a file: such a key is an error, and a rule that has it is left out."""
    after = {
        "top": "rules:\n",
        "rule": "- seriesQuery: 'go_goroutines{job=\"my-go-app\"}'\n",
        "resources": "  resources:\n",
        "name": "  name:\n",
    }
    indent = {"top": "", "rule": "  "}.get(place, "    ")
    line = f"{indent}{key}: http://169.254.169.254/\n"
    start = after[place]
    text = line + GOROUTINES if place == "top" else GOROUTINES.replace(start, start + line)
    book = parse.parse(text, "rules.yaml", compat=False)
    assert [(one.word, one.severity) for one in book.findings] == [("unknown-key", "error")]
    assert len(book.rules) == (1 if place == "top" else 0)


# -- the backend's address


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://h",
        "gopher://h",
        "unix:///s",
        "data:,x",
        "//h",
        "h:9090",
        "/p",
        "",
        "http:",
    ],
)
def test_f54_only_http_and_https(url):
    """No file is read, and nothing is guessed."""
    with pytest.raises(ValueError, match="must begin with http:// or https://"):
        address.parse(url)


@pytest.mark.parametrize("code", REDIRECTS)
async def test_f54_a_redirect_of_the_backend_is_not_followed(code):
    """It is no answer; whoever it names is not asked, by POST or GET, for values or for series."""
    async with FakePrometheus() as fake, FakePrometheus() as other:
        fake.otherwise(status(code, Location=f"{other.url}/api/v1/query"))
        fake.series("up", status(code, Location=f"{other.url}/api/v1/series"))
        for method in ("POST", "GET"):
            async with client(fake.url, method=method) as asking:
                with pytest.raises(errors.BackendBadAnswer, match=str(code)):
                    await asking.instant("up", deadline=1005.0)
                with pytest.raises(errors.BackendBadAnswer, match=str(code)):
                    await asking.series("up", start=0, deadline=1005.0)
        assert len(fake.requests) == 4
        assert other.requests == []


@pytest.mark.parametrize("code", REDIRECTS)
def test_f54_nor_by_check(code, check):
    """Our headers are for the backend that was named."""
    with listening() as (other, asked), listening(code, other) as (url, first):
        output = check(url, "--prometheus-header=X-Scope-OrgID=secret")
    assert "rules[0]: the backend" in output
    assert len(first) == 1
    assert asked == []


async def test_f54_proxies_of_the_environment_see_nothing(monkeypatch, check):
    """Of the server's requests and of `check`'s."""
    with listening() as (url, direct), listening() as (proxy, seen):
        for name in PROXIES:
            monkeypatch.setenv(name, proxy)
            monkeypatch.setenv(name.lower(), proxy)
        monkeypatch.setenv("NO_PROXY", "")
        monkeypatch.setenv("no_proxy", "")
        async with FakePrometheus() as fake, client(fake.url) as asking:
            await asking.instant("up", deadline=1005.0)
            assert len(fake.requests) == 1
        assert "no series" in check(url)
    assert len(direct) == 1
    assert seen == []


# -- headers


@pytest.mark.parametrize("name", [*TRANSPORTS, *map(str.lower, TRANSPORTS)])
async def test_f54_a_configured_header_replaces_none_of_the_transports(name, check):
    """A proxy in between would send us elsewhere by Host, and the others break the request; others go along."""
    headers = ((name, "1"), ("X-Scope-OrgID", "team"))
    async with FakePrometheus() as fake:
        async with client(fake.url, headers=headers) as asking:
            await asking.instant("up", deadline=1005.0)
        (request,) = fake.requests
        assert request.headers["Host"] == fake.url.removeprefix("http://")
        assert request.headers.get(name) != "1"
        assert request.headers["X-Scope-OrgID"] == "team"
    with listening() as (url, seen):
        check(url, *(f"--prometheus-header={key}={value}" for key, value in headers))
    assert seen[0]["Host"] == url.removeprefix("http://")
    assert {key.lower(): value for key, value in seen[0].items()}.get(name.lower()) != "1"


def test_f54_a_header_that_is_not_sent_is_named():
    """Who configured it would else wait for its effect."""
    words = [
        "--config=x",
        "--prometheus-url=http://x",
        "--prometheus-header=hOST=other",
        "--prometheus-header=X=y",
    ]
    with serve.serve.make_context("serve", words) as context:
        told = backend.idle(context.params, compat=False)
    assert told == {"prometheus-header": "hOST: the transport sets it, and sends no other"}
