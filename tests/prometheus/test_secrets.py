"""Nothing secret of the backend's address is shown, whatever goes wrong: user, password, and the query's values."""

import asyncio
import contextlib
import logging
import re
import traceback

import pytest
from aioresponses import aioresponses

from adapter import errors
from adapter.prometheus.client import PrometheusClient
from adapter.prometheus.transport import Transport
from adapter.telemetry.logs import JsonLines
from tests.prometheus.foreign import CASES, SECRET_URL
from tests.support.clock import FakeClock

ANYWHERE = re.compile(".*")
SECRETS = ("canary", "Y2FuYXJ5")  # as it is, and as the Basic header has it
STATUSES = [200, 301, 400, 401, 403, 404, 405, 413, 422, 429, 500, 502, 503, 504]
BODIES = {
    "nothing": b"",
    "a page": b"<html>",
    "a refusal": b'{"status":"error","errorType":"bad_data","error":"parse error"}',
    "a fault": b'{"status":"error","errorType":"internal","error":"x"}',
}


@contextlib.asynccontextmanager
async def _client(url: str):
    async def sleep(_seconds: float) -> None:
        pass

    found = PrometheusClient(url, FakeClock(), Transport(sleep=sleep))
    await found.start()
    yield found
    await found.close()


async def _failures(client: PrometheusClient) -> list[errors.AdapterError]:
    with pytest.raises(errors.AdapterError) as instant:
        await client.instant("up", deadline=1005.0)
    with pytest.raises(errors.AdapterError) as series:
        await client.series("up", start=0, deadline=1005.0)
    return [instant.value, series.value]


def _shown(failures: list[errors.AdapterError], caplog: pytest.LogCaptureFixture) -> str:
    """All that a caller or a reader of the log may see."""
    texts = [f"{one} {one!r} {one.message} {one.next_step} {one.cause}" for one in failures]
    lines = [f"{vars(one)} {JsonLines().format(one)}" for one in caplog.records]
    assert lines, "each of these faults is worth a line"
    return "\n".join(texts + lines)


def _secret(text: str) -> list[str]:
    return [one for one in SECRETS if one in text]


@pytest.mark.parametrize("foreign", [one for one, _, _ in CASES], ids=lambda one: type(one).__name__)
async def test_no_fault_of_the_connection_shows_a_secret(foreign, caplog):
    """Each exception of the HTTP library, of ssl and of the system, its words as talkative as can be."""
    caplog.set_level(logging.DEBUG)
    async with _client(SECRET_URL) as client:
        with aioresponses() as wire:
            wire.post(ANYWHERE, exception=foreign, repeat=True)
            failures = await _failures(client)
    assert not _secret(_shown(failures, caplog))


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("status", STATUSES)
async def test_no_answer_shows_a_secret(status, body, caplog):
    """Each status, with a body that says something and with one that does not."""
    caplog.set_level(logging.DEBUG)
    async with _client(SECRET_URL) as client:
        with aioresponses() as wire:
            wire.post(ANYWHERE, status=status, body=body, repeat=True)
            wire.get(ANYWHERE, status=status, body=body, repeat=True)
            failures = await _failures(client)
    assert not _secret(_shown(failures, caplog))


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
        b"",
    ],
    ids=["ssh", "status", "length", "cut", "chunks", "compression", "closed"],
)
async def test_what_is_not_http_shows_no_secret(answer, caplog):
    """On a real connection; not even with the trace of the error, which a fault of ours might log."""
    caplog.set_level(logging.DEBUG)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        async with _client(SECRET_URL.replace("secret-host:9090", f"127.0.0.1:{port}")) as client:
            failures = await _failures(client)
    shown = _shown(failures, caplog)
    traces = "".join(line for one in failures for line in traceback.format_exception(one))
    assert not _secret(shown + traces)
