"""The API server as the flows need it: its kinds, its objects."""

from collections.abc import AsyncGenerator, Mapping

from adapter.kube.client import KubeClient
from adapter.kube.discovery import Discovery
from adapter.kube.watch import KubeFeed
from adapter.wire.objects import Change, Listing
from adapter.wire.resources import Kinds, Resource


class Cluster:
    """The mirror's feed and the source of kinds, over one client."""

    def __init__(self, kube: KubeClient) -> None:
        self._kube = kube
        self.feed, self._discovery = KubeFeed(kube), Discovery(kube)

    async def kinds(self, groups: frozenset[str] | None) -> Kinds:
        """The kinds of these groups (None: of all). Raises StillStarting."""
        return await self._discovery.kinds(groups)

    async def listing(self, resource: Resource, page: str) -> Listing:
        """One page of a list. Raises objects.FeedError."""
        return await self.feed.listing(resource, page)

    def changes(self, resource: Resource, version: str) -> AsyncGenerator[Change]:
        """What changed since `version`. Raises objects.FeedError."""
        return self.feed.changes(resource, version)

    def skipped_counts(self) -> Mapping[tuple[str, str], int]:
        """How often (resource, what) could not be read; what: object, event."""
        return self.feed.skipped_counts()

    async def close(self) -> None:
        """Close all connections."""
        await self._kube.close()
