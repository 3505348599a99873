"""What the benches of the door share: an adapter in a process of its own, and healthy callers at a fixed rate.

The rate is kept whatever the answers take (an open loop): what has to wait counts from the time at which it was due.
"""

import asyncio
import contextlib
import logging
import multiprocessing
import ssl
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from adapter.server.listener import Listener
from adapter.server.pair import PairFiles
from adapter.server.rotation import Rotation
from adapter.settings import Limits, Serving
from adapter.telemetry.clock import SystemClock
from bench import answer

HOST = "127.0.0.1"
PODS = 10


@contextlib.contextmanager
def adapter(
    serving: Serving, look_seconds: float = 15.0
) -> Iterator[tuple[int, Callable[[], dict[str, int]]]]:
    """(port, what tells the connections that were closed by reason) of an adapter in a process of its own."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, serving, look_seconds))
    process.start()

    def closed() -> dict[str, int]:
        ours.send("closed?")
        return ours.recv()

    try:
        yield ours.recv(), closed
    finally:
        process.terminate()
        process.join()


def serve(pipe, serving: Serving, look_seconds: float) -> None:
    logging.getLogger("adapter").setLevel(logging.CRITICAL)
    asyncio.run(_serve(pipe, serving, look_seconds))


async def _serve(pipe, serving: Serving, look_seconds: float) -> None:
    kit = await answer.kit_of(PODS)
    listener, contexts = Listener(kit.entrance.handle, serving, Limits()), answer.contexts(serving)
    rotation = Rotation(
        PairFiles(serving), contexts, SystemClock(), sleep=lambda _: asyncio.sleep(look_seconds)
    )
    port = await listener.start(contexts)
    await kit.ask(answer.TARGET)  # from now on it is warm
    flows = [asyncio.create_task(one.for_ever()) for one in (listener, rotation)]
    pipe.send(port)
    while not flows[0].done():
        if await asyncio.to_thread(pipe.poll, 0.2):
            pipe.recv()
            counts = listener.connections.closed.items()
            pipe.send({reason.value: count for reason, count in counts if count})


@dataclass
class Tally:
    """What became of the requests."""

    milliseconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def p(self, percent: int) -> float:
        """The percentile, in milliseconds."""
        return statistics.quantiles(self.milliseconds, n=100)[percent - 1]

    def __str__(self) -> str:
        return (
            f"{len(self.milliseconds):6} answered  {len(self.failures):4} failed   "
            f"p50 {self.p(50):7.2f} ms   p99 {self.p(99):7.2f} ms"
        )


class Caller:
    """One healthy caller; with `keep` all its requests go over one connection, else each over one of its own."""

    def __init__(
        self, port: int, trust: ssl.SSLContext, *, keep: bool, name: str = HOST, headers: str = ""
    ) -> None:
        """`headers`: further lines of each request, each with its line end."""
        self._port, self._trust, self._keep, self._name = port, trust, keep, name
        self._renewing = False
        self._request = f"GET {answer.TARGET} HTTP/1.1\r\nHost: {HOST}\r\n{headers}\r\n".encode()
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, tally: Tally, due: float) -> None:
        """One request, that was due at this time."""
        try:
            async with asyncio.timeout(10):
                reader, writer = self._streams or await self._opened()
                writer.write(self._request)
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                await reader.readexactly(size)
                if not head.startswith(b"HTTP/1.1 200 "):
                    raise ConnectionError(head.split(b"\r\n")[0].decode())
        except (OSError, EOFError, TimeoutError) as error:
            tally.failures.append(repr(error))
            self.close()
        else:
            tally.milliseconds.append((time.perf_counter() - due) * 1000)
            if not self._keep or self._renewing:
                self._renewing = False
                self.close()

    async def _opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self._streams = await asyncio.open_connection(
            HOST, self._port, ssl=self._trust, server_hostname=self._name
        )
        return self._streams

    def renew(self) -> None:
        """After the request under way, or the next one, it opens a new connection."""
        self._renewing = True

    def close(self) -> None:
        """The next request opens a new connection."""
        if self._streams:
            self._streams[1].transport.abort()
        self._streams = None


async def load(callers: list[Caller], *, rate: float, seconds: float) -> Tally:
    """So many requests a second, by these callers in turn; each takes its next when it is done with its last."""
    tally, began = Tally(), time.perf_counter()
    waiting: asyncio.Queue[float] = asyncio.Queue()

    async def work(caller: Caller) -> None:
        while True:
            await caller.ask(tally, await waiting.get())
            waiting.task_done()

    tasks = [asyncio.create_task(work(one)) for one in callers]
    for number in range(int(rate * seconds)):
        due = began + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        waiting.put_nowait(due)
    await waiting.join()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return tally
