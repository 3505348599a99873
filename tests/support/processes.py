"""What the end-to-end tests share: paths, words, and looking until something is so."""

import json
import ssl
import subprocess  # noqa: TC003  # the alias below is read at run time
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from adapter.cli import parts, process
from adapter.cli.parts import Service
from adapter.cli.process import LOOPBACK, Part

PODS = ("my-go-app-a", "my-go-app-b", "my-go-app-c")
RULES = parts.ROOT / "examples" / "rules-my-go-app.yaml"
VALUES = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/pods/*/"
POLL_SECONDS = 0.1
CALLERS = 4

Found = TypeVar("Found")
Kubectl = Callable[[str], "subprocess.CompletedProcess[str]"]


def eventually(probe: Callable[[], Found | None], *, what: str, seconds: float = 30.0) -> Found:
    """What `probe` gives once it is not None; the test fails with `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while (found := probe()) is None:
        if time.monotonic() > deadline:
            pytest.fail(f"not within {seconds} s: {what}")
        time.sleep(POLL_SECONDS)
    return found


@contextmanager
def asking(url: str, *, trust: ssl.SSLContext | None = None) -> Iterator[Counter[int]]:
    """Callers that ask without a pause, each time on a new connection.

    Yields how often each status came, 0 for no answer at all.
    """
    seen: Counter[int] = Counter()
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            try:
                status, _ = process.fetch(url, trust=trust)
            except OSError:
                status = 0
            seen[status] += 1

    threads = [threading.Thread(target=ask) for _ in range(CALLERS)]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def listed(document: Any) -> dict[str, str]:
    """The values of a MetricValueList as text, by name of object."""
    return {one["describedObject"]["name"]: one["value"] for one in document["items"]}


def goroutines(service: Service) -> int:
    """What an instance says of itself."""
    _, page = process.fetch(f"http://{service.address}/metrics")
    line = next(one for one in page.decode().splitlines() if one.startswith("go_goroutines "))
    return int(line.split()[1])


class ApiServer(Part):
    """The stand-in API server as its own process, with the objects of a file."""

    def __init__(self, objects_file: Path, *, directory: Path) -> None:
        port = process.free_port()
        self.url = f"http://{LOOPBACK}:{port}"
        self.kubeconfig = directory / "kubeconfig-api-server"
        self.kubeconfig.write_text(json.dumps(parts.kubeconfig(self.url, None)))
        arguments = [
            sys.executable,
            "-m",
            "tests.support.fake_kube",
            f"--objects={objects_file}",
            f"--port={port}",
        ]
        super().__init__("api-server", arguments, log=directory / "api-server.log", directory=parts.ROOT)

    def start(self) -> None:
        """This starts it and waits until it answers."""
        super().start()
        self.wait("get ready", lambda: process.answers(f"{self.url}/readyz"))
