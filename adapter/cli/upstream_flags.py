"""Every flag that prometheus-adapter takes: its type, and what it does here or why it does nothing.

The flags are those of its 0.12 and of builds with newer API server libraries, and those of older klogs, which many
manifests still carry.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from adapter.cli import go_values
from adapter.cli.go_values import Kind


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag. Either it has a setting, or there is a reason."""

    kind: Kind
    setting: str = ""
    """What it sets: a field of Settings."""

    topic: str = ""
    """A key of WHY: it is accepted without effect."""


WHY: Final = {
    "admission": "this server admits nothing: it is only read",
    "audit": "no audit events are written; the API server in front writes its own of each request",
    "cluster": "objects are watched, and kinds are read with the catalog: there is nothing to pace",
    "http2": "HTTP/1.1 is served, which the aggregator speaks as well",
    "limits": "requests in flight have a limit of their own, and probes and discovery stand outside of it",
    "logging": "the log is one JSON line per event on stderr; --v is its level",
    "profiling": "there are no profiling endpoints",
    "sockets": "a replica is stopped and started with a port of its own",
    "tls": "there is one serving pair, and OpenSSL's order of curves",
}
"""Why a flag has no effect."""

SHORTHANDS: Final = {"v": "v"}
"""Flags that may be written with one dash and one letter."""

_SETTINGS: Final = {
    # Prometheus
    "prometheus-url": (go_values.TEXT, "prometheus.secret_url"),
    "prometheus-verb": (go_values.TEXT, "prometheus.verb"),
    "prometheus-header": (go_values.TEXTS, "prometheus.headers"),
    "prometheus-auth-incluster": (go_values.BOOLEAN, "prometheus.auth_in_cluster"),
    "prometheus-auth-config": (go_values.TEXT, "prometheus.auth_kubeconfig"),
    "prometheus-ca-file": (go_values.TEXT, "prometheus.ca_file"),
    "prometheus-client-tls-cert-file": (go_values.TEXT, "prometheus.client_cert_file"),
    "prometheus-client-tls-key-file": (go_values.TEXT, "prometheus.client_key_file"),
    "prometheus-token-file": (go_values.TEXT, "prometheus.token_file"),
    # rules and catalog
    "config": (go_values.TEXTS, "config"),  # repeatable here: see docs/flags.md
    "metrics-relist-interval": (go_values.DURATION, "relisting.interval_seconds"),
    "metrics-max-age": (go_values.DURATION, "relisting.max_age_seconds"),
    # the door
    "secure-port": (go_values.INTEGER, "serving.port"),
    "bind-address": (go_values.ADDRESS, "serving.address"),
    "cert-dir": (go_values.TEXT, "serving.cert_dir"),
    "tls-cert-file": (go_values.TEXT, "serving.cert_file"),
    "tls-private-key-file": (go_values.TEXT, "serving.key_file"),
    "tls-cipher-suites": (go_values.ENTRIES, "serving.tls_cipher_suites"),
    "tls-min-version": (go_values.TEXT, "serving.tls_min_version"),
    # the cluster
    "lister-kubeconfig": (go_values.TEXT, "kubernetes.lister_kubeconfig"),
    "authentication-kubeconfig": (go_values.TEXT, "kubernetes.authentication_kubeconfig"),
    "authorization-kubeconfig": (go_values.TEXT, "kubernetes.authorization_kubeconfig"),
    # who asks
    "authentication-skip-lookup": (go_values.BOOLEAN, "access.skip_lookup"),
    "authentication-tolerate-lookup-failure": (go_values.BOOLEAN, "access.tolerate_lookup_failure"),
    "authentication-token-webhook-cache-ttl": (go_values.DURATION, "access.token_ttl_seconds"),
    "client-ca-file": (go_values.TEXT, "access.client_ca_file"),
    "requestheader-client-ca-file": (go_values.TEXT, "access.proxy_ca_file"),
    "requestheader-allowed-names": (go_values.ENTRIES, "access.proxy_names"),
    "requestheader-username-headers": (go_values.ENTRIES, "access.user_headers"),
    "requestheader-group-headers": (go_values.ENTRIES, "access.group_headers"),
    "requestheader-uid-headers": (go_values.ENTRIES, "access.uid_headers"),
    "requestheader-extra-headers-prefix": (go_values.ENTRIES, "access.extra_prefixes"),
    "authorization-always-allow-paths": (go_values.ENTRIES, "access.open_paths"),
    "authorization-webhook-cache-authorized-ttl": (go_values.DURATION, "access.allowed_ttl_seconds"),
    "authorization-webhook-cache-unauthorized-ttl": (go_values.DURATION, "access.denied_ttl_seconds"),
    # the log
    "v": (go_values.INTEGER, "verbosity"),
}

