"""What each action of the table does: a request becomes a question, an answer becomes bytes."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from aiohttp import web
from multidict import CIMultiDictProxy

from adapter import __version__, errors
from adapter.flows.question import Answer, Question
from adapter.server import accept, documents, groups, questions, routes
from adapter.server.groups import Groups
from adapter.server.health import Health
from adapter.server.limits import InFlight
from adapter.server.routes import Match
from adapter.settings import Limits
from adapter.telemetry import metrics as telemetry
from adapter.telemetry.clock import Clock
from adapter.wire import discovery, lists, selectors

JSON: Final = "application/json"
TEXT: Final = "text/plain"

GUARD_SECONDS: Final = 0.5
"""Each room keeps the deadline itself, and knows best what was late; this catches one that does not."""


class Answering(Protocol):
    """Who answers questions (flows.answer)."""

    async def answer(self, question: Question, *, deadline: float) -> Answer:
        """The values; deadline in monotonic seconds."""
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    """What the handlers work with."""

    answers: Answering
    groups: Groups
    health: Health
    metrics: telemetry.Metrics
    clock: Clock
    limits: Limits
    compat: bool = False


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request that is in the table: what the methods below need of it."""

    parts: Mapping[str, str]
    query: Mapping[str, str]
    path: str
    headers: CIMultiDictProxy[str]


class Handlers:
    """One method per action of the table."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._in_flight = InFlight(parts.limits.in_flight)

    def action(self, name: str) -> Callable[[Match, web.BaseRequest], Awaitable[web.Response]]:
        """The method that does what the table calls by this name."""
        method: Callable[[Incoming], Awaitable[web.Response]] = getattr(self, name)

        async def done(matched: Match, request: web.BaseRequest) -> web.Response:
            path = routes.canonical(request.raw_path.partition("?")[0])
            return await method(Incoming(matched.parts, request.rel_url.query, path, request.headers))

        return done

    # -- values

    async def values(self, incoming: Incoming) -> web.Response:
        """.../RESOURCE/NAME/METRIC, with and without a namespace."""
        self._check(incoming)
        return await self._answer(questions.of_values(incoming.parts, incoming.query), incoming)

    async def namespace_values(self, incoming: Incoming) -> web.Response:
        """.../namespaces/NS/metrics/METRIC."""
        self._check(incoming)
        return await self._answer(questions.of_namespace(incoming.parts, incoming.query), incoming)

    def _check(self, incoming: Incoming) -> None:
        if not self._parts.compat:
            questions.check_names(incoming.parts)
            questions.check_size(incoming.query)

    async def _answer(self, question: Question, incoming: Incoming) -> web.Response:
        seconds = questions.deadline_seconds(incoming.query, self._parts.limits.request_seconds)
        cause = errors.Bug.cause
        try:
            answer = await self._asked(question, seconds)
            body = self._written(question, incoming.parts["version"], answer)
            cause = "ok"
        except errors.AdapterError as error:
            cause = error.cause
            raise
        except asyncio.CancelledError:
            cause = "CallerLeft"
            raise
        finally:
            self._parts.metrics.answers.labels(cause).inc()
        if answer.items:
            oldest = min(item.time for item in answer.items)
            self._parts.metrics.ages.observe(max(0.0, self._parts.clock.now() - oldest))
        return web.Response(body=body, content_type=JSON, headers=_warning(answer))

    async def _asked(self, question: Question, seconds: float) -> Answer:
        deadline = self._parts.clock.monotonic() + seconds
        try:
            with self._in_flight.place(question):
                async with asyncio.timeout(seconds + GUARD_SECONDS):
                    return await self._parts.answers.answer(question, deadline=deadline)
        except TimeoutError as error:
            raise errors.BackendTimeout(
                "Timeout: request did not complete within the allotted timeout"
            ) from error

    def _written(self, question: Question, version: str, answer: Answer) -> bytes:
        """The list as bytes: those of before, if the items are the same."""
        body = answer.written.get(version)
        if body is None:
            body = answer.written[version] = self._encoded(question, version, answer)
        return body

    def _encoded(self, question: Question, version: str, answer: Answer) -> bytes:
        if not (self._parts.compat and answer.items):
            echo = selectors.as_label_selector(question.series)
        else:
            try:
                echo = selectors.echo_as_upstream(question.series)
            except ValueError as error:
                raise errors.InvalidMetricSelector(str(error)) from error
        return lists.metric_values(version, question.metric, echo, answer.items)

    # -- discovery

    async def discovery(self, incoming: Incoming) -> web.Response:
        """/apis, a group, a group-version. In JSON whatever is accepted: a 406 would take the API off the air."""
        return self._document(incoming, accept.aggregated(incoming.headers.get("Accept")) or groups.PLAIN)

    async def openapi(self, incoming: Incoming) -> web.Response:
        """/openapi/v2, /openapi/v3 and what is below."""
        return self._document(incoming, groups.PLAIN, incoming.query.get("hash"))

    def _document(self, incoming: Incoming, form: str, digest: str | None = None) -> web.Response:
        document = self._parts.groups.find(incoming.path, form)
        if document is None:
            raise errors.PathUnknown(routes.NO_RESOURCE)
        tags = incoming.headers.getall("If-None-Match", ())
        asked = documents.Asked(tags, digest, self._parts.clock.now())
        return documents.answer(document, asked)

    async def root(self, _: Incoming) -> web.Response:
        """/: the paths there are."""
        return web.Response(body=discovery.paths(routes.PATHS), content_type=JSON)

    async def version(self, _: Incoming) -> web.Response:
        """/version."""
        return web.Response(body=discovery.version(__version__), content_type=JSON)

    # -- probes and the adapter's own metrics

    async def livez(self, incoming: Incoming) -> web.Response:
        """/livez and /livez/CHECK."""
        return _probe(self._parts.health.livez, incoming)

    async def readyz(self, incoming: Incoming) -> web.Response:
        """/readyz and /readyz/CHECK."""
        return _probe(self._parts.health.readyz, incoming)

    async def healthz(self, incoming: Incoming) -> web.Response:
        """/healthz and /healthz/CHECK."""
        return _probe(self._parts.health.healthz, incoming)

    async def metrics(self, _: Incoming) -> web.Response:
        """/metrics."""
        headers = {"Content-Type": telemetry.CONTENT_TYPE}
        return web.Response(body=self._parts.metrics.exposition(), headers=headers)


class _Report(Protocol):
    def __call__(self, check: str | None, *, verbose: bool) -> tuple[int, str]: ...


def _probe(report: _Report, incoming: Incoming) -> web.Response:
    code, text = report(incoming.parts.get("check"), verbose="verbose" in incoming.query)
    return web.Response(status=code, text=text, content_type=TEXT)


def _warning(answer: Answer) -> dict[str, str] | None:
    """RFC 7234 section 5.5, code 299: kubectl shows it, the autoscaler passes over it."""
    if answer.stale_seconds <= 0:
        return None
    words = "".join(
        f" {letter.lower()}" if letter.isupper() else letter for letter in answer.stale_cause or ""
    )
    return {"Warning": f'299 - "value is {answer.stale_seconds:.0f} s old:{words}"'}
