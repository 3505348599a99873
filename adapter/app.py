"""The only place that builds and connects things, in this order; they stop in the reverse order.

    settings → rulebook → backend, cluster → mirror, relist → snapshots, answers → server

The port opens before anything outside is asked: the probes and discovery must be there first (docs/design.md D5).
"""

import asyncio
import contextlib
import datetime
import ipaddress
import signal
from collections.abc import Iterable
from typing import Final

from adapter import __version__
from adapter.catalog.catalog import Catalog
from adapter.errors import AdapterError
from adapter.flows import answer, supervise
from adapter.flows.answer import Answers
from adapter.flows.mirror import Mirror
from adapter.flows.relist import Relist, Sources
from adapter.kube.client import KubeClient
from adapter.kube.cluster import Cluster
from adapter.kube.credentials import Source
from adapter.kube.static import ObjectsFileBroken, StaticObjects
from adapter.prometheus.client import PrometheusClient
from adapter.prometheus.transport import Transport
from adapter.rulebook import files, parse
from adapter.rulebook.findings import Finding
from adapter.rulebook.model import Rulebook
from adapter.server import tls
from adapter.server.facts import Facts
from adapter.server.groups import Groups
from adapter.server.handlers import Handlers, Parts
from adapter.server.health import Health
from adapter.server.listener import Listener
from adapter.settings import Serving, Settings
from adapter.snapshots.source import Snapshots
from adapter.telemetry import logs
from adapter.telemetry.clock import Clock, SystemClock
from adapter.telemetry.metrics import Metrics
from adapter.wire.resources import NAMESPACES, PODS, Resource

ALWAYS_MIRRORED: Final = (PODS, NAMESPACES)
"""What nearly every question is about; the first list of these is tried before the process calls itself ready."""

NOT_SERVED: Final = "they are read and checked, but this version serves custom metrics only"

log = logs.get("app")


class Refused(Exception):
    """The process cannot start; the text says why and what to do."""


async def serve(settings: Settings) -> None:
    """The server, until SIGTERM or SIGINT. Raises Refused."""
    app = App(settings)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    try:
        await app.start()
        await app.until(stopping)
    finally:
        await app.stop()


