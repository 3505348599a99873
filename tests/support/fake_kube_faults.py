"""What was asked of a stand-in API server, and how requests go wrong."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.support.fake_kube_refusals import Refusal


class Elsewhere(Exception):
    """The request is answered with this instead."""

    def __init__(self, response: web.Response) -> None:
        super().__init__(response.status)
        self.response = response


@dataclass(frozen=True)
class Asked:
    """One request as it came. `verb` is list, watch, get, discovery or another method's name."""

    verb: str
    what: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    subject: str = ""
    """Common name of the client certificate."""


@dataclass
class Fault:
    """How matching requests go wrong, `times` often (None: until healed)."""

    verb: str
    what: str
    status: int = 503
    body: bytes | None = None
    hang: bool = False
    drop: bool = False
    location: str = ""
    times: int | None = None
    gate: asyncio.Event | None = None
    seconds: float = 0.0
    """With `gate` or `seconds` the request is only late: it is answered well once the gate opens, or so much later."""


class Faults:
    """This counts requests, and spoils those that it was told to spoil."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.faults: list[Fault] = []
        self.forbidden: set[str] = set()
        self.busy: Counter[str] = Counter()
        self.busiest: Counter[str] = Counter()
        """How many requests about one thing are open, and how many were at most."""

    def count(self, verb: str, what: str | None = None) -> int:
        """How many requests of this kind came."""
        return sum(one.verb == verb and what in (None, one.what) for one in self.asked)

    def fail(self, verb: str, what: str, **how: Any) -> Fault:
        """Requests of this kind go wrong; `what` is as in Asked, "*" matches all."""
        fault = Fault(verb, what, **how)
        self.faults.append(fault)
        return fault

    def slow(
        self, verb: str, what: str, *, gate: asyncio.Event | None = None, seconds: float = 0.0, **how: Any
    ) -> Fault:
        """Requests of this kind are answered well, but late: once `gate` is set, or so many seconds later."""
        return self.fail(verb, what, gate=gate, seconds=seconds, **how)

    def heal(self) -> None:
        """Nothing goes wrong any more, nothing is forbidden."""
        self.faults.clear()
        self.forbidden.clear()

    def forbid(self, kind: str) -> None:
        self.forbidden.add(kind)

    @contextlib.contextmanager
    def open(self, what: str) -> Iterator[None]:
        """While this lasts, one more request about `what` is open."""
        self.busy[what] += 1
        self.busiest[what] = max(self.busy[what], self.busiest[what])
        try:
            yield
        finally:
            self.busy[what] -= 1

    def _fault(self, asked: Asked) -> Fault | None:
        for fault in self.faults:
            if fault.verb == asked.verb and fault.what in ("*", asked.what) and fault.times != 0:
                fault.times = None if fault.times is None else fault.times - 1
                return fault
        return None

    async def go_wrong(self, request: web.Request, asked: Asked) -> None:
        """This returns if the request is to be answered well. Raises Refusal, Elsewhere."""
        fault = self._fault(asked)
        if fault is None:
            return
        if fault.gate is not None or fault.seconds:
            await asyncio.sleep(fault.seconds)
            await (fault.gate.wait() if fault.gate else asyncio.sleep(0))
            return
        if fault.hang:
            await asyncio.Event().wait()
        if fault.drop and request.transport is not None:
            request.transport.abort()
        if fault.location:
            raise Elsewhere(web.Response(status=302, headers={"Location": fault.location}))
        if fault.body is not None:
            raise Elsewhere(
                web.Response(body=fault.body, status=fault.status, content_type="application/json")
            )
        raise Refusal(fault.status, "InternalError", "the stand-in was told to fail")
