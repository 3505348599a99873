"""`hpa-adapter check`: every mistake under its word, and which series each rule finds."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import pytest
from click.testing import CliRunner

from adapter.cli import main
from tests.support.kit import GOROUTINES


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(main.cli, ["check", *words])
    return result.exit_code, result.output


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.yaml"
    path.write_text(GOROUTINES)
    return path


@pytest.fixture
def backend():
    """A Prometheus that lists what `answer` holds (or sends `body`), and keeps what it was asked."""

    class Handler(BaseHTTPRequestHandler):
        answer: ClassVar[list[dict[str, str]]] = []
        body: bytes | None = None
        status = 200
        asked: ClassVar[list[str]] = []
        headers_seen: ClassVar[list[dict[str, str]]] = []

        def do_GET(self) -> None:
            self.asked.append(self.path)
            self.headers_seen.append(dict(self.headers))
            body = self.body or json.dumps({"status": "success", "data": self.answer}).encode()
            self.send_response(self.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    Handler.url = f"http://127.0.0.1:{server.server_port}"
    yield Handler
    server.shutdown()
    server.server_close()


def test_good_file_has_nothing_to_say(rules):
    """Exit code 0 and a count."""
    assert run(str(rules)) == (0, "1 usable rules, 0 errors, 0 warnings\n")


def test_shipped_rules_are_good():
    """@go-runtime loads without a finding."""
    code, output = run("@go-runtime")
    assert (code, output) == (0, "2 usable rules, 0 errors, 0 warnings\n")


def test_mistake_is_drawn_under_its_word(rules):
    """Position, the word, what was meant, and a caret line; exit code 1."""
    rules.write_text(GOROUTINES.replace("metricsQuery", "metricQuery"))
    code, output = run(str(rules))
    assert code == 1
    assert "rules.yaml:10:3: unknown key `metricQuery`" in output
    assert "metricsQuery" in output
    assert "\n  ^^^^^^^^^^^\n" in output


def test_rule_is_shown_with_the_series_that_it_finds(rules, backend):
    """With a backend: the count of series and the names on offer."""
    backend.answer = [{"__name__": "go_goroutines", "namespace": "a", "pod": f"p{n}"} for n in range(3)]
    code, output = run(str(rules), f"--prometheus-url={backend.url}")
    assert code == 0
    assert "3 series, offered as goroutines" in output
    assert "match%5B%5D=go_goroutines" in backend.asked[0]


def test_rule_that_finds_nothing_fails_the_check(rules, backend):
    """No series, a label that is on none, a backend that refuses: each is a line and exit code 1."""
    code, output = run(str(rules), f"--prometheus-url={backend.url}")
    assert (code, "no series matches go_goroutines" in output) == (1, True)
    backend.answer = [{"__name__": "go_goroutines", "namespace": "a", "pod_name": "p"}]
    code, output = run(str(rules), f"--prometheus-url={backend.url}")
    assert (code, "label pod occurs on none of 1 series; seen: namespace, pod_name" in output) == (1, True)
    backend.answer = [{"__name__": "other", "namespace": "a", "pod": "p"}]
    code, output = run(str(rules), f"--prometheus-url={backend.url}")
    assert (code, "keep none of them" in output) == (1, True)
    backend.status = 500
    assert run(str(rules), f"--prometheus-url={backend.url}")[0] == 1
    backend.status = 200


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"1",
        b"null",
        b"{}",
        b'{"status":"success"}',
        b'{"status":"success","data":null}',
        b'{"status":"success","data":{}}',
        b'{"status":"success","data":"x"}',
        b'{"status":"success","data":["x"]}',
        b"<html>Please log in</html>",
        b"\xff\xfe",
        b"[" * 100_000,
    ],
    ids=lambda body: repr(body[:32]),
)
def test_answer_that_is_no_listing_is_a_line(rules, backend, body):
    """A login page or another API: one line, exit code 1, and no trace."""
    backend.body = body
    result = CliRunner().invoke(main.cli, ["check", str(rules), f"--prometheus-url={backend.url}"])
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == 1
    assert "rules[0]: what the backend answers is no listing of series" in result.output


def test_headers_travel_with_the_question(rules, backend):
    """A tenant's id or a token, as `serve` takes them."""
    run(
        str(rules),
        f"--prometheus-url={backend.url}",
        "--prometheus-header=X-Scope-OrgID=team-a",
        "--prometheus-header=Authorization=Bearer a=b",
    )
    [headers] = backend.headers_seen
    assert (headers["X-Scope-OrgID"], headers["Authorization"]) == ("team-a", "Bearer a=b")


def test_header_without_a_name_is_a_wrong_flag(rules):
    """Exit code 2, and how to write it."""
    code, output = run(str(rules), "--prometheus-header==x")
    assert (code, "write it as name=value" in output) == (2, True)


def test_backend_that_is_not_there_is_told_without_its_address(rules):
    """The text says that it cannot be asked, and shows no credentials."""
    code, output = run(str(rules), "--prometheus-url=http://user:secret@127.0.0.1:1")
    assert code == 1
    assert "cannot be asked" in output
    assert "secret" not in output
