"""Discovery of 10,000 metrics over TLS, five probes at once, while values are asked (G5).

One process serves both: a catalog of 10,000 metrics behind one port, an empty one behind another. What counts is the
ratio between them, and between "you have it already" (304) and the whole list (200). The load on values is wrk's, on
the port of the full catalog; the loop that answers is the same for all.
"""

import asyncio
import http.client
import json
import multiprocessing
import pathlib
import shutil
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from adapter.server.listener import Listener
from adapter.settings import Limits, Serving
from bench import answer

METRICS = 10_000
PROBES = 5
"""What the aggregator sends at once, to each group-version."""

ROUNDS = 200
CONNECTIONS = 4
"""Of the load on values: enough that the server is never idle."""

LISTS = ("/apis/custom.metrics.k8s.io/v1beta2", "/apis/custom.metrics.k8s.io/v1beta1")


def main() -> None:
    if shutil.which("wrk") is None:
        sys.exit("this needs wrk: apt-get install wrk")
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as directory:
        ready, port_of = context.Pipe()
        process = context.Process(target=server, args=(port_of, directory))
        process.start()
        try:
            told = ready.recv()
            print(f"{METRICS} metrics, {told['bytes']} bytes, made anew in {told['made_ms']:.1f} ms")
            measured(told, "alone", load=False)
            measured(told, f"while {CONNECTIONS} connections ask for values", load=True)
        finally:
            process.terminate()
            process.join()


def measured(told: dict[str, float], title: str, *, load: bool) -> None:
    wrk = loaded(told["full"]) if load else None
    try:
        full, empty = Probed(told["full"]), Probed(told["empty"])
        known = Probed(told["full"], etags=full.etags())
        for _ in range(ROUNDS):
            for one in (empty, full, known):
                one.round()
    finally:
        if wrk is not None:
            wrk.terminate()
            wrk.wait()
    print(f"{title}: {PROBES} probes at once of each of {len(LISTS)} lists, {ROUNDS} rounds")
    for name, one in (("empty 200", empty), ("full 200", full), ("full 304", known)):
        print(f"  {name:9} p50 {one.p(50):7.2f} ms   p99 {one.p(99):7.2f} ms   failures {one.failures}")
    for name, one, other in (("full/empty", full, empty), ("304/200", known, full)):
        print(f"  {name:10} {one.p(50) / other.p(50):6.2f} x p50   {one.p(99) / other.p(99):6.2f} x p99")


def loaded(port: int) -> subprocess.Popen[bytes]:
    url = f"https://127.0.0.1:{port}{answer.TARGET}"
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", "-d600s", url]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


class Probed:
    """Five kept connections to one port, and what came of their requests."""

    def __init__(self, port: int, etags: dict[str, str] | None = None) -> None:
        self.etags_known = etags or {}
        self.milliseconds: list[float] = []
        self.failures = 0
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        self._connections = [
            http.client.HTTPSConnection("127.0.0.1", port, context=trusting) for _ in range(PROBES)
        ]
        for one in self._connections:
            one.connect()

    def etags(self) -> dict[str, str]:
        """The ETag of each list."""
        return {path: self._asked(self._connections[0], path)[1] for path in LISTS}

    def round(self) -> None:
        """Each list, asked for on all connections at once."""
        for path in LISTS:
            threads = [threading.Thread(target=self._timed, args=(one, path)) for one in self._connections]
            for one in threads:
                one.start()
            for one in threads:
                one.join()

    def p(self, percent: int) -> float:
        """The percentile, in milliseconds."""
        return statistics.quantiles(self.milliseconds, n=100)[percent - 1]

    def _timed(self, connection: http.client.HTTPSConnection, path: str) -> None:
        began = time.perf_counter()
        status, _ = self._asked(connection, path)
        self.milliseconds.append((time.perf_counter() - began) * 1000)
        self.failures += status != (304 if self.etags_known else 200)

    def _asked(self, connection: http.client.HTTPSConnection, path: str) -> tuple[int, str]:
        etag = self.etags_known.get(path)
        connection.request("GET", path, headers={"If-None-Match": etag} if etag else {})
        response = connection.getresponse()
        response.read()
        return response.status, response.headers["ETag"]


def server(pipe, directory: str) -> None:
    asyncio.run(serve(pipe, directory))


async def serve(pipe, directory: str) -> None:
    full, empty = await answer.kit_of(10), await answer.kit_of(10)
    began = time.perf_counter()
    full.groups.publish(
        [(f"pods/team_{n % 50}_http_requests_{n:05}_per_second", True) for n in range(METRICS)]
    )
    made = time.perf_counter() - began
    empty.groups.publish(())
    told = {"made_ms": made * 1000, "bytes": len(full.groups.find(LISTS[0]).body)}
    for name, kit in (("full", full), ("empty", empty)):
        serving = Serving(port=0, cert_dir=directory)
        told[name] = await Listener(kit.entrance.handle, serving, Limits()).start(answer.contexts(serving))
    assert json.loads(full.groups.find(LISTS[0]).body)["resources"][METRICS - 1]["verbs"] == ["get"]
    pipe.send(told)
    await asyncio.Event().wait()


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
    main()