_BATCH: Final = {
    "mode": go_values.TEXT,
    "version": go_values.TEXT,
    "batch-buffer-size": go_values.INTEGER,
    "batch-max-size": go_values.INTEGER,
    "batch-max-wait": go_values.DURATION,
    "batch-throttle-enable": go_values.BOOLEAN,
    "batch-throttle-qps": go_values.NUMBER,
    "batch-throttle-burst": go_values.INTEGER,
    "truncate-enabled": go_values.BOOLEAN,
    "truncate-max-batch-size": go_values.INTEGER,
    "truncate-max-event-size": go_values.INTEGER,
}
"""What both audit backends have."""

_WITHOUT: Final[Mapping[str, Mapping[str, Kind]]] = {
    "admission": {
        "admission-control-config-file": go_values.TEXT,
        "disable-admission-plugins": go_values.ENTRIES,
        "enable-admission-plugins": go_values.ENTRIES,
    },
    "audit": {
        "audit-policy-file": go_values.TEXT,
        "audit-log-path": go_values.TEXT,
        "audit-log-format": go_values.TEXT,
        "audit-log-maxage": go_values.INTEGER,
        "audit-log-maxbackup": go_values.INTEGER,
        "audit-log-maxsize": go_values.INTEGER,
        "audit-log-compress": go_values.BOOLEAN,
        **{f"audit-log-{name}": kind for name, kind in _BATCH.items()},
        "audit-webhook-config-file": go_values.TEXT,
        "audit-webhook-initial-backoff": go_values.DURATION,
        "audit-webhook-batch-initial-backoff": go_values.DURATION,
        **{f"audit-webhook-{name}": kind for name, kind in _BATCH.items()},
    },
    "cluster": {
        "client-burst": go_values.INTEGER,
        "client-qps": go_values.NUMBER,
        "discovery-interval": go_values.DURATION,
    },
    "http2": {
        "disable-http2": go_values.BOOLEAN,
        "disable-http2-serving": go_values.BOOLEAN,
        "http2-max-streams-per-connection": go_values.INTEGER,
    },
    "limits": {"enable-priority-and-fairness": go_values.BOOLEAN},
    "logging": {
        "add-dir-header": go_values.BOOLEAN,
        "alsologtostderr": go_values.BOOLEAN,
        "log-backtrace-at": go_values.TEXT,
        "log-dir": go_values.TEXT,
        "log-file": go_values.TEXT,
        "log-file-max-size": go_values.INTEGER,
        "log-flush-frequency": go_values.DURATION,
        "logtostderr": go_values.BOOLEAN,
        "one-output": go_values.BOOLEAN,
        "skip-headers": go_values.BOOLEAN,
        "skip-log-headers": go_values.BOOLEAN,
        "stderrthreshold": go_values.TEXT,
        "vmodule": go_values.LEVELS,
    },
    "profiling": {
        "contention-profiling": go_values.BOOLEAN,
        "debug-socket-path": go_values.TEXT,
        "profiling": go_values.BOOLEAN,
    },
    "sockets": {
        "permit-address-sharing": go_values.BOOLEAN,
        "permit-port-sharing": go_values.BOOLEAN,
    },
    "tls": {
        "tls-curve-preferences": go_values.ENTRIES,
        "tls-sni-cert-key": go_values.PAIRS_OF_FILES,
    },
}

FLAGS: Final[Mapping[str, Flag]] = {
    **{name: Flag(kind, setting=setting) for name, (kind, setting) in _SETTINGS.items()},
    **{name: Flag(kind, topic=topic) for topic, flags in _WITHOUT.items() for name, kind in flags.items()},
}
"""All of them by name."""


def without_effect(names: list[str]) -> dict[str, str]:
    """Those of `names` that do nothing here, by topic, for one line of the log."""
    found: dict[str, dict[str, None]] = {}
    for name in names:
        flag = FLAGS.get(name)
        if flag is not None and flag.topic:
            found.setdefault(flag.topic, {})[name] = None
    return {topic: ", ".join(flags) for topic, flags in found.items()}
