"""A soak: the whole adapter under load, and whether its memory and its file descriptors grow (F38).

Arguments: seconds (60; for a verdict on leaks give it 7200), requests a second (200). The adapter is a process of its
own with all its flows, a file of objects, and a Prometheus whose values change with each query. What counts is the
slope after the first third, in which caches fill.
"""

import asyncio
import itertools
import multiprocessing
import pathlib
import ssl
import sys
import tempfile
import time

from adapter.app import App
from adapter.settings import Kubernetes, Prometheus, Relisting, Serving, Settings
from bench import answer, callers, memory
from tests.support.fake_prometheus import FakePrometheus
from tests.support.fake_prometheus_answers import sample, vector
from tests.support.kit import GOROUTINES

SECONDS = 60.0
RATE = 200.0
PODS = 50
CALLERS = 16
NEW_EACH = 4
"""One of so many callers opens a new connection for each request."""


def objects() -> str:
    pods = "".join(
        f"- {{apiVersion: v1, kind: Pod, metadata: {{name: web-{one}, namespace: default, labels: {{app: web}}}}}}\n"
        for one in range(PODS)
    )
    return f"apiVersion: v1\nkind: List\nitems:\n{pods}"


def settings(directory: pathlib.Path, url: str) -> Settings:
    (directory / "objects.yaml").write_text(objects())
    (directory / "rules.yaml").write_text(GOROUTINES)
    return Settings(
        config=(str(directory / "rules.yaml"),),
        serving=Serving("127.0.0.1", 0, insecure_allow_everyone=True, cert_dir=str(directory)),
        prometheus=Prometheus(url),
        relisting=Relisting(interval_seconds=2.0),
        kubernetes=Kubernetes(objects_file=str(directory / "objects.yaml")),
    )


def serve(pipe, chosen: Settings) -> None:
    asyncio.run(_serve(pipe, chosen))


async def _serve(pipe, chosen: Settings) -> None:
    app = App(chosen)
    await app.start()
    pipe.send(app.port)
    await app.until_drained()


async def main(seconds: float, rate: float) -> None:
    """Load, and a look at the process each second."""
    values = itertools.count()
    async with FakePrometheus() as fake:
        labels = [{"namespace": "default", "pod": f"web-{one}"} for one in range(PODS)]
        fake.series(
            'go_goroutines{job="my-go-app"}', [{"__name__": "go_goroutines", **one} for one in labels]
        )
        fake.otherwise(lambda _: vector(*(sample(one, next(values)) for one in labels)))
        with tempfile.TemporaryDirectory() as directory:
            context = multiprocessing.get_context("spawn")
            receiving, sending = context.Pipe(duplex=False)
            process = context.Process(
                target=serve, args=(sending, settings(pathlib.Path(directory), fake.url))
            )
            process.start()
            try:
                port = await asyncio.to_thread(receiving.recv)
                await soaked(process.pid, port, seconds, rate)
            finally:
                process.terminate()
                process.join()


async def soaked(pid: int, port: int, seconds: float, rate: float) -> None:
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    crowd = [callers.Caller(port, trust, keep=bool(number % NEW_EACH)) for number in range(CALLERS)]
    await asyncio.sleep(3)  # the first list of series
    looking = asyncio.create_task(looks(pid))
    tally = await callers.load(crowd, rate=rate, seconds=seconds)
    looking.cancel()
    seen = [one for one in LOOKS if one[0] > seconds / 3]
    if len(seen) < 3:
        sys.exit("F38 too short: give it 10 seconds at least")
    times, sizes, files = zip(*seen, strict=True)
    print(f"F38 {seconds:.0f} s at {rate:.0f} requests/s for {answer.TARGET}: {tally}")
    print(
        f"F38 memory: {sizes[-1]:.0f} MiB, {sizes[-1] / sizes[0]:.3f} x that after the first third, "
        f"slope {memory.slope(times, sizes) * 3600:+.1f} MiB/h"
    )
    print(
        f"F38 file descriptors: {files[0]} to {files[-1]}, slope {memory.slope(times, files) * 3600:+.1f} per hour"
    )


LOOKS: list[tuple[float, float, int]] = []


async def looks(pid: int) -> None:
    began = time.perf_counter()
    while True:
        LOOKS.append((time.perf_counter() - began, memory.resident_mib(pid), memory.open_files(pid)))
        await asyncio.sleep(1)


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
    asyncio.run(main(*[*map(float, sys.argv[1:3]), *(SECONDS, RATE)[len(sys.argv[1:3]) :]]))
