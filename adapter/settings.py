"""Every setting of the process: one frozen dataclass per concern; each field with its default, unit and reason."""

from dataclasses import dataclass, field
from typing import ClassVar

HOUR = 3600.0

OWN_HEADERS = ("Host", "Content-Type", "Content-Length", "Transfer-Encoding", "Accept-Encoding")
"""Headers that a configured one may not replace: the transport sets them, as upstream's does."""


@dataclass(frozen=True, slots=True)
class SelfManaged:
    """Own CA and serving certificate, in a Secret that all replicas share."""

    service: str
    """The Service to which the API server sends requests: the certificate is for its name."""

    namespace: str
    """Of the Service and the Secret."""

    secret: str


@dataclass(frozen=True, slots=True)
class Serving:
    """The HTTPS door."""

    address: str = "0.0.0.0"  # noqa: S104 - callers are asked who they are
    """Where the aggregator and kubelet reach the pod: everywhere. With `objects_file` only loopback will do."""

    port: int = 6443
    """Not 443: an unprivileged user may open it."""

    insecure_allow_everyone: bool = False
    """Whether callers are answered without being asked who they are: needed with `objects_file`, refused without."""

    cert_file: str = ""
    """Serving certificate, PEM. Empty: a self-signed pair in `cert_dir`."""

    key_file: str = ""

    cert_dir: str = "apiserver.local.config/certificates"
    """Where the self-signed pair lies (upstream's default); made there once and used again."""

    self_managed: "SelfManaged | None" = None
    """Where the pair lies that the replicas make for themselves; None: it comes from files."""

    tls_min_version: str = "VersionTLS12"
    """By Go's name. Names of older versions mean 1.2, the oldest that is served; VersionTLS13 is the other choice."""

    tls_cipher_suites: tuple[str, ...] = ()
    """By their IANA names; of these only what is forward secret and authenticated is offered. Empty: all of that."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may cost."""

    request_seconds: float = 10.0
    """A whole request. The autoscaler has five workers, and a slow answer holds one of them."""

    max_line_bytes: int = 256 * 1024
    """A request line: Go's server takes 1 MiB, aiohttp's default of 8 KiB breaks on long selectors."""

    max_field_bytes: int = 64 * 1024
    """One header field."""

    max_headers: int = 1024
    """A user has one X-Remote-Group line per group; aiohttp's default of 128 refuses people with many groups."""

    keepalive_seconds: float = 120.0
    """Above the 90 s after which the aggregator closes idle connections, so that it never meets a closed one."""

    handshake_seconds: float = 5.0
    """A TLS handshake takes milliseconds, on a poor line a second or two. asyncio's own limit is 60 s."""

    head_seconds: float = 10.0
    """From the first byte of a request, or from the handshake, to the end of its headers. aiohttp has no limit."""

    max_head_bytes: int = 1024 * 1024
    """Request line and headers together, as in Go's server: the limits above alone would allow 64 MiB."""

    connections: int = 1000
    """At once, handshakes included. An API server keeps at most 25 idle ones, and has parallel requests beside."""

    slow_reader_seconds: float = 10.0
    """How long what was written may wait without the caller taking any of it: as long as a whole request."""

    buffer_bytes: int = 256 * 1024
    """What may wait in one connection for a caller to take it; larger answers are written in pieces."""

    in_flight: int = 200
    """Value requests at once; discovery and probes are not counted."""

    drain_seconds: float = 5.0
    """How long new requests are served after SIGTERM: until every node has heard that this replica is not ready."""

    shutdown_seconds: float = 20.0
    """How long requests in flight may take after that. Both fit into the 30 s that a pod is given."""


@dataclass(frozen=True, slots=True)
class Prometheus:
    """The metrics backend."""

    secret_url: str = field(default="", repr=False)
    """Base address; may hold a user and password, so it is never logged."""

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Further headers of every request, for example a tenant's id, or a login."""

    verb: str = ""
    """GET or POST: this method and no other. Empty: POST, for long queries, and GET where that is refused."""

    ca_file: str = ""
    """Roots for the backend's certificate, PEM. Given, it alone decides whom we trust, and neither of the two ways
    of `auth_in_cluster` and `auth_kubeconfig` is taken. Empty: the system's roots."""

    client_cert_file: str = ""
    """Certificate that we show, PEM, with its key in `client_key_file`. One without the other is not used."""

    client_key_file: str = ""

    token_file: str = ""
    """Bearer token, read again when it changes. A configured Authorization header, or a user in the address, wins."""

    auth_in_cluster: bool = False
    """Whether to show the service account's token, and to trust the cluster's CA and no other."""

    auth_kubeconfig: str = ""
    """kubeconfig whose credentials and TLS settings are used; where its server is does not matter."""

    query_seconds: ClassVar[float] = 5.0
    """One instant query, waiting and retry included: half of what a whole request may take. No flag: a rule that
    needs longer would hold an autoscaler's worker in each round."""

    listing_seconds: ClassVar[float] = 30.0
    """One listing of series. A backend that needs longer for it would not answer queries either."""


