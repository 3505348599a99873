"""The CAs in the adapter's own registrations, kept equal to those that vouch for what it serves."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeGuard

from adapter.flows.states import States
from adapter.telemetry import logs
from adapter.wire import registration
from adapter.wire.registration import Service
from adapter.wire.stored import Changed, Document, StoredError

log = logs.get("self_managed")


class RegistrationStore(Protocol):
    """The APIServices (kube.registration)."""

    async def read(self, name: str) -> Document | None:
        """None: there is none of this name. Raises StoredError."""
        ...

    async def replace(self, document: Document) -> Document:
        """Raises Changed if it is not what was read, StoredError."""
        ...


class Publishing:
    """This looks after the registrations of `names`, as far as they are there and name `service`."""

    def __init__(
        self, store: RegistrationStore, names: Sequence[str], service: Service, states: States
    ) -> None:
        self._store, self._names, self._service, self._states = store, names, service, states

    async def read(self) -> dict[str, Document] | None:
        """Those that are ours, by name; None: not known."""
        found = {}
        try:
            for name in self._names:
                document = await self._store.read(name)
                if self._is_ours(document, name):
                    found[name] = document
        except StoredError as error:
            advice = "grant the adapter get on its APIServices"
            self._states.trouble("registrations", "registrations_not_read", error, advice)
            return None
        self._states.fine("registrations")
        return found

    async def tell(self, found: Mapping[str, Document], trusted: bytes) -> bool:
        """True if all of these have the CAs `trusted` (PEM) now."""
        outdated = [name for name, one in found.items() if registration.bundle_of(one) != trusted]
        for name in outdated:
            try:
                await self._store.replace(registration.with_bundle(found[name], trusted))
            except Changed:
                return False  # the next round reads it again
            except StoredError as error:
                advice = "grant the adapter update on its APIServices"
                self._states.trouble("publishing", "registration_not_written", error, advice)
                return False
            log.info("registration_updated", extra={"registration": name})
        self._states.fine("publishing")
        return True

    def _is_ours(self, document: Document | None, name: str) -> TypeGuard[Document]:
        if document is None:
            advice = "apply the manifests, or run hpa-adapter register"
            self._states.trouble(name, "registration_missing", "there is none of this name", advice)
        elif not registration.names_service(document, self._service):
            who, advice = registration.stranger(document)
            self._states.trouble(name, "registration_of_another", f"it is served by {who}", advice)
        else:
            self._states.fine(name)
            return True
        return False


def bundles(found: Mapping[str, Document]) -> list[bytes]:
    """The CAs (PEM) of each."""
    return [registration.bundle_of(one) for one in found.values()]
