"""A stand-in for Prometheus behind a proxy that asks who is there.

async with GuardedPrometheus() as fake:
    fake.taken = {"Bearer one"}        # values of Authorization that are let in; others get 401
    ... fake.shown, fake.refused
"""

import ssl
from collections.abc import Mapping

from aiohttp import web

from tests.support.fake_prometheus import FakePrometheus
from tests.support.fake_prometheus_answers import Reply, status


class GuardedPrometheus(FakePrometheus):
    """The server. `taken` may be changed at any time; `refused` counts the 401s."""

    def __init__(self, *taken: str, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(tls=tls)
        self.taken, self.refused = set(taken), 0
        self.subjects: list[str] = []
        """Common names of the certificates that were shown, "" for none."""

    @property
    def shown(self) -> list[str | None]:
        """Authorization of each request, in order."""
        return [one.headers.get("Authorization") for one in self.requests]

    def _limited(self, request: web.Request, form: Mapping[str, str]) -> Reply | None:
        certificate = request.transport.get_extra_info("peercert") if request.transport else None
        subject = dict(pair for part in (certificate or {}).get("subject", ()) for pair in part)
        self.subjects.append(subject.get("commonName", ""))
        if self.taken and request.headers.get("Authorization") not in self.taken:
            self.refused += 1
            return status(401, b"who are you?")
        return super()._limited(request, form)
