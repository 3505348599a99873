"""Random names, selectors and tokens: what a flood of them leaves in memory (F34).

Argument: how many requests (50,000; the fault's own number is a million). What counts is the second half beside the
first: once every cache is full nothing more stays.
"""

import asyncio
import contextlib
import itertools
import pathlib
import random
import string
import sys
import time
from collections.abc import Awaitable, Callable, Iterator

from adapter.access.permissions import Permissions
from adapter.access.tokens import Tokens
from adapter.errors import AdapterError
from adapter.wire.identity import Attributes, User
from bench import memory
from tests.support.kit import PODS, Kit, goroutines
from tests.support.reviewing import Reviewing

REQUESTS = 50_000
PARTS = 10
RATE = 400.0
"""Requests a second, by the clock that the caches see: the half that is to show no growth begins after a minute."""


async def main(requests: int) -> None:
    """Print the growth of each part."""
    kit, reviews = await goroutines(ttl=5.0), Reviewing()
    kit.backend.samples = [({"pod": "web-1"}, 1.0)]
    ask = flood(kit, Tokens(reviews, kit.clock), Permissions(reviews, kit.clock))
    for _ in range(min(requests, 1_000)):
        await next(ask)()
    sizes, began = [memory.resident_mib()], time.perf_counter()
    for _ in range(PARTS):
        for one in itertools.islice(ask, requests // PARTS):
            await one()
            kit.clock.advance(1 / RATE)
        forget(kit, reviews)
        sizes.append(memory.resident_mib())
    took = time.perf_counter() - began
    first, second = sizes[PARTS // 2] - sizes[0], sizes[-1] - sizes[PARTS // 2]
    print(
        f"F34 {requests:,} random requests in {took:.0f} s; resident MiB: {' '.join(f'{one:.0f}' for one in sizes)}"
    )
    print(
        f"F34 growth: first half {first:.1f} MiB, second half {second:.1f} MiB, "
        f"whole {sizes[-1] / sizes[0]:.2f} x the start"
    )


def flood(kit: Kit, tokens: Tokens, rights: Permissions) -> Iterator[Callable[[], Awaitable[object]]]:
    """One hostile request after the other, in turn of seven kinds."""
    chance = random.Random(34)

    def word() -> str:
        return "".join(chance.choices(string.ascii_lowercase, k=20))

    async def refused(asked: Awaitable[object]) -> None:
        with contextlib.suppress(AdapterError):
            await asked

    while True:
        yield lambda: kit.ask(f"{PODS}/*/{word()}")
        yield lambda: kit.ask(f"{PODS}/{word()}/goroutines")
        yield lambda: kit.ask(f"{PODS}/*/goroutines", {"labelSelector": f"{word()} in ({word()})"})
        yield lambda: kit.ask(f"{PODS}/*/goroutines", {"metricLabelSelector": f"{word()}={word() * 2}"})
        yield lambda: kit.ask(f"/apis/custom.metrics.k8s.io/v1beta2/{word()}/*/{word()}")
        yield lambda: tokens.user(word())
        yield lambda: refused(rights.check(User(word()), Attributes("get", path=f"/{word()}")))


def forget(kit: Kit, reviews: Reviewing) -> None:
    """The stand-ins remember what they were asked; that is no memory of the adapter's."""
    kit.backend.queries.clear()
    kit.objects.asked.clear()
    reviews.asked.clear()


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else REQUESTS))
