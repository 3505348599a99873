"""`hpa-adapter serve`: flags become settings; what cannot be is refused with advice."""

import pytest
from click.testing import CliRunner

from adapter import app
from adapter.cli import main, serve
from adapter.settings import Settings

NEEDED = ["--config=@go-runtime", "--prometheus-url=http://127.0.0.1:1"]


@pytest.fixture
def served(monkeypatch) -> list[Settings]:
    """The settings with which the server would have been started."""
    started: list[Settings] = []

    async def note(settings: Settings) -> None:
        started.append(settings)

    monkeypatch.setattr(app, "serve", note)
    return started


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(main.cli, ["serve", *NEEDED, *words])
    return result.exit_code, result.output


def test_defaults_are_safe(served):
    """Loopback, port 6443, a relist every 30 s over 10 min, a life of 5 s."""
    assert run() == (0, "")
    settings = served[0]
    assert (settings.serving.address, settings.serving.port) == ("127.0.0.1", 6443)
    assert not settings.serving.insecure_allow_everyone
    assert (settings.relisting.interval_seconds, settings.relisting.max_age_seconds) == (30, 600)
    assert settings.snapshots.ttl_seconds == 5
    assert not settings.compat


def test_compat_brings_upstreams_defaults(served):
    """10 min of relist interval; a max-age of 0 is the interval."""
    run("--compat=prometheus-adapter")
    run("--compat=prometheus-adapter", "--metrics-relist-interval=1m", "--metrics-max-age=0s")
    assert [one.relisting.max_age_seconds for one in served] == [600, 60]
    assert served[0].relisting.interval_seconds == 600
    assert served[0].compat


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--cache-ttl=5"], "missing unit"),
        (["--cache-ttl=-5s"], "negative"),
        (["--compat=other"], "prometheus-adapter"),
        (["--prometheus-header==x"], "names no header"),
        (["--no-such-flag"], "No such option"),
    ],
)
def test_wrong_flag_is_a_usage_error_with_a_hint(served, words, hint):
    """Exit code 2, and the text names what is wrong."""
    code, output = run(*words)
    assert code == 2
    assert hint in output
    assert served == []


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--bind-address=0.0.0.0"], "--insecure-allow-everyone"),
        (["--bind-address=0.0.0.0", "--objects=x", "--insecure-allow-everyone"], "127.0.0.1"),
        (["--objects=x"], "--insecure-allow-everyone"),
        (["--prometheus-url=ftp://user:secret@host"], "http://"),
    ],
)
def test_what_would_be_unsafe_is_refused_before_anything_starts(words, hint):
    """Exit code 1 (255 in compat mode) and one line with the way out; no secret in it."""
    code, output = run(*words)
    assert code == serve.EXIT_REFUSED
    assert hint in output
    assert "secret" not in output
    code, _ = run(*words, "--compat=prometheus-adapter")
    assert code == serve.EXIT_REFUSED_UPSTREAM


def test_broken_rule_file_ends_the_process_in_compat_mode_only(tmp_path):
    """Upstream ends with 255; the finding has its position."""
    (tmp_path / "rules.yaml").write_text("rules:\n- seriesQuery: m\n  metricQuery: m\n")
    result = CliRunner().invoke(
        main.cli,
        [
            "serve",
            f"--config={tmp_path / 'rules.yaml'}",
            NEEDED[1],
            "--compat=prometheus-adapter",
        ],
    )
    assert result.exit_code == serve.EXIT_REFUSED_UPSTREAM
    assert "rules.yaml:3:3" in result.output
