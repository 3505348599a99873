"""The HTTPS door."""

from collections.abc import Mapping
from typing import Any, Final

import click

from adapter.cli import options
from adapter.settings import Limits, SelfManaged, Serving

DEFAULT: Final = Serving()
DEFAULT_LIMITS: Final = Limits()
LOOPBACK: Final = "127.0.0.1"

OPTIONS: Final = (
    click.option(
        "--secure-port",
        type=click.IntRange(0, 65535),
        default=DEFAULT.port,
        show_default=True,
        help="HTTPS port; 0 takes a free one.",
    ),
    click.option(
        "--bind-address",
        default=None,
        metavar="IP",
        help=f"Address to listen on.  [default: {DEFAULT.address}; with --objects {LOOPBACK}]",
    ),
    click.option(
        "--insecure-allow-everyone",
        is_flag=True,
        help="Answer callers without asking who they are: needed with --objects, refused without.",
    ),
    click.option("--tls-cert-file", default="", metavar="FILE", help="Serving certificate, PEM."),
    click.option("--tls-private-key-file", default="", metavar="FILE", help="Its key, PEM."),
    click.option(
        "--cert-dir",
        default=DEFAULT.cert_dir,
        show_default=True,
        metavar="DIR",
        help="Where a self-signed pair lies, or is made.",
    ),
    click.option(
        "--self-managed-tls",
        is_flag=True,
        help="Make CA and serving certificate ourselves, and keep the registrations' caBundle.",
    ),
    click.option("--service", default="", metavar="NAME", help="With it: our Service."),
    click.option("--namespace", default="", metavar="NAME", help="With it: where Service and Secret are."),
    click.option("--tls-secret", default="", metavar="NAME", help="With it: the Secret of all replicas."),
    click.option(
        "--tls-min-version",
        default=DEFAULT.tls_min_version,
        show_default=True,
        metavar="VERSION",
        help="VersionTLS12 or VersionTLS13; older names mean 1.2.",
    ),
    click.option(
        "--tls-cipher-suites",
        type=options.Entries(),
        multiple=True,
        help="Of the suites of TLS 1.2 that are offered only these.",
    ),
    click.option(
        "--drain-seconds",
        type=click.FloatRange(0, 600),
        default=DEFAULT_LIMITS.drain_seconds,
        show_default=True,
        metavar="SECONDS",
        help="How long new requests are still served after SIGTERM, while the replica says that it is not ready.",
    ),
)


def serving(flags: Mapping[str, Any]) -> Serving:
    """Where and with which certificate we listen."""
    return Serving(
        address=flags["bind_address"] or (LOOPBACK if flags["objects_file"] else DEFAULT.address),
        port=flags["secure_port"],
        insecure_allow_everyone=flags["insecure_allow_everyone"],
        cert_file=flags["tls_cert_file"],
        key_file=flags["tls_private_key_file"],
        cert_dir=flags["cert_dir"],
        self_managed=_self_managed(flags),
        tls_min_version=flags["tls_min_version"],
        tls_cipher_suites=options.joined(flags["tls_cipher_suites"]),
    )


def _self_managed(flags: Mapping[str, Any]) -> SelfManaged | None:
    words = {name: flags[name] for name in ("service", "namespace", "tls_secret")}
    if not flags["self_managed_tls"]:
        if any(words.values()):
            raise click.UsageError("--service, --namespace and --tls-secret go with --self-managed-tls")
        return None
    if flags["tls_cert_file"] or flags["tls_private_key_file"]:
        raise click.UsageError(
            "--self-managed-tls makes the pair itself: leave --tls-cert-file and its key out"
        )
    if not all(words.values()):
        raise click.UsageError("--self-managed-tls needs --service, --namespace and --tls-secret")
    return SelfManaged(words["service"], words["namespace"], words["tls_secret"])


def limits(flags: Mapping[str, Any]) -> Limits:
    """What requests may cost."""
    return Limits(drain_seconds=flags["drain_seconds"])
