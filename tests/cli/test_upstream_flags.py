"""Every flag of prometheus-adapter is taken: it sets something, or there is a reason why it does nothing."""

import dataclasses
import json
import logging
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from adapter.cli import main, options, serve, upstream_flags
from adapter.settings import Settings
from adapter.telemetry import logs

NEEDED = ["--config=@go-runtime", "--prometheus-url=http://127.0.0.1:1"]
COMPAT = "--compat=prometheus-adapter"
DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "flags.md").read_text(encoding="utf-8")

SET = {
    "prometheus-url": ("http://x", "http://x"),
    "prometheus-verb": ("GET", "GET"),
    "prometheus-header": ("A=b", (("A", "b"),)),
    "config": ("rules.yaml", ("@go-runtime", "rules.yaml")),
    "metrics-relist-interval": ("1m", 60.0),
    "metrics-max-age": ("1h", 3600.0),
    "secure-port": ("8443", 8443),
    "bind-address": ("::1", "::1"),
    "tls-min-version": ("VersionTLS13", "VersionTLS13"),
    "tls-cipher-suites": ("TLS_A,TLS_B", ("TLS_A", "TLS_B")),
    "requestheader-allowed-names": ("a,b", ("a", "b")),
    "requestheader-username-headers": ("X-A,X-B", ("X-A", "X-B")),
    "requestheader-group-headers": ("X-A", ("X-A",)),
    "requestheader-uid-headers": ("X-A", ("X-A",)),
    "requestheader-extra-headers-prefix": ("X-A-", ("X-A-",)),
    "authentication-token-webhook-cache-ttl": ("1s", 1.0),
    "authorization-webhook-cache-authorized-ttl": ("2s", 2.0),
    "authorization-webhook-cache-unauthorized-ttl": ("3s", 3.0),
    "authorization-always-allow-paths": ("/healthz,metrics,/a/*", ("/healthz", "/metrics", "/a/*")),
    "v": ("4", 4),
}
"""A value of a flag, and what it becomes; files are the same on both sides, switches become True."""

BAD = {
    "integer": "x",
    "number": "x",
    "boolean": "maybe",
    "duration": "5",
    "address": "localhost",
    "entries": '"',
    "pair_of_files": "one.crt",
    "levels": "x",
}
"""A value that is none of its kind, by the function that reads the kind."""

FLAGS = upstream_flags.FLAGS


def made(*words: str) -> tuple[Settings, click.Context]:
    with serve.serve.make_context("serve", [*NEEDED, *words]) as context:
        return serve.settings(context.params), context


def at(settings: Settings, path: str) -> Any:
    found: Any = settings
    for name in path.split("."):
        assert name in {one.name for one in dataclasses.fields(found)}
        found = getattr(found, name)
    return found


@pytest.mark.parametrize("name", [name for name, flag in FLAGS.items() if flag.setting])
def test_flag_with_an_effect_reaches_its_setting(name):
    """With another value than the default, so that it is seen."""
    flag = FLAGS[name]
    text, value = SET.get(name, ("true", True) if flag.kind.switch else ("a-file", "a-file"))
    before, _ = made(COMPAT)
    after, _ = made(COMPAT, f"--{name}={text}")
    assert at(before, flag.setting) != value
    assert at(after, flag.setting) == value


@pytest.mark.parametrize("name", [name for name, flag in FLAGS.items() if flag.topic])
def test_flag_without_effect_is_taken_and_has_a_reason(name):
    """It changes nothing, and is one of those that the log names."""
    good = {"pair_of_files": "a,b", "levels": "a=1", "duration": "1s", "boolean": "true"}
    text = good.get(FLAGS[name].kind.read.__name__, "1")
    settings, context = made(f"--{name}", text) if not FLAGS[name].kind.switch else made(f"--{name}")
    assert settings == made()[0]
    assert upstream_flags.without_effect([one.name for one in options.parsed(context).flags]) == {
        FLAGS[name].topic: name
    }
    assert upstream_flags.WHY[FLAGS[name].topic]


