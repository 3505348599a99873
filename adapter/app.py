"""The only place that builds and connects things, in this order; they stop in the reverse order.

    settings → rulebook → backend, cluster → mirror, relist → snapshots, answers → server

The port opens before anything outside is asked: the probes and discovery must be there first (docs/design.md D5).
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from adapter import __version__, build
from adapter.build import Refused
from adapter.catalog.catalog import Catalog
from adapter.errors import AdapterError
from adapter.flows import answer, supervise
from adapter.flows.answer import Answers
from adapter.flows.mirror import Mirror
from adapter.flows.relist import Relist, Sources
from adapter.kube import usual_kinds as usual
from adapter.prometheus.login import CredentialsUnusable
from adapter.server.door_facts import DoorFacts
from adapter.server.drain import Drain
from adapter.server.entrance import Entrance
from adapter.server.facts import Facts
from adapter.server.groups import Groups
from adapter.server.handlers import Handlers, Parts
from adapter.server.health import Health
from adapter.server.heartbeat import Heartbeat
from adapter.server.listener import Listener
from adapter.settings import Settings
from adapter.snapshots.source import Snapshots
from adapter.telemetry import logs
from adapter.telemetry.clock import SystemClock
from adapter.telemetry.metrics import Metrics
from adapter.wire.resources import NAMESPACES, PODS, Kinds, Resource

__all__ = ["App", "Refused", "serve"]

ALWAYS_MIRRORED: Final = (PODS, NAMESPACES)
"""What nearly every question is about; the first list of these is tried before the process calls itself ready."""

log = logs.get("app")


async def serve(settings: Settings) -> None:
    """The server, until SIGTERM or SIGINT. Raises Refused."""
    app = App(settings)
    app.drain.listen()
    try:
        await app.start()
        await app.until_drained()
    finally:
        await app.stop()


def usual_kinds() -> Kinds:
    """The kinds that a cluster usually has, for commands that ask none."""
    return Kinds.of(usual.USUAL)


class App:
    """Everything that one process is made of."""

    def __init__(
        self, settings: Settings, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        """`sleep` is for the pauses of flows that failed."""
        build.check(settings)
        self._sleep = sleep
        self._settings, self._clock = settings, SystemClock()
        self._metrics = Metrics()
        self._book = build.rulebook(settings)
        self._prometheus = build.backend(settings, self._clock)
        self._cluster = build.cluster(settings, self._clock)
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
        self.drain = Drain(settings.limits.drain_seconds)
        self._heartbeat = Heartbeat(self._clock)
        self._certificate = build.certificate(settings, self._clock)
        self._contexts = self._certificate.contexts
        self._guard = build.guard(settings, self._contexts, self._clock, self._metrics)
        self._entrance = Entrance(
            Handlers(self._parts()),
            self._guard.admission,
            self._metrics,
            self._clock,
            compat=settings.compat,
        )
        self._listener = Listener(
            self._entrance.handle,
            settings.serving,
            settings.limits,
            clock=self._clock,
            compat=settings.compat,
        )
        door = DoorFacts(self._listener.connections, self._contexts, self._heartbeat, self._clock)
        door.measure(self._metrics)
        self._tasks: list[asyncio.Task[None]] = []
        self.port = 0

    async def start(self) -> None:
        """Open the port, then everything else. Raises Refused."""
        try:
            self.port = await self._listener.start(self._contexts)
        except OSError as error:
            raise Refused(str(error)) from error
        self._tasks = [self._kept(name, flow) for name, flow in self._door_flows().items()]
        log.info("serving", extra={"version": __version__, "port": self.port, "rules": len(self._book.rules)})
        try:
            await self._prometheus.start(strict=self._settings.compat)
        except CredentialsUnusable as error:
            raise Refused(f"the backend's credentials: {error}") from error
        if self._settings.compat:
            await self._start_as_upstream()
        self._mirror.start(ALWAYS_MIRRORED)
        self._tasks.append(self._kept("relist", lambda: self._relist.for_ever(self._published)))

    async def until_drained(self) -> None:
        """This waits until the port may be closed. Raises Refused if a flow was given up meanwhile."""
        wish = asyncio.create_task(self._drained())
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
        await self._guard.close()
        await self._certificate.close()
        await self._cluster.close()
        await self._prometheus.close()

    async def _drained(self) -> None:
        await self.drain.begun()
        self._listener.drain()
        await self.drain.over()

    def _door_flows(self) -> Mapping[str, Callable[[], Awaitable[None]]]:
        return {
            "connections": self._listener.for_ever,
            "heartbeat": self._heartbeat.for_ever,
            **self._certificate.flows,
        } | ({"authority": self._guard.authority.for_ever} if self._guard.authority else {})

    def _kept(self, name: str, flow: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        return asyncio.create_task(supervise.for_ever(name, flow, self._clock, sleep=self._sleep))

    async def _start_as_upstream(self) -> None:
        """Upstream ends where it cannot learn whom to believe, or which kinds the rules mean."""
        authority = self._guard.authority
        if authority is not None and not self._settings.access.tolerate_lookup_failure:
            await authority.once()
            if authority.unreadable:
                raise Refused(
                    "it cannot be read whom to believe; --authentication-tolerate-lookup-failure lives with it"
                )
        if self._book.rules:
            await self._bind_or_refuse()

    async def _bind_or_refuse(self) -> None:
        """Upstream ends when the cluster does not know a resource that a rule names, or does not answer."""
        try:
            findings = await self._relist.bind()
        except AdapterError as error:
            raise Refused(f"the cluster's kinds cannot be read: {error.next_step}") from error
        if findings:
            raise Refused(build.listed(findings))

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
            live={"ping": lambda: None, "loop_is_alive": self._heartbeat.probe},
            ready={
                "front_proxy_ca_is_known": self._guard.knows_the_front_proxy,
                "serving_certificate_is_known": self._certificate.ready,
                "objects_were_tried": self._objects_were_tried,
                "shutting_down": self.drain.probe,
            },
            shown={
                **self._facts.words(),
                "certificate": lambda: self._contexts.describe(self._clock.now()),
            },
        )

    def _objects_were_tried(self) -> str | None:
        waiting = [str(one.key) for one in ALWAYS_MIRRORED if not self._mirror.tried(one)]
        return f"the first list of {', '.join(waiting)} is on its way" if waiting else None
