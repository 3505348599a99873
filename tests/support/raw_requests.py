"""The corpus of tests/data/raw-requests.yaml: requests as bytes, ordinary and hostile, and what must be answered.

As a program it holds the corpus against the adapter with whatever parser aiohttp has in that process:
`AIOHTTP_NO_EXTENSIONS=1 python -m tests.support.raw_requests`.
"""

import asyncio
import contextlib
import json
import re
import ssl
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from aiohttp.http_parser import HttpRequestParser, HttpRequestParserPy

from tests.support.doors import OpenDoor, open_door
from tests.support.eventually import PATIENCE_SECONDS
from tests.support.kit import goroutines

PARSER_IN_PYTHON = HttpRequestParser is HttpRequestParserPy
SENTINEL = b"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
REPEATED = re.compile(r"<(.+?)\*(\d+)>", re.DOTALL)

Answer = tuple[int, dict[str, str], bytes]


@dataclass(frozen=True)
class Raw:
    """A request and what is answered. If the connection does not close, it lives."""

    name: str
    send: bytes
    answers: list[int]
    closes: bool = False

    async def told(self, door: OpenDoor) -> bytes:
        """All that is answered until the connection ends; if it lives, we end it by one more request."""
        peer = await door.connect()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await peer.send(self.send)
            if not self.closes:
                await peer.send(SENTINEL)
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await peer.rest()

    def check(self, received: bytes) -> None:
        """The answers are those that are listed, in JSON, without an echo, and nothing else came."""
        answers = answers_in(received, headless=self.send.startswith(b"HEAD"))
        if not self.closes:
            status, _, body = answers.pop()
            assert (status, body) == (200, b"ok")
        assert [status for status, _, _ in answers] == self.answers
        assert b"secret" not in received
        for status, headers, body in answers:
            if status >= 400 and body:
                assert headers["Content-Type"].startswith("application/json")
                assert json.loads(body)["kind"] == "Status"


def corpus() -> list[Raw]:
    """All of it, as it is for the parser of this process."""
    text = (Path(__file__).parents[1] / "data" / "raw-requests.yaml").read_text()
    return [_raw(entry) for entry in yaml.safe_load(text)]


def _raw(entry: dict) -> Raw:
    send = REPEATED.sub(lambda found: found[1] * int(found[2]), entry["send"]).encode("latin-1")
    expected = entry.get("python", entry) if PARSER_IN_PYTHON else entry
    return Raw(entry["name"], send, expected["answers"], expected.get("closes", False))


def answers_in(data: bytes, *, headless: bool) -> list[Answer]:
    """Every answer in what a server sent until it closed; fails on a byte that belongs to none."""
    found = []
    while data:
        head, separator, data = data.partition(b"\r\n\r\n")
        assert separator, head
        first, *lines = head.decode("latin-1").split("\r\n")
        assert first.startswith("HTTP/1."), first
        headers = dict(line.split(": ", 1) for line in lines)
        size = 0 if headless and not found else int(headers["Content-Length"])
        body, data = data[:size], data[size:]
        assert len(body) == size
        found.append((int(first.split()[1]), headers, body))
    return found


@contextlib.asynccontextmanager
async def adapters_door() -> AsyncIterator[OpenDoor]:
    """An open door with the adapter's own handlers."""
    kit = await goroutines()
    async with open_door(kit.entrance.handle) as door:
        yield door


async def _all() -> None:
    requests = corpus()
    async with adapters_door() as door:
        received = await asyncio.gather(*(raw.told(door) for raw in requests))
    for raw, data in zip(requests, received, strict=True):
        try:
            raw.check(data)
        except AssertionError as error:
            sys.exit(f"{raw.name}: {error}")


if __name__ == "__main__":
    asyncio.run(_all())
    sys.stdout.write(f"parser in Python: {PARSER_IN_PYTHON}\n")