@pytest.mark.parametrize("name", [name for name, flag in FLAGS.items() if flag.kind.read.__name__ in BAD])
def test_value_of_another_type_is_a_usage_error(name):
    """Exit code 2 and the flag's name, with an effect or without, as in pflag."""
    text = BAD[FLAGS[name].kind.read.__name__]
    result = CliRunner().invoke(main.cli, ["serve", *NEEDED, f"--{name}={text}"])
    assert result.exit_code == 2
    assert f'--{name}" flag: ' in result.output


def test_table_has_what_the_specification_names():
    """A sample of each of its parts, klog's old names with underscores among them."""
    for word in (
        "audit-webhook-batch-throttle-qps",
        "tls-sni-cert-key",
        "enable-priority-and-fairness",
        "log-dir",
    ):
        assert word in FLAGS
    made("--log_dir=/tmp", "--logtostderr=true", "--alsologtostderr", "--stderrthreshold", "ERROR")
    assert len(FLAGS) > 90


def test_every_flag_stands_in_the_documentation():
    """Those with an effect and those without; and every option of ours."""
    ours = [one.opts[0] for one in serve.serve.params if isinstance(one, click.Option)]
    missing = [
        one for one in [*(f"--{name}" for name in FLAGS), *ours] if f"{one}`" not in _expanded(DOCUMENT)
    ]
    assert not missing


def _expanded(text: str) -> str:
    """The audit flags come as `--audit-log-` and what follows, so that the table stays readable."""
    tails = [name.removeprefix("audit-log-") for name in FLAGS if name.startswith("audit-log-")]
    named = [one for one in tails if f"`-{one}`" in text]
    both = [name for one in named for name in (f"audit-log-{one}", f"audit-webhook-{one}")]
    return text + " ".join(f"`--{one}`" for one in both)


def test_flags_without_effect_are_named_once_in_one_line(caplog):
    """By topic, each flag once however often it was given; never with its value."""
    caplog.set_level(logging.INFO)
    lines = _told(
        caplog,
        "--profiling=false",
        "--audit-log-path=secret",
        "--audit-log-path=secret",
        "--vmodule=a=1",
        "-v=4",
    )
    [line] = [one for one in lines if one["event"] == "flags_without_effect"]
    assert (line["profiling"], line["audit"], line["logging"]) == ("profiling", "audit-log-path", "vmodule")
    assert "secret" not in str(lines)


def test_flags_that_others_overrule_are_named_with_the_reason(caplog):
    """--prometheus-ca-file, half a pair, a method without --compat."""
    lines = _told(
        caplog,
        "--prometheus-ca-file=ca",
        "--prometheus-auth-incluster",
        "--prometheus-client-tls-key-file=key",
        "--prometheus-verb=GET",
    )
    ignored = {one["flag"] for one in lines if one["event"] == "flag_ignored"}
    assert ignored == {"--prometheus-auth-incluster", "--prometheus-client-tls-key-file", "--prometheus-verb"}


def test_words_that_are_no_flags_are_counted(caplog):
    """The usual mistake is a value after a switch: the line says so, and does not repeat the word."""
    [line] = _told(caplog, "--authentication-skip-lookup", "secret")
    assert (line["event"], line["count"], line["after"]) == (
        "words_ignored",
        1,
        "--authentication-skip-lookup",
    )
    assert "secret" not in str(line)


def test_nothing_is_said_where_all_has_its_effect(caplog):
    """No line for the usual flags."""
    assert _told(caplog, "--v=4", "--prometheus-token-file=t") == []


def _told(caplog: pytest.LogCaptureFixture, *words: str) -> list[dict[str, Any]]:
    """The lines that `serve` writes of its arguments."""
    _, context = made(*words)
    caplog.clear()
    serve.tell(context)
    return [json.loads(logs.JsonLines().format(one)) for one in caplog.records]
