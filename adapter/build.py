"""From settings to parts: each function makes one, or says why it cannot be. Only `app` calls them."""

import asyncio
import datetime
import ipaddress
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from adapter.access.authority import Authority, pem
from adapter.access.identify import Identify
from adapter.access.permissions import Permissions
from adapter.access.tokens import Tokens
from adapter.flows import self_managed
from adapter.flows.authority import AuthorityFlow
from adapter.flows.self_managed import Places
from adapter.kube.authentication import KubeAuthentication
from adapter.kube.client import KubeClient
from adapter.kube.cluster import Cluster
from adapter.kube.credentials import SERVICE_ACCOUNT, Source
from adapter.kube.given import GivenAuthority
from adapter.kube.lending import Lending
from adapter.kube.registration import KubeRegistrations
from adapter.kube.reviews import KubeReviews
from adapter.kube.secrets import KubeSecret
from adapter.kube.static import ObjectsFileBroken, StaticObjects
from adapter.prometheus import login
from adapter.prometheus.client import PrometheusClient
from adapter.prometheus.credentials import Credentials
from adapter.prometheus.transport import Transport
from adapter.rulebook import files, parse
from adapter.rulebook.findings import Finding
from adapter.rulebook.model import Rulebook
from adapter.server import issuing, suites, tls
from adapter.server.admission import Admission, Everyone, Vouched
from adapter.server.pair import CertificateRefused, Pair, PairFiles
from adapter.server.rotation import Rotation
from adapter.server.suites import SuitesRefused
from adapter.settings import Kubernetes, SelfManaged, Settings
from adapter.telemetry import logs
from adapter.telemetry.clock import Clock
from adapter.telemetry.metrics import Metrics
from adapter.wire import apis, registration

NOT_SERVED: Final = "they are read and checked, but this version serves custom metrics only"

AGE_SECONDS: Final = 3600.0
"""Between two looks at the end of a certificate that is renewed days before."""

log = logs.get("build")


