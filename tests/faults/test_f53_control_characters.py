"""F53: control characters and values of a megabyte in foreign text, on their way to a log or a terminal.

To see them fail: format the log without json.dumps, or without `_cut`; let `check` print what `judge` says as it is; take
`escaped` out of `Position.__str__`, or `shown` out of a finding's message.
"""

import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from click.testing import CliRunner

from adapter.cli import main
from adapter.prometheus.journal import Journal
from adapter.promql.vector import Result
from adapter.rulebook.findings import Position
from adapter.telemetry import logs
from tests.support.clock import FakeClock
from tests.support.kit import PODS, goroutines

CONTROLS = [
    *map(chr, range(32)),
    *map(chr, range(127, 160)),
    "\u2028",
    "\u2029",
    "\u202e",
    "\u2066",
    "\ufeff",
    "\ud800",
]
MEGABYTE = "x" * 1_000_000
ESCAPE = "\x1b]0;owned\x07\x1b[2J"
LONGEST_LINE = 2_000


def written(
    message: str = "event", *, exc: BaseException | None = None, name: str = "adapter.x", **facts
) -> str:
    exc_info = (type(exc), exc, exc.__traceback__) if exc else None
    record = logging.LogRecord(name, logging.INFO, "", 1, message, (), exc_info)
    vars(record).update(facts)
    return logs.JsonLines().format(record)


def fields(text: str) -> dict[str, dict]:
    """This text in each field that a line can have."""
    return {
        "event": {"message": text},
        "room": {"name": text},
        "text": {"text": text},
        "list": {"several": [text, text]},
        "object": {"thing": ValueError(text)},
        "trace": {"exc": ValueError(text)},
    }


def safe(output: str) -> bool:
    """Whether a terminal would only print it."""
    return all(line.replace("\t", "").isprintable() for line in output.split("\n"))


# -- the log


@pytest.mark.parametrize("character", CONTROLS, ids=ascii)
@pytest.mark.parametrize("field", fields(""))
def test_f53_a_line_of_the_log_is_one_line_of_printable_ascii(field, character):
    """Whatever stands in whichever field, and it is there to be read: escaped."""
    line = written(**fields(f"a{character}b")[field])
    assert line.isascii()
    assert line.isprintable()
    assert "a" in json.dumps(json.loads(line))


@pytest.mark.parametrize("field", fields(""))
def test_f53_a_megabyte_is_cut(field):
    """To 256 characters; of a trace both ends stay."""
    line = json.loads(written(**fields(f"begin {MEGABYTE} end")[field]))
    longest = max(len(value) for value in line.values() if isinstance(value, str))
    assert longest <= (logs.MAX_TRACE_CHARACTERS if field == "trace" else logs.MAX_VALUE_CHARACTERS) + 3
    if field == "trace":
        assert line["trace"].endswith(" end")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_f53_every_line_is_json(number):
    """JSON has no NaN: a reader would lose the line."""

    def refuse(word):
        raise AssertionError(word)

    json.loads(written(seconds=number), parse_constant=refuse)


def test_f53_the_words_of_a_backend_are_escaped_and_cut(caplog):
    """A warning of the backend holds what the owner of a series wrote."""
    journal = Journal(FakeClock(), "http://host")
    journal.answered(Result("vector", (), (f"{ESCAPE}{MEGABYTE}",), 0))
    line = logs.JsonLines().format(caplog.records[-1])
    assert line.isprintable()
    assert len(line) < LONGEST_LINE


# -- the answers


@pytest.mark.parametrize("place", ["name", "metric", "labelSelector", "metricLabelSelector", "timeout"])
async def test_f53_a_status_repeats_little_and_no_controls(place):
    """kubectl prints the message to a terminal; JSON's own escapes are undone by then."""
    kit = await goroutines()
    for text in ("%1B%5B2J", "x" * 100_000):
        path = {"name": f"{PODS}/{text}/goroutines", "metric": f"{PODS}/*/{text}"}
        reply = await kit.ask(path.get(place, f"{PODS}/*/goroutines?{place}={text}"))
        assert reply.status >= 400
        assert safe(reply.body["message"])
        assert len(reply.body["message"]) < 3_000


# -- the terminal


RULE = {
    "seriesQuery": "up{%s}",
    "seriesFilters": [{"is": "%s"}],
    "resources": {"overrides": {"%s": {"resource": "%s", "group": "%s"}}, "template": "%s"},
    "name": {"matches": "%s", "as": "%s"},
    "metricsQuery": "%s",
    "onNaN": "%s",
    "maxStale": "%s",
    "%s": "x",
}


def filled(value, at: list[int], text: str):
    """The rule with `text` in the place whose turn it is, and something harmless in the others."""
    if isinstance(value, dict):
        return {filled(key, at, text): filled(one, at, text) for key, one in value.items()}
    if isinstance(value, list):
        return [filled(one, at, text) for one in value]
    if "%s" not in value:
        return value
    at[0] -= 1
    return value % (text if at[0] == -1 else "x")


def check(*words: str) -> str:
    return CliRunner().invoke(main.cli, ["check", *words]).output


@pytest.mark.parametrize("text", [ESCAPE, "\u202e\u2028", "x" * 300_000], ids=["escape", "bidi", "long"])
@pytest.mark.parametrize("place", range(12))
def test_f53_check_prints_no_control_characters(place, text, tmp_path):
    """Of a rule file that somebody sent: in each place of a rule."""
    rules = tmp_path / "rules.yaml"
    rules.write_text(json.dumps({"rules": [filled(RULE, [place], text)]}))
    output = check(str(rules))
    assert "usable rules" in output
    assert safe(output)
    assert max(map(len, output.splitlines())) < LONGEST_LINE


def test_f53_nor_of_a_file_name(tmp_path):
    """In a directory of rule files."""
    (tmp_path / f"{ESCAPE}.yaml").write_text("rules: 1")
    output = check(str(tmp_path))
    assert "wrong" in output or "expected" in output
    assert safe(output)


def test_f53_nor_does_a_position_anywhere_else():
    """Other commands, and what the server says when it refuses to start, name the file too."""
    assert str(Position(f"{ESCAPE}.yaml", 1, 2)).isprintable()


@pytest.mark.parametrize("status", [200, 400])
def test_f53_nor_of_what_a_backend_says(status, tmp_path):
    """Names of series and labels, and the words of its refusal."""
    series = [{"__name__": f"{ESCAPE}{number}", f"{ESCAPE}{MEGABYTE}": "x"} for number in range(3)]
    body = json.dumps({"status": "success", "data": series}, ensure_ascii=False).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    rules = tmp_path / "rules.yaml"
    texts = (
        {"seriesQuery": "up", "metricsQuery": "up", "resources": {"overrides": one}} for one in OVERRIDES
    )
    rules.write_text(json.dumps({"rules": list(texts)}))
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        output = check(str(rules), f"--prometheus-url=http://127.0.0.1:{server.server_port}")
        server.shutdown()
    assert output.count("rules[") == 2
    assert safe(output)
    assert max(map(len, output.splitlines())) < LONGEST_LINE


OVERRIDES = ({"pod": {"resource": "pod"}}, {"x": {"resource": "pod"}})
