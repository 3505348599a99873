"""`hpa-adapter serve`: flags become settings; what cannot be is refused with advice."""

import pytest
from click.testing import CliRunner

from adapter.cli import main, serve
from adapter.settings import Settings

NEEDED = ["--config=@go-runtime", "--prometheus-url=http://127.0.0.1:1"]


def settings_of(*words: str) -> Settings:
    """The settings that these flags mean."""
    with serve.serve.make_context("serve", [*NEEDED, *words]) as context:
        return serve.settings(context.params)


def run(*words: str) -> tuple[int, str]:
    """(exit code, output) of flags with which nothing is started."""
    result = CliRunner().invoke(main.cli, ["serve", *NEEDED, *words])
    return result.exit_code, result.output


def test_defaults_are_safe():
    """Port 6443, a relist every 30 s over 10 min, a life of 5 s; callers are asked who they are, so on all addresses."""
    settings = settings_of()
    assert (settings.serving.address, settings.serving.port) == ("0.0.0.0", 6443)
    assert not settings.serving.insecure_allow_everyone
    assert (settings.relisting.interval_seconds, settings.relisting.max_age_seconds) == (30, 600)
    assert settings.snapshots.ttl_seconds == 5
    assert not settings.compat


def test_file_in_place_of_a_cluster_is_served_on_loopback():
    """Nobody is asked who he is then."""
    assert settings_of("--objects=x").serving.address == "127.0.0.1"


def test_compat_brings_upstreams_defaults():
    """10 min of relist interval; a max-age of 0 is the interval."""
    plain = settings_of("--compat=prometheus-adapter")
    assert plain.compat
    assert (plain.relisting.interval_seconds, plain.relisting.max_age_seconds) == (600, 600)
    given = settings_of("--compat=prometheus-adapter", "--metrics-relist-interval=1m", "--metrics-max-age=0s")
    assert given.relisting.max_age_seconds == 60


def test_flags_reach_their_settings():
    """Each flag ends where it is read."""
    settings = settings_of(
        "--prometheus-header=X-Scope-OrgID=a=b",
        "--lister-kubeconfig=k",
        "--disable-strict-x509",
        "--secure-port=0",
        "--v=6",
    )
    assert settings.prometheus.headers == (("X-Scope-OrgID", "a=b"),)
    assert (settings.kubernetes.lister_kubeconfig, settings.kubernetes.disable_strict_x509) == ("k", True)
    assert (settings.serving.port, settings.verbosity) == (0, 6)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--cache-ttl=5"], "missing unit"),
        (["--cache-ttl=-5s"], "negative"),
        (["--metrics-relist-interval=0s"], "less than 1s"),
        (["--compat=other"], "prometheus-adapter"),
        (["--prometheus-header==secret"], "names no header"),
        (["--prometheus-header", "X=secret\nY"], "line breaks"),
        (["--prometheus-verb=get"], "GET"),
        (["--no-such-flag=secret"], "No such option '--no-such-flag'"),
        (["--prometheus-tokenfile=secret"], "'--prometheus-token-file'"),
        (["--secure-port"], "flag needs an argument: --secure-port"),
        (["--requestheader-group-headers=x,"], "an entry is empty"),
        (["--authorization-always-allow-paths=/a*b"], "only trailing *"),
    ],
)
def test_wrong_flag_is_a_usage_error_with_a_hint(words, hint):
    """Exit code 2, and the text names what is wrong; a value that may be a password is not shown."""
    code, output = run(*words)
    assert code == 2
    assert hint in output
    assert "secret" not in output


def test_backends_address_may_be_left_out_in_compat_mode_only():
    """Upstream asks https://localhost then; without the switch that would fit nobody."""
    assert "Missing option '--prometheus-url'" in CliRunner().invoke(main.cli, ["serve", NEEDED[0]]).output
    with serve.serve.make_context("serve", [NEEDED[0], "--compat=prometheus-adapter"]) as context:
        assert serve.settings(context.params).prometheus.secret_url == "https://localhost"


def test_method_of_asking_is_fixed_in_compat_mode_only():
    """Else long queries need POST, and a 405 leads to GET."""
    assert settings_of("--prometheus-verb=GET").prometheus.verb == ""
    assert settings_of("--prometheus-verb=GET", "--compat=prometheus-adapter").prometheus.verb == "GET"
    assert settings_of("--compat=prometheus-adapter").prometheus.verb == ""


def test_two_ways_of_proving_oneself_to_the_backend_are_refused():
    """As upstream has it; --prometheus-ca-file overrules both."""
    both = ["--prometheus-auth-incluster", "--prometheus-auth-config=k"]
    code, output = run(*both)
    assert code == serve.EXIT_REFUSED
    assert "exclude each other" in output
    assert settings_of(*both, "--prometheus-ca-file=ca").prometheus.ca_file == "ca"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--insecure-allow-everyone"], "--objects"),
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
