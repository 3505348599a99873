"""Discovery as prebuilt bytes: made when the catalog changes, served whatever else happens (docs/faults.md F27)."""

from collections.abc import Iterable
from dataclasses import dataclass

from adapter.server.routes import CUSTOM, CUSTOM_VERSIONS
from adapter.wire import discovery

VALUE_LIST = "MetricValueList"


@dataclass(frozen=True, slots=True)
class Documents:
    """The discovery documents of one catalog: the custom group's lists by version."""

    custom: dict[str, bytes]


GROUPS = discovery.group_list([(CUSTOM, CUSTOM_VERSIONS)])
CUSTOM_GROUP = discovery.group(CUSTOM, CUSTOM_VERSIONS)


def documents(names: Iterable[tuple[str, bool]]) -> Documents:
    """The documents for a catalog with these (name, namespaced) entries; both versions list the same."""
    listed = tuple(names)
    return Documents(
        {
            version: discovery.resource_list(f"{CUSTOM}/{version}", listed, VALUE_LIST)
            for version in CUSTOM_VERSIONS
        }
    )


class Groups:
    """This holds the documents in force; there are some from the first moment, with nothing listed."""

    def __init__(self) -> None:
        self.documents = documents(())
        self._names: tuple[tuple[str, bool], ...] = ()

    def publish(self, names: tuple[tuple[str, bool], ...]) -> None:
        """This makes the documents anew, if there is anything new."""
        if set(names) != set(self._names):
            self.documents, self._names = documents(names), names
