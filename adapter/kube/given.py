"""Whom to believe, where flags say it: files in place of what the cluster's ConfigMap says (docs/upstream.md 1)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from adapter import errors
from adapter.settings import Access

NEXT_STEP = "correct --client-ca-file or --requestheader-client-ca-file, or make the file readable"


class Source(Protocol):
    """Where the ConfigMap is read (authentication)."""

    async def read(self) -> Mapping[str, str] | None:
        """Its data; None: there is none. Raises AccessUnknown."""
        ...


class GivenAuthority:
    """This reads the ConfigMap, if it is to be read at all, and lays what was given over it.

    The files are read anew each time: CAs rotate in files too.
    """

    def __init__(self, cluster: Source, access: Access) -> None:
        self._cluster, self._access = cluster, access

    async def read(self) -> Mapping[str, str] | None:
        """The data as the ConfigMap would hold it; None: nobody says anything. Raises AccessUnknown."""
        found = None if self._access.skip_lookup else await self._cluster.read()
        given = self._given()
        return found if not given else {**(found or {}), **given}

    def _given(self) -> dict[str, str]:
        access, given = self._access, {}
        if access.client_ca_file:
            given["client-ca-file"] = _text(access.client_ca_file)
        if access.proxy_ca_file:
            given |= {
                "requestheader-client-ca-file": _text(access.proxy_ca_file),
                "requestheader-allowed-names": json.dumps(access.proxy_names),
                "requestheader-username-headers": json.dumps(access.user_headers),
                "requestheader-group-headers": json.dumps(access.group_headers),
                "requestheader-uid-headers": json.dumps(access.uid_headers),
                "requestheader-extra-headers-prefix": json.dumps(access.extra_prefixes),
            }
        return given


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise errors.AccessUnknown(f"{path} cannot be read", next_step=NEXT_STEP) from error
