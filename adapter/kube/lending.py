"""Credentials of a kubeconfig for another server than its own: where that one is does not matter."""

import ssl
from typing import Final

from kubernetes.aio.client.rest import RESTClientObject

from adapter.kube import credentials
from adapter.kube.client import EXPIRY_MARGIN_SECONDS, RENEW_SECONDS
from adapter.kube.credentials import CredentialsUnusable, Loaded, Source
from adapter.telemetry.clock import Clock

FLAG: Final = "--prometheus-auth-config"


class Lending:
    """This lends what `source` has, and knows when that is worth asking for again."""

    def __init__(self, source: Source, clock: Clock) -> None:
        self._source, self._clock = source, clock
        self._loaded: Loaded | None = None
        self._made_at = 0.0

    async def lend(self) -> tuple[ssl.SSLContext, str | None, str | None]:
        """TLS, the Authorization header, the server's name. Raises ValueError, which says why there are none."""
        self._made_at = self._clock.monotonic()
        try:
            async with credentials.opened(self._source) as loaded:
                context = RESTClientObject(loaded.configuration).ssl_context
        except (CredentialsUnusable, OSError) as error:  # ssl.SSLError is an OSError
            raise ValueError(f"{FLAG}: {error}") from error
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._loaded, found = loaded, loaded.configuration
        return context, found.api_key.get(credentials.BEARER), getattr(found, "tls_server_name", None)

    def outdated(self, *, refused: bool) -> bool:
        """Whether asking again may give others; `refused`: the backend did not take these."""
        if self._loaded is None or self._loaded.files.changed():
            return True
        soon = self._clock.now() + EXPIRY_MARGIN_SECONDS
        if self._loaded.expires_at is not None and self._loaded.expires_at <= soon:
            return True
        rested = self._clock.monotonic() - self._made_at >= RENEW_SECONDS
        return refused and self._loaded.renewable and rested
