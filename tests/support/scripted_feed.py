"""A feed for the mirror that follows a script, and the mirror around it."""

import asyncio
from collections import Counter

from adapter.wire import selectors
from adapter.wire.objects import BOOKMARK, Change, Listing, Object
from adapter.wire.resources import Resource

PODS = Resource("", "v1", "pods", "pod", "Pod", namespaced=True)
NODES = Resource("", "v1", "nodes", "node", "Node", namespaced=False)
DEPLOYMENTS = Resource("apps", "v1", "deployments", "deployment", "Deployment", namespaced=True)

WEB_1, WEB_2, WEB_3 = (Object("shop", f"web-{number}", {"app": "web"}) for number in (1, 2, 3))
CLOSE = object()
ENOUGH = 40.0
"""Seconds: more than the longest pause."""


class ScriptedFeed:
    """Lists and streams by kind. A list is pages, an exception, or HANG; a stream is filled by hand."""

    def __init__(self):
        self.lists = {}
        self.streams = {}
        self.asked = Counter()
        self.versions = []

    def lists_as(self, resource, *outcomes):
        """Outcomes of one list after the other; the last one stays."""
        self.lists[resource.key] = list(outcomes)

    def say(self, resource, *messages):
        """Events of the running watch: changes, an exception, or CLOSE."""
        for message in messages:
            self.streams[resource.key].put_nowait(message)

    async def listing(self, resource, page):
        self.asked["list", str(resource.key)] += 1
        outcomes = self.lists.get(resource.key, [[]])
        outcome = outcomes[0] if len(outcomes) == 1 or page else outcomes.pop(0)
        if outcome is None:
            await asyncio.Event().wait()
        if isinstance(outcome, Exception):
            raise outcome
        if isinstance(outcome, list):
            return Listing(outcome, "100")
        raise AssertionError(outcome)

    async def changes(self, resource, version):
        self.asked["watch", str(resource.key)] += 1
        self.versions.append(version)
        queue = self.streams[resource.key] = asyncio.Queue()
        yield Change(BOOKMARK, version)
        while (message := await queue.get()) is not CLOSE:
            if isinstance(message, Exception):
                raise message
            yield message


def names(store):
    return [one.name for one in store.select(None, selectors.EVERYTHING)]


async def held(mirror, clock, resource=PODS):
    """The names that the mirror gives at once."""
    return names(await mirror.objects(resource, deadline=clock.monotonic()))


def reported(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "adapter.mirror"]
