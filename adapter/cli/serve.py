"""`hpa-adapter serve`: the server. Flags that prometheus-adapter has too bear its names and mean the same."""

import asyncio
import sys

import click

from adapter import app
from adapter.cli import options
from adapter.settings import (
    Kubernetes,
    Prometheus,
    Relisting,
    Serving,
    Settings,
    Snapshots,
)
from adapter.telemetry import logs

DEFAULT = Settings()
COMPAT = "prometheus-adapter"
COMPAT_RELIST_SECONDS = 600.0
"""prometheus-adapter's own default of --metrics-relist-interval, and (0s = the same) of --metrics-max-age."""

EXIT_REFUSED = 1
EXIT_REFUSED_UPSTREAM = 255
"""What klog's Fatal gives; scripts around prometheus-adapter may look for it."""


@click.command(short_help="Run the server.")
@click.option(
    "--config",
    multiple=True,
    required=True,
    metavar="PATH|@NAME",
    help="Rule file, directory of rule files, or @NAME of a shipped set (@go-runtime). May be repeated.",
)
@click.option(
    "--prometheus-url",
    required=True,
    metavar="URL",
    help="Base address of the Prometheus-compatible backend.",
)
@click.option(
    "--prometheus-header",
    type=options.Header(),
    multiple=True,
    help="Header of every request to the backend. May be repeated.",
)
@click.option(
    "--metrics-relist-interval",
    type=options.GoDuration(),
    default=None,
    help="Pause between two listings of series.  [default: 30s]",
)
@click.option(
    "--metrics-max-age",
    type=options.GoDuration(),
    default=None,
    help="How far back series are looked for.  [default: 10m]",
)
@click.option(
    "--cache-ttl",
    type=options.GoDuration(),
    default="5s",
    show_default=True,
    help="How long an answer of the backend is used again; 0s: not at all, and no stale answers.",
)
@click.option(
    "--secure-port",
    type=click.IntRange(0, 65535),
    default=DEFAULT.serving.port,
    show_default=True,
    help="HTTPS port; 0 takes a free one.",
)
@click.option(
    "--bind-address",
    default=DEFAULT.serving.address,
    show_default=True,
    metavar="IP",
    help="Address to listen on.",
)
@click.option(
    "--insecure-allow-everyone",
    is_flag=True,
    help="Answer callers without asking who they are. Needed for any address but loopback.",
)
@click.option("--tls-cert-file", default="", metavar="FILE", help="Serving certificate, PEM.")
@click.option("--tls-private-key-file", default="", metavar="FILE", help="Its key, PEM.")
@click.option(
    "--cert-dir",
    default=DEFAULT.serving.cert_dir,
    show_default=True,
    metavar="DIR",
    help="Where a self-signed pair lies, or is made.",
)
@click.option(
    "--lister-kubeconfig",
    default="",
    metavar="FILE",
    help="kubeconfig for lists, watches and discovery; without it the pod's service account.",
)
@click.option(
    "--authentication-kubeconfig",
    default="",
    metavar="FILE",
    help="kubeconfig for token reviews (no effect yet).",
)
@click.option(
    "--authorization-kubeconfig",
    default="",
    metavar="FILE",
    help="kubeconfig for access reviews (no effect yet).",
)
@click.option(
    "--objects",
    "objects_file",
    default="",
    metavar="FILE",
    help="A Kubernetes List in YAML in place of a cluster; only on loopback.",
)
@click.option(
    "--compat",
    type=click.Choice([COMPAT]),
    default=None,
    help="Answer exactly as prometheus-adapter does, in every status and value.",
)
@click.option(
    "--v",
    "verbosity",
    type=int,
    default=0,
    show_default=True,
    help="Log level as klog counts: 4 and more shows debug lines.",
)
def serve(**flags: object) -> None:
    """Serve custom.metrics.k8s.io (v1beta2, v1beta1) from the rules of --config."""
    settings = _settings(**flags)  # type: ignore[arg-type]  # click made them
    logs.start(settings.verbosity)
    try:
        asyncio.run(app.serve(settings))
    except app.Refused as error:
        click.echo(f"hpa-adapter: {error}", err=True)
        sys.exit(EXIT_REFUSED_UPSTREAM if settings.compat else EXIT_REFUSED)


def _settings(
    *,
    config: tuple[str, ...],
    prometheus_url: str,
    prometheus_header: tuple[tuple[str, str], ...],
    metrics_relist_interval: float | None,
    metrics_max_age: float | None,
    cache_ttl: float,
    secure_port: int,
    bind_address: str,
    insecure_allow_everyone: bool,
    tls_cert_file: str,
    tls_private_key_file: str,
    cert_dir: str,
    lister_kubeconfig: str,
    authentication_kubeconfig: str,
    authorization_kubeconfig: str,
    objects_file: str,
    compat: str | None,
    verbosity: int,
) -> Settings:
    return Settings(
        config=config,
        compat=compat == COMPAT,
        verbosity=verbosity,
        serving=Serving(
            address=bind_address,
            port=secure_port,
            insecure_allow_everyone=insecure_allow_everyone,
            cert_file=tls_cert_file,
            key_file=tls_private_key_file,
            cert_dir=cert_dir,
        ),
        prometheus=Prometheus(secret_url=prometheus_url, headers=prometheus_header),
        relisting=_relisting(metrics_relist_interval, metrics_max_age, compat=compat == COMPAT),
        snapshots=Snapshots(ttl_seconds=cache_ttl),
        kubernetes=Kubernetes(
            lister_kubeconfig=lister_kubeconfig,
            authentication_kubeconfig=authentication_kubeconfig,
            authorization_kubeconfig=authorization_kubeconfig,
            objects_file=objects_file,
        ),
    )


def _relisting(interval: float | None, max_age: float | None, *, compat: bool) -> Relisting:
    """The two durations; upstream's defaults in compat mode, where a max-age of 0 means the interval."""
    default = COMPAT_RELIST_SECONDS if compat else DEFAULT.relisting.interval_seconds
    chosen = default if interval is None else interval
    fallback = chosen if compat else DEFAULT.relisting.max_age_seconds
    return Relisting(interval_seconds=chosen, max_age_seconds=max_age or fallback)
