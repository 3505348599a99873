"""Where values come from, and how often they are asked for."""

from collections.abc import Mapping
from typing import Any, Final

import click

from adapter import app
from adapter.cli import options
from adapter.settings import OWN_HEADERS, Prometheus, Relisting, Snapshots

DEFAULT_RELISTING: Final = Relisting()

COMPAT_URL: Final = "https://localhost"
COMPAT_RELIST_SECONDS: Final = 600.0
"""prometheus-adapter's own default of --metrics-relist-interval, and (0s = the same) of --metrics-max-age."""

TWO_LOGINS: Final = (
    "--prometheus-auth-incluster and --prometheus-auth-config exclude each other: give one of them"
)

OPTIONS: Final = (
    click.option(
        "--prometheus-url",
        metavar="URL",
        help="Base address of the Prometheus-compatible backend. Required, but for --compat.",
    ),
    click.option(
        "--prometheus-header",
        type=options.Header(),
        multiple=True,
        help="Header of every request to the backend. May be repeated.",
    ),
    click.option(
        "--prometheus-verb",
        type=click.Choice(["GET", "POST"]),
        default=None,
        help="The only method to ask the backend with; for --compat. Else POST, and GET where that is refused.",
    ),
    click.option(
        "--prometheus-ca-file", default="", metavar="FILE", help="Roots for the backend's certificate, PEM."
    ),
    click.option(
        "--prometheus-client-tls-cert-file",
        default="",
        metavar="FILE",
        help="Certificate that the backend is shown, PEM; needs its key.",
    ),
    click.option("--prometheus-client-tls-key-file", default="", metavar="FILE", help="Its key, PEM."),
    click.option(
        "--prometheus-token-file",
        default="",
        metavar="FILE",
        help="Bearer token for the backend; read again when it changes.",
    ),
    click.option(
        "--prometheus-auth-incluster",
        is_flag=True,
        help="Show the backend the service account's token, and trust the cluster's CA only.",
    ),
    click.option(
        "--prometheus-auth-config",
        default="",
        metavar="FILE",
        help="kubeconfig whose credentials and TLS settings are for the backend.",
    ),
    click.option(
        "--metrics-relist-interval",
        type=options.GoDuration(at_least=1.0),
        default=None,
        help="Pause between two listings of series.  [default: 30s]",
    ),
    click.option(
        "--metrics-max-age",
        type=options.GoDuration(),
        default=None,
        help="How far back series are looked for.  [default: 10m]",
    ),
    click.option(
        "--cache-ttl",
        type=options.GoDuration(),
        default="5s",
        show_default=True,
        help="How long an answer of the backend is used again; 0s: not at all, and no stale answers.",
    ),
)


def prometheus(flags: Mapping[str, Any], *, compat: bool) -> Prometheus:
    """How the backend is reached. Raises click.MissingParameter, app.Refused."""
    if flags["prometheus_url"] is None and not compat:
        raise click.MissingParameter(param_hint="'--prometheus-url'", param_type="option")
    if flags["prometheus_auth_incluster"] and flags["prometheus_auth_config"] and not _ca(flags):
        raise app.Refused(TWO_LOGINS)
    return Prometheus(
        secret_url=COMPAT_URL if flags["prometheus_url"] is None else flags["prometheus_url"],
        headers=flags["prometheus_header"],
        verb=(flags["prometheus_verb"] or "") if compat else "",
        ca_file=flags["prometheus_ca_file"],
        client_cert_file=flags["prometheus_client_tls_cert_file"],
        client_key_file=flags["prometheus_client_tls_key_file"],
        token_file=flags["prometheus_token_file"],
        auth_in_cluster=flags["prometheus_auth_incluster"],
        auth_kubeconfig=flags["prometheus_auth_config"],
    )


def relisting(flags: Mapping[str, Any], *, compat: bool) -> Relisting:
    """The two durations; upstream's defaults in compat mode, where a max-age of 0 means the interval."""
    interval, max_age = flags["metrics_relist_interval"], flags["metrics_max_age"]
    default = COMPAT_RELIST_SECONDS if compat else DEFAULT_RELISTING.interval_seconds
    chosen = default if interval is None else interval
    fallback = chosen if compat else DEFAULT_RELISTING.max_age_seconds
    return Relisting(interval_seconds=chosen, max_age_seconds=max_age or fallback)


def snapshots(flags: Mapping[str, Any]) -> Snapshots:
    """How long answers are used again."""
    return Snapshots(ttl_seconds=flags["cache_ttl"])


def idle(flags: Mapping[str, Any], *, compat: bool) -> dict[str, str]:
    """Flags that are given and do nothing in this company, each with the reason."""
    found = {}
    own = [name for name, _ in flags["prometheus_header"] if name.title() in OWN_HEADERS]
    if own:
        found["prometheus-header"] = f"{', '.join(own)}: the transport sets it, and sends no other"
    if flags["prometheus_verb"] and not compat:
        found["prometheus-verb"] = "only with --compat: else POST, and GET where that is refused"
    if _ca(flags):
        ways = {name: flags[name] for name in ("prometheus_auth_incluster", "prometheus_auth_config")}
        found |= {_dashed(name): "--prometheus-ca-file overrules it" for name, value in ways.items() if value}
    return found | _half_pair(flags)


def _half_pair(flags: Mapping[str, Any]) -> dict[str, str]:
    names = ("prometheus_client_tls_cert_file", "prometheus_client_tls_key_file")
    given = [_dashed(name) for name in names if flags[name]]
    if len(given) == 1:
        return {given[0]: "certificate and key belong together"}
    overruled = (flags["prometheus_auth_incluster"] or flags["prometheus_auth_config"]) and not _ca(flags)
    return dict.fromkeys(given, "the credentials of --prometheus-auth-... are shown") if overruled else {}


def _ca(flags: Mapping[str, Any]) -> bool:
    return bool(flags["prometheus_ca_file"])


def _dashed(name: str) -> str:
    return name.replace("_", "-")
