"""One kind, listed and watched for ever (client-go calls this a reflector): three functions of rising ambition.

`_watch` is one request. `_until_version_is_lost` is a list and then one watch after another. `for_ever`
begins again whatever happens. Whoever asks meanwhile is served from the last complete list and what was told
since.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, Protocol

from adapter.flows.backoff import Backoff
from adapter.objects.store import Store
from adapter.telemetry import logs
from adapter.telemetry.clock import Clock
from adapter.wire import objects
from adapter.wire.objects import Change, FeedError, Gone, Listing, NotListable, Unreachable
from adapter.wire.resources import Resource

STEADY_SECONDS: Final = 5.0
"""A watch that lives this long was a good one: what follows it needs no long pause. A server that closes each
watch at once would else be asked hundreds of times a second."""

WATCH_TRIES: Final = 5
"""So many bad watches in a row, and we list again: the version may be one that this server will never reach
(etcd restored from a backup)."""

BOOKMARK_SECONDS: Final = 90.0
"""An API server sends a bookmark each minute; with an open watch and news this young the objects are those of
now."""

REFUSAL_SECONDS: Final = 60.0
"""How long a kind that could be listed serves on after "forbidden" or "no such kind": an API server that
starts says so for some seconds, until its own caches are filled."""

log = logs.get("mirror")


class ObjectFeed(Protocol):
    """Where objects come from (the API server, or a file)."""

    async def listing(self, resource: Resource, page: str) -> Listing:
        """One page of the list; "" is the first. Raises objects.FeedError."""
        ...

    def changes(self, resource: Resource, version: str) -> AsyncGenerator[Change]:
        """What changed since `version`.

        Begins with a bookmark once the other side has accepted, ends when that side closes. Raises
        objects.FeedError, in particular Gone.
        """
        ...


@dataclass(frozen=True, slots=True)
class Means:
    """What following needs from outside."""

    feed: ObjectFeed
    clock: Clock
    sleep: Callable[[float], Awaitable[None]]
    random: Callable[[], float]
    restarts: Counter[tuple[str, str]]
    """How often (resource, reason) a list or watch ended; the reason of a bug is "Bug"."""


class Following:
    """The state of one kind.

    `attempted` is set once a first try has ended, well or badly; `settled` once the kind was listed, or is
    known not to be listable.
    """

    def __init__(self, resource: Resource, means: Means) -> None:
        self.resource = resource
        self.store: Store | None = None
        self.refusal: NotListable | None = None
        self.attempted, self.settled = asyncio.Event(), asyncio.Event()
        self.answered = False
        self.asked_at = means.clock.monotonic()
        self._means = means
        self._backoff = Backoff(means.random)
        self._version = ""
        self._heard_at = means.clock.monotonic()
        self._watching = False
        self._steady = False
        self._trouble = ""
        self._bug = ""

    # -- what others may know

    def current(self) -> Store | None:
        """The objects, unless there are none yet or they were refused to us for too long."""
        if self.refusal and self.age() > REFUSAL_SECONDS:
            return None
        return self.store

    def age(self) -> float:
        """Seconds since the objects were known to be those of the cluster."""
        silent = self._means.clock.monotonic() - self._heard_at
        return 0.0 if self._watching and silent <= BOOKMARK_SECONDS else silent

    # -- three functions of rising ambition

    async def for_ever(self) -> None:
        """This never returns; it is cancelled."""
        while True:
            try:
                await self._until_version_is_lost()
            except Gone as error:
                self._failed(error)
                if self._steady:
                    continue
            except FeedError as error:
                self._failed(error)
            except Exception as error:  # noqa: BLE001 - one of the outermost loops: it must outlive every bug
                self._broke(error)
            await self._pause()

    async def _until_version_is_lost(self) -> None:
        self._steady = False
        self._version = await self._list()
        bad = 0
        while True:
            try:
                await self._watch()
            except (Gone, NotListable):
                raise
            except FeedError as error:
                self._failed(error)
            else:
                self._count("closed")
                if self._steady:
                    continue
            bad = 0 if self._steady else bad + 1
            if bad == WATCH_TRIES:
                return
            await self._pause()

    async def _watch(self) -> None:
        clock, opened = self._means.clock, None
        try:
            async with aclosing(self._means.feed.changes(self.resource, self._version)) as changes:
                async for change in changes:
                    opened = clock.monotonic() if opened is None else opened
                    self._apply(change)
        finally:
            self._watching = False
            self._steady = opened is not None and clock.monotonic() - opened >= STEADY_SECONDS
            if self._steady:
                self._backoff.reset()
                self._bug = ""

    # -- steps

    async def _list(self) -> str:
        fresh, page, more = Store(), "", True
        while more:
            listing = await self._means.feed.listing(self.resource, page)
            for one in listing.objects:
                fresh.put(one)
            page = listing.next_page
            more = bool(page)
        self.store = fresh  # in one step: until here the old one has served
        self.refusal, self.answered = None, True
        self._heard_at = self._means.clock.monotonic()
        self.attempted.set()
        self.settled.set()
        return listing.version

    def _apply(self, change: Change) -> None:
        self._watching, self._heard_at = True, self._means.clock.monotonic()
        self._version = change.version or self._version
        if self._trouble:
            self._trouble = ""
            log.info("object_list_recovered", extra={"resource": str(self.resource.key)})
        one, store = change.object, self.store
        if one is None or store is None:
            return
        if change.kind == objects.DELETED:
            store.remove(one.namespace, one.name)
        else:
            store.put(one)

    async def _pause(self) -> None:
        await self._means.sleep(self._backoff.next())

    # -- what went wrong

    def _failed(self, error: FeedError) -> None:
        self._count(error.cause)
        self.attempted.set()
        self.answered = self.answered or not isinstance(error, Unreachable)
        if isinstance(error, NotListable):
            self.refusal = error
            self.settled.set()
        trouble = type(error).__name__
        if self._steady or self._trouble == trouble:
            return  # the end of a good watch is daily life, and a trouble is told once
        self._trouble = trouble
        log.warning("object_list_failed", extra=self._facts(error.cause) | {"text": str(error)})

    def _broke(self, error: Exception) -> None:
        """A bug: told once with its trace, though the watch may open between one time and the next."""
        self._count("Bug")
        self.attempted.set()
        self.answered = True
        bug = type(error).__name__
        if self._bug != bug:
            self._bug = self._trouble = bug
            log.error("object_list_broke", extra=self._facts("Bug"), exc_info=error)

    def _facts(self, cause: str) -> dict[str, object]:
        return {"resource": str(self.resource.key), "cause": cause}

    def _count(self, reason: str) -> None:
        self._means.restarts[str(self.resource.key), reason] += 1
