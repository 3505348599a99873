"""150,000 pods: memory per pod beside a plain dict of the same data, and the time of a selection (F25).

Argument: how many pods (150,000). Each way of holding them is a process of its own that reads the same pages of JSON,
500 pods each, as the API server sends them.
"""

import asyncio
import json
import multiprocessing
import pathlib
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from adapter.flows.mirror import Mirror
from adapter.kube.watch import KubeFeed
from adapter.telemetry.clock import SystemClock
from adapter.wire import selectors
from adapter.wire.resources import PODS
from bench import memory

NUMBER = 150_000
PAGE = 500
NAMESPACES = 50
SELECTED = "app=app-7,tier in (web, worker)"


def page_of(start: int, total: int) -> bytes:
    """One page: pods of deployments with ten replicas each."""
    end = min(start + PAGE, total)
    metadata = {"resourceVersion": "1", "continue": str(end) if end < total else ""}
    return json.dumps(
        {"metadata": metadata, "items": [{"metadata": pod(one)} for one in range(start, end)]}
    ).encode()


def pod(number: int) -> dict[str, Any]:
    owner = number // 10
    return {
        "name": f"app-{owner}-7d4b9c6f5d-{number:06}",
        "namespace": f"team-{owner % NAMESPACES}",
        "labels": {
            "app": f"app-{owner % 100}",
            "pod-template-hash": f"7d4b9c6f{owner:x}",
            "tier": "web" if owner % 2 else "batch",
            "app.kubernetes.io/managed-by": "helm",
        },
        "resourceVersion": str(number),
    }


class Pages:
    """An API server as `KubeFeed` sees it; its watch is silent."""

    def __init__(self, total: int) -> None:
        self._total = total

    async def get_bytes(self, path: str, params: Mapping[str, str], *, accept: str) -> bytes:  # noqa: ARG002 - as the client's
        """The page that is asked for."""
        return page_of(int(params.get("continue", 0)), self._total)

    async def lines(self, path: str, params: Mapping[str, str], *, accept: str):  # noqa: ARG002 - as the client's
        """Nothing happens."""
        yield b""
        await asyncio.Event().wait()


def ours(pipe, total: int) -> None:
    asyncio.run(_ours(pipe, total))


async def _ours(pipe, total: int) -> None:
    before, began = memory.resident_mib(), time.perf_counter()
    mirror = Mirror(KubeFeed(Pages(total)), SystemClock())
    store = await mirror.objects(PODS, deadline=time.monotonic() + 600)
    listed, chosen = time.perf_counter() - began, selectors.parse(SELECTED)
    began = time.perf_counter()
    found = len(store.select("team-7", chosen))
    selected = time.perf_counter() - began
    pipe.send((memory.resident_mib() - before, listed, selected, found))
    await mirror.stop()


def plain(pipe, total: int) -> None:
    before, began = memory.resident_mib(), time.perf_counter()
    held = {(one["namespace"], one["name"]): one for one in _items(total)}
    listed = time.perf_counter() - began
    began = time.perf_counter()
    found = [
        one
        for (namespace, _), one in held.items()
        if namespace == "team-7"
        and one["labels"]["app"] == "app-7"
        and one["labels"]["tier"] in ("web", "worker")
    ]
    pipe.send((memory.resident_mib() - before, listed, time.perf_counter() - began, len(found)))


def _items(total: int) -> Iterator[dict[str, Any]]:
    for start in range(0, total, PAGE):
        for one in json.loads(page_of(start, total))["items"]:
            yield one["metadata"]


def measured(holder, total: int) -> tuple[float, float, float, int]:
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=holder, args=(sending, total))
    process.start()
    try:
        return receiving.recv()
    finally:
        process.join()


def main(total: int) -> None:
    """Both, one after the other."""
    mib, listed, selected, found = measured(ours, total)
    plain_mib, plain_listed, plain_selected, plain_found = measured(plain, total)
    if found != plain_found:
        sys.exit(f"they select differently: {found} and {plain_found}")
    each, plain_each = (one * 1024 * 1024 / total for one in (mib, plain_mib))
    print(
        f"F25 {total:,} pods: {each:.0f} bytes each, {mib / plain_mib:.2f} x a plain dict ({plain_each:.0f} bytes)"
    )
    print(f"F25 the first list: {listed:.1f} s, {listed / plain_listed:.2f} x reading it into that dict")
    print(
        f"F25 a selection in one namespace: {selected * 1000:.2f} ms, {selected / plain_selected:.2f} x a look at all"
    )


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
    main(int(sys.argv[1]) if len(sys.argv) > 1 else NUMBER)
