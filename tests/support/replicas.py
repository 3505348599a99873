"""What replicas share in a cluster, in memory: one Secret and registrations, with optimistic locking and races."""

import asyncio
import copy
from collections.abc import Callable

from adapter.wire.stored import Changed, Held, StoredError


class Locked:
    """Objects by name with versions. Between any two calls others have their turn; `told` hears of each write."""

    def __init__(self, told: Callable[[], object] = lambda: None) -> None:
        self.objects: dict[str, dict] = {}
        self.told = told
        self.writes: list[str] = []
        self.failing: dict[str, StoredError] = {}
        """By "read" or "write"."""

        self._version = 0

    async def take(self, name):
        await self._turn("read")
        return copy.deepcopy(self.objects.get(name))

    async def put(self, name, document):
        """In place of what has the document's version; without one, if there is none."""
        await self._turn("write")
        present = self.objects.get(name, {}).get("metadata", {}).get("resourceVersion")
        if present != document["metadata"].get("resourceVersion"):
            raise Changed("Conflict")
        return self.force(name, document)

    def force(self, name, document):
        """As an administrator does."""
        self._version += 1
        metadata = document["metadata"] | {"resourceVersion": str(self._version)}
        self.objects[name] = copy.deepcopy(document | {"metadata": metadata})
        self.writes.append(name)
        self.told()
        return copy.deepcopy(self.objects[name])

    async def _turn(self, verb):
        await asyncio.sleep(0)
        if verb in self.failing:
            raise self.failing[verb]


class MemorySecret(Locked):
    """The one Secret."""

    @property
    def data(self):
        return self.objects["secret"]["data"]

    async def read(self):
        found = await self.take("secret")
        return None if found is None else Held(found["data"], found)

    async def write(self, held, data):
        document = {"metadata": {}} if held is None else held.document
        written = await self.put("secret", document | {"data": dict(data)})
        return Held(written["data"], written)


class MemoryRegistrations(Locked):
    """APIServices."""

    async def read(self, name):
        return await self.take(name)

    async def create(self, document):
        return await self.put(document["metadata"]["name"], document)

    async def replace(self, document):
        return await self.put(document["metadata"]["name"], document)

    async def remove(self, document):
        await self._turn("write")
        name = document["metadata"]["name"]
        if self.objects.get(name) != document:
            raise Changed("Conflict")
        del self.objects[name]
        self.writes.append(f"-{name}")
