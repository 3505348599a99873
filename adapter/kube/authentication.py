"""Where the API server says whom its extension servers may believe: one ConfigMap, read with one get.

The role extension-apiserver-authentication-reader allows no more than this object.
"""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from adapter import errors
from adapter.kube.client import KubeClient
from adapter.kube.failures import BadAnswer, Forbidden, KubeError, NotFound

PATH: Final = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"

SECONDS: Final = 10.0
"""One try: it is the next one that matters."""

NEXT_STEP: Final = (
    "bind the Role extension-apiserver-authentication-reader in kube-system to the adapter's service account"
)

REACH_IT: Final = "check that the API server runs and that the credentials for it are good"


class _ConfigMap(msgspec.Struct):
    kind: Literal["ConfigMap"]
    data: dict[str, str] | None = None


_decode = msgspec.json.Decoder(_ConfigMap).decode


class KubeAuthentication:
    """This reads the ConfigMap."""

    def __init__(self, kube: KubeClient) -> None:
        self._kube = kube

    async def read(self) -> Mapping[str, str] | None:
        """Its data; None: there is no such ConfigMap. Raises AccessUnknown."""
        try:
            return await self._read()
        except NotFound:
            return None
        except KubeError as error:
            next_step = NEXT_STEP if isinstance(error, Forbidden) else REACH_IT
            failure = errors.AccessUnknown(f"{PATH}: {error.cause}", next_step=next_step)
            raise failure from error

    async def _read(self) -> Mapping[str, str]:
        body = await self._kube.get_bytes(PATH, timeout=SECONDS)
        try:
            return _decode(body).data or {}
        except msgspec.MsgspecError as error:
            raise BadAnswer("no ConfigMap") from error
