"""Warm answers over TLS for 10 and 1,000 pods, beside a bare handler that sends the same bytes (G1, G3, G4).

Both servers run in one process after the other on one core, the load (wrk) on the other. What counts is the ratio.
"""

import asyncio
import dataclasses
import datetime
import json
import multiprocessing
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from aiohttp import web

from adapter.promql.vector import Result
from adapter.server import tls
from adapter.server.listener import Listener
from adapter.settings import Limits, Serving
from tests.support.kit import PODS, FakeBackend, goroutines

SECONDS = 6
CONNECTIONS = 16
TARGET = f"{PODS}/%2A/goroutines?labelSelector=app%3Dweb"


def main() -> None:
    if shutil.which("wrk") is None:
        sys.exit("this needs wrk: apt-get install wrk")
    for pods in (10, 1000):
        with tempfile.TemporaryDirectory() as directory:
            ours = measured(adapter_server, directory, pods)
            bare = measured(bare_server, directory, pods)
        print(f"{pods} pods, warm, TLS, {CONNECTIONS} connections, body {ours['bytes']} bytes")
        for name, one in (("adapter", ours), ("bare", bare)):
            print(
                f"  {name:8} {one['rate']:9.0f} requests/s   p50 {one['p50']:7.2f} ms   p99 {one['p99']:7.2f} ms"
            )
        print(
            f"  ratio    {ours['rate'] / bare['rate']:9.2f} of the rate    "
            f"{ours['p50'] / bare['p50']:7.2f} x p50    {ours['p99'] / bare['p99']:7.2f} x p99"
        )


def measured(server, directory: str, pods: int) -> dict[str, float]:
    ready, port_of = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=server, args=(port_of, directory, pods))
    process.start()
    try:
        port, size = ready.recv()
        url = f"https://127.0.0.1:{port}{TARGET}"
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "--latency", url]
        subprocess.run([*command[:3], "-d1s", url], check=True, capture_output=True)
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    finally:
        process.terminate()
        process.join()
    if "Non-2xx" in text:
        sys.exit(f"answers other than 200:\n{text}")
    return {
        "rate": float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]),
        "p50": milliseconds(re.search(r"50%\s+(\S+)", text)[1]),
        "p99": milliseconds(re.search(r"99%\s+(\S+)", text)[1]),
        "bytes": size,
    }


def milliseconds(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1.0, "s": 1000.0}[unit]


def adapter_server(pipe, directory: str, pods: int) -> None:
    asyncio.run(serve_adapter(pipe, directory, pods))


def bare_server(pipe, directory: str, pods: int) -> None:
    asyncio.run(serve_bare(pipe, directory, pods))


class AskedOnly(FakeBackend):
    """A backend whose answer holds just the pods that the query names, as a real one's does."""

    async def instant(self, promql: str, *, deadline: float) -> Result:
        """The samples of the pods in the query."""
        result = await super().instant(promql, deadline=deadline)
        names = set(re.search(r'pod=~"([^"]*)"', promql)[1].split("|"))
        return dataclasses.replace(
            result, samples=tuple(one for one in result.samples if one.labels["pod"] in names)
        )


async def kit_of(pods: int):
    names = [f"web-7d4b9c6f5d-{number:05}" for number in range(pods)]
    kit = await goroutines("other", ttl=3600.0, backend=AskedOnly())
    for name in names:
        kit.objects.place("pods", "default", name, labels={"app": "web", "tier": "front"})
    kit.backend.samples = [({"pod": name}, 40.0 + at / 7) for at, name in enumerate(names)]
    return kit


async def serve_adapter(pipe, directory: str, pods: int) -> None:
    kit = await kit_of(pods)
    serving = Serving(port=0, cert_dir=directory)
    listener = Listener(kit.entrance.handle, serving, Limits())
    port = await listener.start(contexts(serving))
    reply = await kit.ask(TARGET)
    pipe.send((port, len(json.dumps(reply.body, separators=(",", ":")))))
    await asyncio.Event().wait()


async def serve_bare(pipe, directory: str, pods: int) -> None:
    kit = await kit_of(pods)
    body = json.dumps((await kit.ask(TARGET)).body, separators=(",", ":")).encode()

    async def handler(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type="application/json")

    app = web.Application()
    app.router.add_get("/{tail:.*}", handler)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(
        runner, "127.0.0.1", 0, ssl_context=contexts(Serving(cert_dir=directory)).current()
    ).start()
    pipe.send((runner.addresses[0][1], len(body)))
    await asyncio.Event().wait()


def contexts(serving: Serving) -> tls.Contexts:
    return tls.contexts(serving, datetime.datetime.now(datetime.UTC))


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
    main()
