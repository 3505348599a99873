"""The serving pair on disk, looked at again and again: a better one is taken, a broken one refused (F42)."""

import asyncio
import datetime
from collections.abc import Awaitable, Callable
from typing import Final

from adapter.server.pair import CertificateRefused, Pair, PairFiles
from adapter.server.tls import Contexts
from adapter.telemetry import logs
from adapter.telemetry.clock import Clock

LOOK_SECONDS: Final = 15.0
"""Between two looks at two small files. A new pair is to be served within 60 s; the kubelet may need most of it."""

log = logs.get("tls")


class Rotation:
    """This keeps `contexts` at the pair that `files` hold."""

    def __init__(
        self,
        files: PairFiles,
        contexts: Contexts,
        clock: Clock,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._files, self._contexts, self._clock, self._sleep = files, contexts, clock, sleep
        self._refused: object = None

    async def for_ever(self) -> None:
        """Look, and look again."""
        while True:
            self.look()
            await self._sleep(LOOK_SECONDS)

    def look(self) -> None:
        """Take the pair on disk if it is another one and fit. A line for each that is taken or refused, no more."""
        now = datetime.datetime.fromtimestamp(self._clock.now(), datetime.UTC)
        try:
            pair = self._files.read(now)
        except CertificateRefused as error:  # in the midst of a change, most likely
            self._refuse(str(error), str(error))
        else:
            if pair == self._contexts.pair:
                self._refused = None
            else:
                self._take(pair, now)
        self._contexts.warn(self._clock.now())

    def _take(self, pair: Pair, now: datetime.datetime) -> None:
        try:
            if self._contexts.pair.valid(now):
                pair.check(now)
            self._contexts.update_pair(pair.cert, pair.key, source=pair.source)
        except CertificateRefused as error:
            self._refuse(pair, str(error))
        else:
            self._refused = None
            log.info("certificate_reloaded", extra={"expires": self._contexts.not_after.isoformat()})

    def _refuse(self, what: object, why: str) -> None:
        if what != self._refused:
            log.warning("certificate_rejected", extra={"text": why, "next": "the one of before is served"})
        self._refused = what
