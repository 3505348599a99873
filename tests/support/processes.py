"""What the end-to-end tests share: paths, words, and looking until something is so."""

import subprocess  # noqa: TC003  # the alias below is read at run time
import time
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from adapter.cli import parts, process
from adapter.cli.parts import Service

PODS = ("my-go-app-a", "my-go-app-b", "my-go-app-c")
RULES = parts.ROOT / "examples" / "rules-my-go-app.yaml"
VALUES = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/pods/*/"
POLL_SECONDS = 0.1

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


def listed(document: Any) -> dict[str, str]:
    """The values of a MetricValueList as text, by name of object."""
    return {one["describedObject"]["name"]: one["value"] for one in document["items"]}


def goroutines(service: Service) -> int:
    """What an instance says of itself."""
    _, page = process.fetch(f"http://{service.address}/metrics")
    line = next(one for one in page.decode().splitlines() if one.startswith("go_goroutines "))
    return int(line.split()[1])
