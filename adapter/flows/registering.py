"""Registering the adapter with the API server, and taking that away: never what belongs to somebody else.

All is read and judged before anything is written: half a group is worse than none, because the autoscaler takes the
version that it likes best, and would look for all metrics there.
"""

import contextlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol

from adapter.wire import registration
from adapter.wire.registration import Service
from adapter.wire.stored import Changed, Document

TRIES: Final = 5
"""Somebody else may write at the same time, the API server itself does so; not that often."""


class Registrations(Protocol):
    """The APIServices (kube.registration)."""

    async def read(self, name: str) -> Document | None:
        """None: there is none of this name. Raises StoredError."""
        ...

    async def create(self, document: Document) -> Document:
        """Raises Changed if there is one already, StoredError."""
        ...

    async def replace(self, document: Document) -> Document:
        """Raises Changed if it is not what was read, StoredError."""
        ...

    async def remove(self, document: Document) -> None:
        """Raises Changed if it is not what was read, StoredError."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one registration, or would."""

    name: str
    does: str
    """created, updated, unchanged, removed, absent, or left (to somebody else)."""

    note: str = ""
    document: Document = field(default_factory=dict, repr=False)
    """As it is written; for one that is removed or left, as it was."""


class Taken(Exception):
    """A group is somebody else's: the text says whose, and what to do. Nothing was written."""


async def register(
    registrations: Registrations, wanted: Sequence[Document], *, take_over: bool, dry_run: bool
) -> list[Outcome]:
    """Create or update these. Raises Taken, StoredError."""
    taken, would = [], []
    for document in wanted:
        try:
            would.append(await _judged(registrations, document, take_over=take_over))
        except Taken as error:
            taken.append(str(error))
    if taken:
        raise Taken("\n".join(taken))
    if dry_run:
        return would
    return [await _again(partial(_registered, registrations, one, take_over=take_over)) for one in wanted]


async def unregister(
    registrations: Registrations, names: Iterable[str], service: Service, *, dry_run: bool
) -> list[Outcome]:
    """Remove those of these names that `register` made for this Service. Raises StoredError."""
    return [
        await _again(partial(_unregistered, registrations, name, service, dry_run=dry_run)) for name in names
    ]


async def _again(attempt: Callable[[], Awaitable[Outcome]]) -> Outcome:
    """The same from its reading on, as often as somebody else is faster."""
    for _ in range(TRIES - 1):
        with contextlib.suppress(Changed):
            return await attempt()
    return await attempt()


async def _judged(registrations: Registrations, wanted: Document, *, take_over: bool) -> Outcome:
    """What is to be done, without doing it. Raises Taken."""
    name = wanted["metadata"]["name"]
    found = await registrations.read(name)
    if found is None:
        return Outcome(name, "created", _waits(wanted), wanted)
    service = registration.service_of(found)
    ours = str(service) == str(registration.service_of(wanted))
    who, advice = ("", "") if ours else registration.stranger(found)
    if who and not take_over:
        raise Taken(f"{name} is served by {who}: {advice}")
    document = registration.merged(found, wanted)
    if document == found:
        return Outcome(name, "unchanged", _waits(document), document)
    notes = (f"taken over from {who}" if who else "", _waits(document), _managed(document))
    return Outcome(name, "updated", "; ".join(filter(None, notes)), document)


async def _registered(registrations: Registrations, wanted: Document, *, take_over: bool) -> Outcome:
    """Judged once more, right before it is written. Raises Taken, Changed."""
    judged = await _judged(registrations, wanted, take_over=take_over)
    if judged.does == "created":
        await registrations.create(judged.document)
    elif judged.does == "updated":
        await registrations.replace(judged.document)
    return judged


async def _unregistered(
    registrations: Registrations, name: str, service: Service, *, dry_run: bool
) -> Outcome:
    found = await registrations.read(name)
    if found is None:
        return Outcome(name, "absent")
    if not registration.names_service(found, service):
        return Outcome(name, "left", f"it is served by {registration.stranger(found)[0]}", found)
    if registration.mark_of(found) != registration.OURS:
        return Outcome(name, "left", _unmarked(found), found)
    if not dry_run:
        await registrations.remove(found)
    return Outcome(name, "removed", document=found)


def _waits(document: Document) -> str:
    if registration.bundle_of(document):
        return ""
    return "without a CA it is not available: give --ca-bundle, or run the adapter with --self-managed-tls"


def _managed(document: Document) -> str:
    mark = registration.mark_of(document)
    return "" if mark == registration.OURS else f"it stays with {mark}, and unregister will not remove it"


def _unmarked(document: Document) -> str:
    mark = registration.mark_of(document)
    whose = f"{mark} manages it" if mark else "it was not made by `register`"
    return f"{whose}: remove it in the way in which it was made"
