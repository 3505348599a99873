"""`hpa-adapter serve`: the server. Flags that prometheus-adapter has too bear its names and mean the same."""

import asyncio
import sys
from collections.abc import Mapping
from typing import Any

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
    type=options.GoDuration(at_least=1.0),
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
    "--disable-strict-x509",
    is_flag=True,
    help="Take a cluster CA without an Authority Key Identifier, which Python 3.13 refuses.",
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
def serve(**flags: Any) -> None:
    """Serve custom.metrics.k8s.io (v1beta2, v1beta1) from the rules of --config."""
    chosen = settings(flags)
    logs.start(chosen.verbosity)
    try:
        asyncio.run(app.serve(chosen))
    except app.Refused as error:
        click.echo(f"hpa-adapter: {error}", err=True)
        sys.exit(EXIT_REFUSED_UPSTREAM if chosen.compat else EXIT_REFUSED)


def settings(flags: Mapping[str, Any]) -> Settings:
    """The settings that these flags mean; keys are the names of the options above."""
    return Settings(
        config=flags["config"],
        compat=flags["compat"] == COMPAT,
        verbosity=flags["verbosity"],
        serving=_serving(flags),
        prometheus=Prometheus(secret_url=flags["prometheus_url"], headers=flags["prometheus_header"]),
        relisting=_relisting(flags, compat=flags["compat"] == COMPAT),
        snapshots=Snapshots(ttl_seconds=flags["cache_ttl"]),
        kubernetes=_kubernetes(flags),
    )


def _serving(flags: Mapping[str, Any]) -> Serving:
    return Serving(
        address=flags["bind_address"],
        port=flags["secure_port"],
        insecure_allow_everyone=flags["insecure_allow_everyone"],
        cert_file=flags["tls_cert_file"],
        key_file=flags["tls_private_key_file"],
        cert_dir=flags["cert_dir"],
    )


def _kubernetes(flags: Mapping[str, Any]) -> Kubernetes:
    return Kubernetes(
        lister_kubeconfig=flags["lister_kubeconfig"],
        authentication_kubeconfig=flags["authentication_kubeconfig"],
        authorization_kubeconfig=flags["authorization_kubeconfig"],
        disable_strict_x509=flags["disable_strict_x509"],
        objects_file=flags["objects_file"],
    )


def _relisting(flags: Mapping[str, Any], *, compat: bool) -> Relisting:
    """The two durations; upstream's defaults in compat mode, where a max-age of 0 means the interval."""
    interval, max_age = flags["metrics_relist_interval"], flags["metrics_max_age"]
    default = COMPAT_RELIST_SECONDS if compat else DEFAULT.relisting.interval_seconds
    chosen = default if interval is None else interval
    fallback = chosen if compat else DEFAULT.relisting.max_age_seconds
    return Relisting(interval_seconds=chosen, max_age_seconds=max_age or fallback)