class Refused(Exception):
    """The process cannot start; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Guard:
    """Who decides on requests, and what that takes: the flow that learns whom to believe (None: nobody is asked)."""

    admission: Admission
    authority: AuthorityFlow | None = None
    permissions: Permissions | None = None
    tokens: Tokens | None = None
    clients: tuple[KubeClient, ...] = ()

    def knows_the_front_proxy(self) -> str | None:
        """The readiness probe: until then nobody but the probes is answered."""
        if self.authority is None or self.authority.current.known:
            return None
        return (
            "the CA of the front proxy is not known yet: extension-apiserver-authentication could not be read"
        )

    async def close(self) -> None:
        """End what is under way, then the connections."""
        for part in (self.permissions, self.tokens, *self.clients):
            if part is not None:
                await part.close()


def guard(settings: Settings, contexts: tls.Contexts, clock: Clock, metrics: Metrics) -> Guard:
    """Access control by the API server; with a file in place of a cluster everybody may."""
    if settings.kubernetes.objects_file:
        return Guard(Everyone())
    cluster = settings.kubernetes
    asking = _client(cluster.authentication_kubeconfig or cluster.lister_kubeconfig, cluster, clock)
    judging = _client(cluster.authorization_kubeconfig or cluster.lister_kubeconfig, cluster, clock)
    reviews, access = KubeReviews(asking, judging), settings.access

    def changed(authority: Authority) -> None:
        contexts.update(pem(authority))

    believed = AuthorityFlow(GivenAuthority(KubeAuthentication(asking), access), changed=changed)
    owners = Tokens(
        reviews,
        clock,
        ttl_seconds=access.token_ttl_seconds,
        count=lambda outcome: metrics.decisions.labels("token", outcome).inc(),
    )
    rights = Permissions(
        reviews,
        clock,
        allowed_ttl_seconds=access.allowed_ttl_seconds,
        denied_ttl_seconds=access.denied_ttl_seconds,
        count=lambda outcome: metrics.decisions.labels("access", outcome).inc(),
    )
    identify = Identify(owners, believed, compat=settings.compat)
    return Guard(
        Vouched(identify, rights, clock, open_paths=access.open_paths),
        believed,
        rights,
        owners,
        (asking, judging),
    )


def check(settings: Settings) -> None:
    """Everybody is answered only on one machine, and only if the operator says so (docs/design.md D12)."""
    serving, objects_file = settings.serving, settings.kubernetes.objects_file
    if objects_file and not _is_loopback(serving.address):
        raise Refused("--objects is for one machine: use it with --bind-address=127.0.0.1")
    if objects_file and not serving.insecure_allow_everyone:
        raise Refused(
            "with --objects there is no API server to ask who may, so everybody who reaches the port is answered: "
            "say --insecure-allow-everyone if that is meant"
        )
    if serving.insecure_allow_everyone and not objects_file:
        raise Refused(
            "--insecure-allow-everyone is for --objects only: with a cluster callers are asked who they are"
        )
    relisting = settings.relisting
    if settings.compat and relisting.max_age_seconds < relisting.interval_seconds:
        raise Refused("--metrics-max-age must not be less than --metrics-relist-interval")
    if serving.insecure_allow_everyone:
        log.warning("everyone_is_answered", extra={"address": serving.address})


@dataclass(frozen=True, slots=True)
class Certificate:
    """The TLS contexts of the door, the flows that keep their pair, and why it may not be ready yet."""

    contexts: tls.Contexts
    flows: Mapping[str, Callable[[], Awaitable[None]]]
    ready: Callable[[], str | None] = lambda: None
    clients: tuple[KubeClient, ...] = ()

    async def close(self) -> None:
        """Close what the flow asks."""
        for client in self.clients:
            await client.close()


def certificate(settings: Settings, clock: Clock) -> Certificate:
    """From files, or made by the replicas themselves. Raises Refused."""
    try:
        if settings.serving.self_managed is None:
            made = tls.contexts(settings.serving, datetime.datetime.now(datetime.UTC))
            rotation = Rotation(PairFiles(settings.serving), made, clock)
            return Certificate(made, {"serving-pair": rotation.for_ever})
        return _self_managed(settings, settings.serving.self_managed, clock)
    except (CertificateRefused, SuitesRefused) as error:
        raise Refused(str(error)) from error


def _self_managed(settings: Settings, own: SelfManaged, clock: Clock) -> Certificate:
    """Until the replicas' pair is read the port is open with a provisional one, for the probes."""
    issuer = issuing.Issuer(issuing.dns_names(own.service, own.namespace))
    first = issuer.plan(None, [], datetime.datetime.now(datetime.UTC)).after
    contexts = tls.Contexts(
        Pair(first.certificate, first.key, "a provisional pair"), suites.of(settings.serving)
    )
    kube = _client(settings.kubernetes.lister_kubeconfig, settings.kubernetes, clock)
    places = Places(
        KubeSecret(kube, namespace=own.namespace, name=own.secret),
        KubeRegistrations(kube),
        registration.names(apis.SERVED),
        registration.Service(own.service, own.namespace),
    )
    flow = self_managed.SelfManaged(places, issuer, contexts.update_pair, clock)

    async def warn() -> None:
        while True:
            contexts.warn(clock.now())
            await asyncio.sleep(AGE_SECONDS)

    return Certificate(
        contexts, {"serving-pair": flow.for_ever, "certificate-age": warn}, flow.ready, (kube,)
    )


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def rulebook(settings: Settings) -> Rulebook:
    """The rules in force. In compat mode any error ends the process, as upstream has it."""
    book = files.load(settings.config, compat=settings.compat)
    for finding in book.findings:
        level = log.error if finding.severity == "error" else log.warning
        level("rule_finding", extra={"finding": str(finding), "next": finding.suggestion})
    unserved = [("externalRules", len(book.external)), ("resourceRules", int(book.resource is not None))]
    for key, count in unserved:
        if count:
            log.warning("rules_not_served", extra={"key": key, "count": count, "next": NOT_SERVED})
    if settings.compat and parse.fatal(book):
        raise Refused(listed(book.findings))
    return book


def listed(findings: Iterable[Finding]) -> str:
    """Findings on one line."""
    return "; ".join(str(one) for one in findings)


def backend(settings: Settings, clock: Clock) -> PrometheusClient:
    """The client of the metrics backend. Raises Refused."""
    chosen = settings.prometheus
    transport = Transport(headers=chosen.headers, partial_answers=settings.compat, method=chosen.verb)
    try:
        return PrometheusClient(chosen.secret_url, clock, transport, _credentials(settings, clock))
    except ValueError as error:
        raise Refused(f"--prometheus-url: {error}") from error


def _credentials(settings: Settings, clock: Clock) -> Credentials:
    """What the backend is shown. A CA file overrules a kubeconfig, as upstream has it."""
    chosen, strict = settings.prometheus, not settings.kubernetes.disable_strict_x509
    paths = login.choose(chosen, service_account=SERVICE_ACCOUNT, strict=strict)
    if not chosen.auth_kubeconfig or chosen.ca_file:
        return Credentials(clock, paths)
    source = Source(kubeconfig=chosen.auth_kubeconfig, disable_strict_x509=not strict)
    return Credentials(clock, paths, Lending(source, clock))


def cluster(settings: Settings, clock: Clock) -> Cluster | StaticObjects:
    """Where objects and kinds come from. Raises Refused."""
    kubernetes = settings.kubernetes
    if kubernetes.objects_file:
        try:
            return StaticObjects(kubernetes.objects_file)
        except ObjectsFileBroken as error:
            raise Refused(f"--objects: {error}") from error
    return Cluster(_client(kubernetes.lister_kubeconfig, kubernetes, clock))


def _client(kubeconfig: str, kubernetes: Kubernetes, clock: Clock) -> KubeClient:
    return KubeClient(
        Source(kubeconfig=kubeconfig, disable_strict_x509=kubernetes.disable_strict_x509), clock
    )
