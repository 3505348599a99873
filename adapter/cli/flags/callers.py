"""Who asks, and may he."""

from collections.abc import Mapping
from typing import Any, Final

import click

from adapter.cli import options
from adapter.settings import Access

DEFAULT: Final = Access()

_TTL: Final = options.GoDuration()
_HEADERS: Final = options.Entries(blank="a header has a name")

OPTIONS: Final = (
    click.option(
        "--client-ca-file",
        default="",
        metavar="FILE",
        help="CAs of ordinary users, PEM, in place of the cluster's own.",
    ),
    click.option(
        "--requestheader-client-ca-file",
        default="",
        metavar="FILE",
        help="CAs of front proxies, PEM, in place of the cluster's own; the next five belong to it.",
    ),
    click.option(
        "--requestheader-allowed-names",
        type=options.Entries(),
        multiple=True,
        help="Common names of front proxies.  [default: any]",
    ),
    click.option(
        "--requestheader-username-headers",
        type=_HEADERS,
        multiple=True,
        default=DEFAULT.user_headers,
        show_default=True,
        help="Headers with the user's name.",
    ),
    click.option(
        "--requestheader-group-headers",
        type=_HEADERS,
        multiple=True,
        default=DEFAULT.group_headers,
        show_default=True,
        help="Headers with his groups.",
    ),
    click.option("--requestheader-uid-headers", type=_HEADERS, multiple=True, help="Headers with his uid."),
    click.option(
        "--requestheader-extra-headers-prefix",
        type=_HEADERS,
        multiple=True,
        default=DEFAULT.extra_prefixes,
        show_default=True,
        help="How headers begin that have more about him.",
    ),
    click.option(
        "--authentication-skip-lookup",
        is_flag=True,
        help="Do not read the cluster's ConfigMap: believe only those whom the two CA files vouch for.",
    ),
    click.option(
        "--authentication-tolerate-lookup-failure",
        is_flag=True,
        help="With --compat: start although that ConfigMap cannot be read. Else it is always so.",
    ),
    click.option(
        "--authentication-token-webhook-cache-ttl",
        type=_TTL,
        default="10s",
        show_default=True,
        help="How long a token review holds.",
    ),
    click.option(
        "--authorization-webhook-cache-authorized-ttl",
        type=_TTL,
        default="10s",
        show_default=True,
        help="How long an access review holds that allows.",
    ),
    click.option(
        "--authorization-webhook-cache-unauthorized-ttl",
        type=_TTL,
        default="10s",
        show_default=True,
        help="How long one holds that denies.",
    ),
    click.option(
        "--authorization-always-allow-paths",
        type=options.Paths(),
        multiple=True,
        default=DEFAULT.open_paths,
        show_default=True,
        help="Paths that need no right; the probes are open in any case.",
    ),
)


def access(flags: Mapping[str, Any]) -> Access:
    """Whom to believe, and for how long."""
    return Access(
        client_ca_file=flags["client_ca_file"],
        proxy_ca_file=flags["requestheader_client_ca_file"],
        proxy_names=options.joined(flags["requestheader_allowed_names"]),
        user_headers=options.joined(flags["requestheader_username_headers"]),
        group_headers=options.joined(flags["requestheader_group_headers"]),
        uid_headers=options.joined(flags["requestheader_uid_headers"]),
        extra_prefixes=options.joined(flags["requestheader_extra_headers_prefix"]),
        skip_lookup=flags["authentication_skip_lookup"],
        tolerate_lookup_failure=flags["authentication_tolerate_lookup_failure"],
        token_ttl_seconds=flags["authentication_token_webhook_cache_ttl"],
        allowed_ttl_seconds=flags["authorization_webhook_cache_authorized_ttl"],
        denied_ttl_seconds=flags["authorization_webhook_cache_unauthorized_ttl"],
        open_paths=options.joined(flags["authorization_always_allow_paths"]),
    )
