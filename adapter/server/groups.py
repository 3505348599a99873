"""Discovery and OpenAPI as prebuilt bytes, made when the catalog changes, served whatever else happens.

Nothing here waits for anything, and there is a document for every path before there is a catalog (docs/faults.md F27).
"""

from collections.abc import Iterable, Sequence
from typing import Final

from adapter import __version__
from adapter.server import documents
from adapter.server.documents import Document
from adapter.wire import apis, discovery, openapi
from adapter.wire.apis import Api

PLAIN: Final = ""
"""The form that every document has. The list of groups has others: the versions of the aggregated form."""

_Key = tuple[str, str]
"""A path, and the form."""


class Groups:
    """This holds the documents in force; there are some from the first moment, with nothing listed."""

    def __init__(self, served: Sequence[Api] = apis.SERVED) -> None:
        self._served = {api.group: api for api in served}
        self._names: dict[str, frozenset[tuple[str, bool]]] = {}
        self._documents = _of_groups(served) | _of_openapi(served)
        for group in self._served:
            self.publish((), group=group)

    def find(self, path: str, form: str = PLAIN) -> Document | None:
        """The document at `path` in this form, if it has it, else as it is; None: there is none."""
        return self._documents.get((path, form)) or self._documents.get((path, PLAIN))

    def publish(self, names: Iterable[tuple[str, bool]], *, group: str = apis.CUSTOM.group) -> None:
        """This makes the lists of a group anew from (name, namespaced) pairs, if there is anything new."""
        api, wanted = self._served.get(group), frozenset(names)
        if api is not None and wanted != self._names.get(group):
            self._documents |= _of_resources(api, wanted)
            self._names[group] = wanted


def _of_groups(served: Sequence[Api]) -> dict[_Key, Document]:
    listed = [(api.group, api.versions) for api in served]
    made = {("/apis", PLAIN): documents.of(discovery.group_list(listed), vary="Accept")}
    for form in discovery.AGGREGATED:
        body = discovery.aggregated(form, listed)
        made["/apis", form] = documents.of(body, discovery.aggregated_type(form), vary="Accept")
    for group, versions in listed:
        made[f"/apis/{group}", PLAIN] = documents.of(discovery.group(group, versions))
    return made


def _of_resources(api: Api, names: Iterable[tuple[str, bool]]) -> dict[_Key, Document]:
    """What each version lists: the same."""
    versions = [f"{api.group}/{version}" for version in api.versions]
    bodies = discovery.resource_lists(versions, names, api.list_kind)
    return {(f"/apis/{version}", PLAIN): documents.of(body) for version, body in bodies.items()}


def _of_openapi(served: Sequence[Api]) -> dict[_Key, Document]:
    """OpenAPI says how to ask, not what for: it never changes while the process runs."""
    made = {("/openapi/v2", PLAIN): documents.of(openapi.v2(served, __version__))}
    hashes: dict[str, str] = {}
    for api in served:
        made[f"/openapi/v3/apis/{api.group}", PLAIN] = documents.of(openapi.v3_group(api, __version__))
        for version in api.versions:
            document = documents.of(openapi.v3_version(api, version, __version__))
            made[f"/openapi/v3/apis/{api.group}/{version}", PLAIN] = document
            hashes[f"apis/{api.group}/{version}"] = document.hash
    made["/openapi/v3", PLAIN] = documents.of(openapi.v3_index(hashes))
    return made
