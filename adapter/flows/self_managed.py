"""Our own serving certificate, the same in all replicas, and the registrations that make the API server believe it.

Each replica goes round on its own: it reads the registrations and the Secret, does what is due (whoever writes first
wins, all others read what he wrote), serves with what the Secret holds, and keeps the CAs of the registrations equal
to those of the Secret.

The registrations are read before the Secret and written after it. So a replica that fell asleep in between cannot put
old CAs over newer ones: its write is about a version that is no more.
"""

import asyncio
import datetime
import random as randomness
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from adapter.flows import publishing
from adapter.flows.backoff import Backoff
from adapter.flows.publishing import Publishing, RegistrationStore
from adapter.flows.states import States
from adapter.telemetry import logs
from adapter.telemetry.clock import Clock
from adapter.wire.registration import Service
from adapter.wire.stored import Changed, Held, StoredError

ROUND_SECONDS: Final = 30.0
"""A replica serves what another one made within this, and mends a registration whose CAs were taken away."""

JITTER: Final = 0.1
"""Part of that by which replicas drift apart."""

TRIES: Final = 3
"""How often a replica that was too slow reads again at once."""

NEXT: Final = {
    "serving_secret_not_read": "grant the adapter get on this Secret",
    "serving_secret_not_written": "grant the adapter update on this Secret; create it empty, or grant create too",
    "serving_secret_not_ours": "name another Secret with --tls-secret, or empty this one",
    "serving_pair_not_taken": "the pair of before is served, and this one offered again",
}
"""What to do, by event."""

log = logs.get("self_managed")


class SecretStore(Protocol):
    """The one Secret (kube.secrets)."""

    async def read(self) -> Held | None:
        """None: there is none. Raises StoredError."""
        ...

    async def write(self, held: Held | None, data: Mapping[str, bytes]) -> Held:
        """In place of `held`, or as a new one. Raises Changed if that is not the latest, StoredError."""
        ...


class Material(Protocol):
    """A serving pair and the CAs to trust, PEM."""

    @property
    def certificate(self) -> bytes:
        """Of the server."""
        ...

    @property
    def key(self) -> bytes:
        """To the certificate."""
        ...

    @property
    def trusted(self) -> bytes:
        """The CAs, one after the other."""
        ...


class Plan(Protocol):
    """What is to be written."""

    @property
    def steps(self) -> Sequence[str]:
        """Events for the log; none: the Secret is as it should be."""
        ...

    @property
    def data(self) -> Mapping[str, bytes]:
        """What the Secret is to hold."""
        ...

    @property
    def remembered(self) -> Mapping[str, bytes]:
        """From what to go on if the Secret gets lost."""
        ...

    @property
    def before(self) -> Material | None:
        """What it holds now, if that can be served with."""
        ...

    @property
    def after(self) -> Material:
        """What it holds once `data` is written."""
        ...


class Planner(Protocol):
    """Who knows certificates (server.issuing)."""

    def plan(
        self, data: Mapping[str, bytes] | None, published: Sequence[bytes] | None, now: datetime.datetime
    ) -> Plan:
        """`published` are the registrations' CAs; None: not known. Raises ValueError if the data is not ours."""
        ...


@dataclass(frozen=True, slots=True)
class Places:
    """What the replicas share."""

    secret: SecretStore
    registrations: RegistrationStore
    names: tuple[str, ...]
    """Of the registrations that are kept, as far as they are there and name `service`."""

    service: Service


class SelfManaged:
    """This keeps the pair that is served, the Secret and the registrations in step."""

    def __init__(
        self,
        places: Places,
        planner: Planner,
        deliver: Callable[[bytes, bytes], object],
        clock: Clock,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = randomness.random,
    ) -> None:
        """`deliver` is given each new pair (certificate, key; PEM), and raises ValueError or OSError if it cannot."""
        self._places, self._planner, self._deliver, self._clock = places, planner, deliver, clock
        self._sleep, self._random = sleep, random
        self._served: tuple[bytes, bytes] | None = None
        self._known: Mapping[str, bytes] = {}
        self._states = States(log, "self_managed_recovered")
        self._publishing = Publishing(places.registrations, places.names, places.service, self._states)

    def ready(self) -> str | None:
        """None once there is a pair; before, the API server would refuse what is served."""
        return None if self._served else "the serving certificate is not there yet"

    async def for_ever(self) -> None:
        """One round after the other. Never returns."""
        retries = Backoff(self._random)
        while True:
            if await self.once():
                retries.reset()
                await self._sleep(ROUND_SECONDS * (1 + JITTER * self._random()))
            else:
                await self._sleep(retries.next())

    async def once(self) -> bool:
        """One round. True if nothing failed."""
        found = await self._publishing.read()
        good, material = await self._material(None if found is None else publishing.bundles(found))
        if material is None:
            return False
        good = self._delivered(material) and good
        return await self._publishing.tell(found or {}, material.trusted) and good and found is not None

    # -- the Secret

    async def _material(self, published: Sequence[bytes] | None) -> tuple[bool, Material | None]:
        """(whether all went well, what to serve with); None: nothing that is known, so what is served stays."""
        try:
            for _ in range(TRIES):
                held = await self._places.secret.read()
                plan = self._planned(held, published)
                if not plan.steps or await self._written(held, plan):
                    self._known = plan.remembered
                    self._states.fine("secret")
                    return True, plan.after
        except _NotWritten as error:
            self._trouble("secret", "serving_secret_not_written", error)
            return False, error.before
        except StoredError as error:
            self._trouble("secret", "serving_secret_not_read", error)
        except ValueError as error:
            self._trouble("secret", "serving_secret_not_ours", error)
        return False, None

    async def _written(self, held: Held | None, plan: Plan) -> bool:
        """False: somebody else was faster. Raises _NotWritten."""
        try:
            await self._places.secret.write(held, plan.data)
        except Changed:
            return False
        except StoredError as error:
            raise _NotWritten(error, plan.before) from error
        for step in plan.steps:
            log.info(str(step), extra={"service": str(self._places.service)})
        return True

    def _planned(self, held: Held | None, published: Sequence[bytes] | None) -> Plan:
        """If the Secret got lost, of what is remembered: what is served and trusted then goes on."""
        data = held.data if held is not None and any(held.data.values()) else self._known
        now = datetime.datetime.fromtimestamp(self._clock.now(), datetime.UTC)
        return self._planner.plan(data, published, now)

    def _delivered(self, material: Material) -> bool:
        pair = material.certificate, material.key
        if pair == self._served:
            return True
        try:
            self._deliver(*pair)
        except (ValueError, OSError) as error:
            self._trouble("pair", "serving_pair_not_taken", error)
            return False
        self._served = pair
        self._states.fine("pair")
        return True

    def _trouble(self, about: str, event: str, error: Exception) -> None:
        self._states.trouble(about, event, error, NEXT[event])


class _NotWritten(Exception):
    """The Secret is as it was; `before` is what it holds."""

    def __init__(self, error: StoredError, before: Material | None) -> None:
        super().__init__(str(error))
        self.before = before
