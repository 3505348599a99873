"""The one Secret in which the replicas keep their certificates. Its content is in no log and in no error."""

import base64
import binascii
from collections.abc import Mapping
from typing import Final

from adapter.kube.client import KubeClient
from adapter.kube.failures import BadAnswer
from adapter.kube.named import Named, translated
from adapter.wire.stored import Document, Held

TYPE: Final = "kubernetes.io/tls"
"""Of one that we make: by this other programs see what it is. The type of one that is there cannot be changed."""


class KubeSecret:
    """This reads and writes it."""

    def __init__(self, kube: KubeClient, *, namespace: str, name: str) -> None:
        self._named = Named(kube, "Secret", f"/api/v1/namespaces/{namespace}/secrets")
        self._metadata = {"name": name, "namespace": namespace}

    async def read(self) -> Held | None:
        """What it holds; None: there is no such Secret. Raises StoredError."""
        document = await self._named.read(self._metadata["name"])
        return None if document is None else _held(document)

    async def write(self, held: Held | None, data: Mapping[str, bytes]) -> Held:
        """It holds `data`, beside what else is in `held`, or as a new one. Raises Changed, StoredError."""
        packed = {key: base64.b64encode(value).decode() for key, value in data.items()}
        if held is not None:
            whole = (held.document.get("data") or {}) | packed
            return _held(await self._named.replace(held.document | {"data": whole}))
        made: Document = {"apiVersion": "v1", "kind": "Secret", "metadata": self._metadata, "type": TYPE}
        return _held(await self._named.create(made | {"data": packed}))


def _held(document: Document) -> Held:
    with translated():
        try:
            data = {key: base64.b64decode(value) for key, value in (document.get("data") or {}).items()}
        except (AttributeError, TypeError, binascii.Error) as error:
            raise BadAnswer("no Secret") from error
    return Held(data, document)