class App:
    """Everything that one process is made of."""

    def __init__(self, settings: Settings) -> None:
        _check(settings.serving, settings)
        self._settings, self._clock = settings, SystemClock()
        self._metrics = Metrics()
        self._book = _rulebook(settings)
        self._prometheus = _backend(settings, self._clock)
        self._cluster = _cluster(settings, self._clock)
        self._mirror = Mirror(self._cluster, self._clock)
        self._relist = Relist(
            self._book.rules,
            Sources(self._prometheus, self._cluster, self._clock),
            settings.relisting,
            compat=settings.compat,
        )
        self._snapshots = Snapshots(
            self._prometheus,
            self._clock,
            ttl_seconds=settings.snapshots.ttl_seconds,
            share=not settings.compat,
            count=lambda result: self._metrics.snapshots.labels(result).inc(),
        )
        # Upstream without a rule has no such group, and compat mode says so.
        self._groups = Groups() if self._book.rules or not settings.compat else Groups(())
        self._facts = Facts(
            self._book, self._relist, self._mirror, self._prometheus.journal, self._cluster.skipped_counts
        )
        self._facts.measure(self._metrics)
        self._listener = Listener(Handlers(self._parts()).handle, settings.serving, settings.limits)
        self._tasks: list[asyncio.Task[None]] = []
        self.port = 0

    async def start(self) -> None:
        """Open the port, then everything else. Raises Refused."""
        try:
            context = tls.context(self._settings.serving, now=datetime.datetime.now(datetime.UTC))
            self.port = await self._listener.start(context)
        except (tls.CertificateRefused, OSError) as error:
            raise Refused(str(error)) from error
        log.info("serving", extra={"version": __version__, "port": self.port, "rules": len(self._book.rules)})
        await self._prometheus.start()
        if self._settings.compat and self._book.rules:
            await self._bind_or_refuse()
        self._mirror.start(ALWAYS_MIRRORED)
        self._tasks = [
            asyncio.create_task(
                supervise.for_ever("relist", lambda: self._relist.for_ever(self._published), self._clock)
            )
        ]

    async def until(self, stopping: asyncio.Event) -> None:
        """This waits for `stopping`. Raises Refused if a flow was given up meanwhile."""
        wish = asyncio.create_task(stopping.wait())
        try:
            await asyncio.wait((wish, *self._tasks), return_when=asyncio.FIRST_COMPLETED)
        finally:
            wish.cancel()
        for task in self._tasks:
            if task.done() and (error := task.exception()):
                raise Refused(str(error)) from error
        log.info("stopping")

    async def stop(self) -> None:
        """Close the port first, then everything else, in the reverse order of start()."""
        await self._listener.stop()
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, supervise.GaveUp):
                await task
        await self._mirror.stop()
        await self._snapshots.close()
        await self._cluster.close()
        await self._prometheus.close()

    async def _bind_or_refuse(self) -> None:
        """Upstream ends when the cluster does not know a resource that a rule names, or does not answer."""
        try:
            findings = await self._relist.bind()
        except AdapterError as error:
            raise Refused(f"the cluster's kinds cannot be read: {error.next_step}") from error
        if findings:
            raise Refused(_listed(findings))

    def _published(self, catalog: Catalog) -> None:
        self._groups.publish(catalog.names())
        self._mirror.start((*ALWAYS_MIRRORED, *self._named()))

    def _named(self) -> set[Resource]:
        """Resources that overrides name: their objects are mirrored before anybody asks (docs/design.md D11)."""
        kinds = self._relist.catalog.kinds
        named = (
            kinds.find(one.resource, one.group) for rule in self._book.rules for one in rule.mapping.overrides
        )
        return {one for one in named if one is not None}

    def _parts(self) -> Parts:
        answers = Answers(
            answer.Sources(self._relist, self._mirror, self._snapshots),
            self._clock,
            self._metrics,
            compat=self._settings.compat,
        )
        return Parts(
            answers=answers,
            groups=self._groups,
            health=self._health(),
            metrics=self._metrics,
            clock=self._clock,
            limits=self._settings.limits,
            compat=self._settings.compat,
        )

    def _health(self) -> Health:
        return Health(
            live={"ping": lambda: None},
            ready={"objects_were_tried": self._objects_were_tried},
            shown=self._facts.words(),
        )

    def _objects_were_tried(self) -> str | None:
        waiting = [str(one.key) for one in ALWAYS_MIRRORED if not self._mirror.tried(one)]
        return f"the first list of {', '.join(waiting)} is on its way" if waiting else None


def _check(serving: Serving, settings: Settings) -> None:
    """Until callers are asked who they are, only this machine may ask, unless the operator says otherwise."""
    loopback = _is_loopback(serving.address)
    if settings.kubernetes.objects_file and not loopback:
        raise Refused("--objects is for one machine: use it with --bind-address=127.0.0.1")
    if (not loopback or settings.kubernetes.objects_file) and not serving.insecure_allow_everyone:
        what = "--objects" if loopback else f"--bind-address={serving.address}"
        raise Refused(
            f"with {what} everybody who reaches the port gets answers, because callers are not asked who they are "
            "yet: say --insecure-allow-everyone if that is meant"
        )
    if serving.insecure_allow_everyone:
        log.warning("everyone_is_answered", extra={"address": serving.address})


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _rulebook(settings: Settings) -> Rulebook:
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
        raise Refused(_listed(book.findings))
    return book


def _listed(findings: Iterable[Finding]) -> str:
    return "; ".join(str(one) for one in findings)


def _backend(settings: Settings, clock: Clock) -> PrometheusClient:
    try:
        return PrometheusClient(
            settings.prometheus.secret_url,
            clock,
            Transport(headers=settings.prometheus.headers, partial_answers=settings.compat),
        )
    except ValueError as error:
        raise Refused(f"--prometheus-url: {error}") from error


def _cluster(settings: Settings, clock: Clock) -> Cluster | StaticObjects:
    kubernetes = settings.kubernetes
    if kubernetes.objects_file:
        try:
            return StaticObjects(kubernetes.objects_file)
        except ObjectsFileBroken as error:
            raise Refused(f"--objects: {error}") from error
    source = Source(
        kubeconfig=kubernetes.lister_kubeconfig, disable_strict_x509=kubernetes.disable_strict_x509
    )
    return Cluster(KubeClient(source, clock))
