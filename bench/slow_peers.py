"""Healthy callers beside 2,000 slow connections (G18, F28): how much longer they wait, and whether any is lost.

The slow ones are a process of their own: a half that never says hello, a quarter that is silent after its handshake,
a quarter that sends a byte of its head now and then. Who is closed comes again.
"""

import asyncio
import collections
import contextlib
import multiprocessing
import os
import pathlib
import ssl
import sys
import tempfile

from adapter.server import self_signed
from adapter.settings import Serving
from bench import callers
from bench.callers import HOST, Caller, Tally

SLOW = 2000
OPENED_PER_SECOND = 200
"""slowhttptest's usual rate."""

RATES = {"kept connections": 100.0, "a connection each": 20.0}
"""Requests a second. Each handshake costs both sides a millisecond or more."""

SECONDS = 20.0
WARM_UP_SECONDS = 12.0
"""Until all of the slow ones are there."""


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as directory,
        callers.adapter(Serving(port=0, cert_dir=directory)) as (port, closed),
    ):
        trust = ssl.create_default_context(cafile=pathlib.Path(directory) / self_signed.CERT_NAME)
        healthy = {
            name: [Caller(port, trust, keep=name == "kept connections") for _ in range(8)] for name in RATES
        }
        asyncio.run(measured(healthy, port))
        print(f"  closed by the adapter: {closed()}")


async def measured(healthy: dict[str, list[Caller]], port: int) -> None:
    print(f"healthy callers, alone and beside {SLOW} slow connections")
    alone = await loaded(healthy, SECONDS / 2)
    with slow_ones(port):
        await callers.load(healthy["kept connections"], rate=1.0, seconds=WARM_UP_SECONDS)
        beside = await loaded(healthy, SECONDS)
    for name, first in alone.items():
        second = beside[name]
        print(f"  {name}, {RATES[name]:.0f} requests/s")
        print(f"    alone   {first}")
        print(f"    beside  {second}")
        print(f"    ratio   {second.p(50) / first.p(50):.2f} x p50   {second.p(99) / first.p(99):.2f} x p99")
    failures = [failure for tally in beside.values() for failure in tally.failures]
    for failure, count in collections.Counter(failures).most_common(3):
        print(f"  {count} x {failure}")


async def loaded(healthy: dict[str, list[Caller]], seconds: float) -> dict[str, Tally]:
    return {
        name: await callers.load(some, rate=RATES[name], seconds=seconds) for name, some in healthy.items()
    }


@contextlib.contextmanager
def slow_ones(port: int):
    process = multiprocessing.get_context("spawn").Process(target=crowd, args=(port,))
    process.start()
    try:
        yield
    finally:
        process.terminate()
        process.join()


def crowd(port: int) -> None:
    os.nice(19)  # they are to cost the adapter its time, not its core
    asyncio.run(_crowd(port))


async def _crowd(port: int) -> None:
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    turns = asyncio.Semaphore(0)

    async def pace() -> None:
        while True:
            await asyncio.sleep(1 / OPENED_PER_SECOND)
            turns.release()

    async def slow(kind: int) -> None:
        while True:
            await turns.acquire()
            with contextlib.suppress(OSError, TimeoutError):
                await _slow(port, None if kind < 2 else trust, trickle=kind == 3)

    await asyncio.gather(pace(), *(slow(number % 4) for number in range(SLOW)))


async def _slow(port: int, trust: ssl.SSLContext | None, *, trickle: bool) -> None:
    reader, writer = await asyncio.open_connection(HOST, port, ssl=trust)
    try:
        if trickle:
            writer.write(b"GET / HTTP/1.1\r\nX-Slow: ")
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(reader.read(1), 2)
                break  # it was closed
            if trickle:
                writer.write(b"x")
    finally:
        writer.transport.abort()


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
    main()
