"""Named objects of one kind: read, made, replaced, removed, as raw JSON and never over somebody else's change.

A write says which version it is about; the API server refuses it (409) if that is not the latest any more.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Final

import msgspec

from adapter.kube.client import KubeClient
from adapter.kube.failures import BadAnswer, KubeError, NotFound, Refused
from adapter.wire.stored import Changed, Document, NotPermitted, Rejected, StoredError

SECONDS: Final = 10.0
"""One try: small objects, read and written in milliseconds."""

BY_STATUS: Final[dict[int, type[StoredError]]] = {
    HTTPStatus.CONFLICT: Changed,
    HTTPStatus.UNAUTHORIZED: NotPermitted,
    HTTPStatus.FORBIDDEN: NotPermitted,
    HTTPStatus.BAD_REQUEST: Rejected,
    HTTPStatus.UNPROCESSABLE_ENTITY: Rejected,
}

_decode: Final = msgspec.json.Decoder(dict[str, Any]).decode


class Named:
    """Objects of `kind` below `path`."""

    def __init__(self, kube: KubeClient, kind: str, path: str) -> None:
        self._kube, self._kind, self._path = kube, kind, path

    async def read(self, name: str) -> Document | None:
        """It, or None: there is none. Raises StoredError."""
        with translated():
            try:
                body = await self._kube.get_bytes(f"{self._path}/{name}", timeout=SECONDS)
            except NotFound:
                return None
            return self._document(body)

    async def create(self, document: Document) -> Document:
        """As it is now. Raises Changed if it is there already, StoredError."""
        with translated():
            return self._document(await self._kube.post_bytes(self._path, document, timeout=SECONDS))

    async def replace(self, document: Document) -> Document:
        """As it is now. Raises Changed if it is not what it was when this document was read, StoredError."""
        name = document["metadata"]["name"]
        with translated():
            try:
                body = await self._kube.put_bytes(f"{self._path}/{name}", document, timeout=SECONDS)
            except NotFound as error:
                raise Changed(error.cause, str(error)) from error
            return self._document(body)

    async def remove(self, document: Document) -> None:
        """It is gone. Raises Changed if it is not what it was when this document was read, StoredError."""
        metadata = document["metadata"]
        conditions = {key: metadata[key] for key in ("uid", "resourceVersion")}
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": conditions}
        with translated():
            try:
                await self._kube.delete_bytes(f"{self._path}/{metadata['name']}", options, timeout=SECONDS)
            except NotFound as error:
                raise Changed(error.cause, str(error)) from error

    def _document(self, body: bytes) -> Document:
        try:
            document: Document = _decode(body)
        except msgspec.MsgspecError as error:
            raise BadAnswer(f"no {self._kind}") from error
        if document.get("kind") != self._kind or not isinstance(document.get("metadata"), dict):
            raise BadAnswer(f"no {self._kind}")
        return document


@contextmanager
def translated() -> Iterator[None]:
    """A KubeError becomes a StoredError, with the API server's own words."""
    try:
        yield
    except Refused as error:
        raise BY_STATUS.get(error.status, StoredError)(error.cause, str(error)) from error
    except KubeError as error:
        raise StoredError(error.cause, f"{error.cause}: {error}") from error