@dataclass(frozen=True, slots=True)
class Relisting:
    """How the catalog is kept."""

    interval_seconds: float = 30.0
    """Between the end of one relist and the start of the next. New metrics appear within this time."""

    max_age_seconds: float = 600.0
    """How far back series are looked for: a metric that pauses for less than this stays on offer."""

    keep_seconds: float = HOUR
    """How long a rule's last good list is kept while its listing fails."""


@dataclass(frozen=True, slots=True)
class Snapshots:
    """How long a backend's answer may be used again."""

    ttl_seconds: float = 5.0
    """A third of the autoscaler's round: all autoscalers of one round share it. 0: no cache, no stale answers."""


@dataclass(frozen=True, slots=True)
class Access:
    """Who asks, and may he. Each default is that of Go's API servers."""

    client_ca_file: str = ""
    """CAs of ordinary users, PEM. Empty: those that the cluster's ConfigMap names."""

    proxy_ca_file: str = ""
    """CAs of front proxies, PEM. Empty: all about front proxies is in the ConfigMap, and the next five mean nothing."""

    proxy_names: tuple[str, ...] = ()
    """Common names of front proxies; none: any that those CAs have signed."""

    user_headers: tuple[str, ...] = ("x-remote-user",)
    group_headers: tuple[str, ...] = ("x-remote-group",)
    uid_headers: tuple[str, ...] = ()
    extra_prefixes: tuple[str, ...] = ("x-remote-extra-",)

    skip_lookup: bool = False
    """Whether the ConfigMap is not read: then only the two files say whom to believe."""

    tolerate_lookup_failure: bool = False
    """Whether the process may start though the ConfigMap cannot be read. Only compat mode asks: else it always may,
    and tries again."""

    token_ttl_seconds: float = 10.0
    """How long the API server's word on a token holds: for so long a revoked one is good."""

    allowed_ttl_seconds: float = 10.0
    """How long its word that somebody may holds: for so long a withdrawn right is used."""

    denied_ttl_seconds: float = 10.0
    """How long its word that somebody may not holds: so long a new right may take."""

    open_paths: tuple[str, ...] = ("/healthz", "/readyz", "/livez")
    """Paths that need no right; a * at the end stands for any rest. The probes are open in any case: kubelet shows no
    identity."""


@dataclass(frozen=True, slots=True)
class Kubernetes:
    """Where objects and kinds come from."""

    lister_kubeconfig: str = ""
    """kubeconfig for lists, watches and discovery; empty: in the cluster, by the pod's service account."""

    authentication_kubeconfig: str = ""
    """kubeconfig for token reviews and the front proxy's CA; empty: that of the lister."""

    authorization_kubeconfig: str = ""
    """kubeconfig for access reviews; empty: that of the lister."""

    disable_strict_x509: bool = False
    """Python 3.13 refuses cluster CAs without an Authority Key Identifier, as old installers made them."""

    objects_file: str = ""
    """A Kubernetes List in YAML that stands for the cluster (docs/design.md D12)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All of it. `compat` is --compat=prometheus-adapter (docs/design.md D3)."""

    config: tuple[str, ...] = ()
    """Rule files, directories, or @NAME of a shipped set."""

    compat: bool = False
    verbosity: int = 0
    serving: Serving = field(default_factory=Serving)
    limits: Limits = field(default_factory=Limits)
    prometheus: Prometheus = field(default_factory=Prometheus)
    relisting: Relisting = field(default_factory=Relisting)
    snapshots: Snapshots = field(default_factory=Snapshots)
    access: Access = field(default_factory=Access)
    kubernetes: Kubernetes = field(default_factory=Kubernetes)
