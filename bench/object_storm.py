"""A storm of watch events: how long others wait for the loop, and whether the store grows (F24).

Arguments: seconds (10; the fault's own number is 60), events per second (1,000). What counts is the lag of the loop
beside that of an idle one in the same process, and the memory at the end beside that before the storm.
"""

import asyncio
import pathlib
import statistics
import sys
import time
from collections.abc import AsyncGenerator

from adapter.flows.mirror import Mirror
from adapter.telemetry.clock import SystemClock
from adapter.wire.objects import ADDED, BOOKMARK, DELETED, MODIFIED, Change, Listing, Object
from adapter.wire.resources import PODS, Resource
from bench import memory

SECONDS = 10.0
RATE = 1_000.0
OBJECTS = 10_000
PAGE = 500
TICK_SECONDS = 0.005


def pod(number: int, generation: int = 0) -> Object:
    labels = {"app": f"app-{number % 100}", "pod-template-hash": f"{number % 1_000:x}-{generation % 50}"}
    return Object(f"team-{number % 20}", f"web-{number}-{generation}", labels)


class Storm:
    """A feed whose watch tells `rate` events a second: a pod goes, a new one comes, a third one has new labels."""

    def __init__(self, rate: float) -> None:
        self.rate, self.told = rate, 0

    async def listing(self, resource: Resource, page: str) -> Listing:  # noqa: ARG002 - as the feed's
        """10,000 pods in pages."""
        start = int(page or 0)
        end = start + PAGE
        return Listing([pod(one) for one in range(start, end)], "1", str(end) if end < OBJECTS else "")

    async def changes(self, resource: Resource, version: str) -> AsyncGenerator[Change]:  # noqa: ARG002 - as the feed's
        """They come in bursts, as they do from a socket."""
        yield Change(BOOKMARK, version)
        began = time.perf_counter()
        while True:
            await asyncio.sleep(0.02)
            while self.told < (time.perf_counter() - began) * self.rate:
                number, generation = self.told // 3 % OBJECTS, self.told // 3 // OBJECTS
                old, new = pod(number, generation), pod(number, generation + 1)
                yield Change(DELETED, "1", old)
                yield Change(ADDED, "1", new)
                yield Change(
                    MODIFIED, "1", Object(new.namespace, new.name, {**new.labels, "zone": str(number % 3)})
                )
                self.told += 3


async def lags(seconds: float) -> list[float]:
    """By how much each sleep was too long, in milliseconds."""
    found, end = [], time.perf_counter() + seconds
    while (before := time.perf_counter()) < end:
        await asyncio.sleep(TICK_SECONDS)
        found.append((time.perf_counter() - before - TICK_SECONDS) * 1000)
    return found


def p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[98]


async def main(seconds: float, rate: float) -> None:
    """Idle, then in the storm."""
    idle = await lags(min(seconds, 5.0))
    storm = Storm(rate)
    mirror = Mirror(storm, SystemClock())
    store = await mirror.objects(PODS, deadline=time.monotonic() + 60)
    await asyncio.sleep(0.5)
    before = memory.resident_mib()
    stormy = await lags(seconds)
    after = memory.resident_mib()
    await mirror.stop()
    print(f"F24 {storm.told:,} events in {seconds:.0f} s on {len(store):,} pods")
    print(f"F24 lag of the loop, p99: {p99(stormy):.2f} ms, {p99(stormy) / p99(idle):.1f} x idle")
    print(f"F24 resident memory: {after / before:.2f} x that before the storm")


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
    asyncio.run(main(*[*map(float, sys.argv[1:3]), *(SECONDS, RATE)[len(sys.argv[1:3]) :]]))
