"""A real Prometheus is killed and comes back, while callers go on asking."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from adapter.cli import process
from adapter.cli.parts import Adapter, Prometheus, Service
from tests.support.processes import PODS, RULES, VALUES, eventually, listed

pytestmark = [pytest.mark.xdist_group("e2e"), pytest.mark.timeout(300)]

DISCOVERY = "/apis/custom.metrics.k8s.io/v1beta2"
CALLERS = 4
RECOVERY_SECONDS = 2.0
"""From the moment that Prometheus answers again."""


@pytest.fixture
def victim(services: dict[str, Service], tmp_path: Path) -> Iterator[Prometheus]:
    """A Prometheus of this test's own."""
    with Prometheus(list(services.values()), directory=tmp_path) as running:
        yield running


@contextmanager
def asking(adapter: Adapter, path: str) -> Iterator[Counter[int]]:
    """Callers that ask for `path` without a pause; yields how often each status came (0: no answer at all)."""
    seen: Counter[int] = Counter()
    stop = threading.Event()
    trust = adapter.trust()

    def ask() -> None:
        while not stop.is_set():
            try:
                status, _ = process.fetch(adapter.url + path, trust=trust)
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


def complete(adapter: Adapter) -> bool | None:
    status, document = adapter.get(VALUES + "goroutines")
    return (status == 200 and listed(document).keys() == set(PODS)) or None


def refused(adapter: Adapter) -> str | None:
    status, document = adapter.get(VALUES + "goroutines")
    return document["message"] if status != 200 else None


def test_a_killed_prometheus_harms_nothing_but_values(
    victim: Prometheus, objects_file: Path, tmp_path: Path
) -> None:
    """Killed and restarted under load: discovery is always 200, values say why not, and come back within 2 s."""
    flags = (f"--config={RULES}", f"--objects={objects_file}", "--cache-ttl=0s")
    with Adapter(victim.url, flags, directory=tmp_path) as adapter:
        eventually(lambda: complete(adapter), what="values before the outage")
        with asking(adapter, DISCOVERY) as discovery, asking(adapter, VALUES + "goroutines") as asked:
            victim.stop(kill=True)
            assert "Backend" in eventually(
                lambda: refused(adapter), what="an answer that tells of the outage"
            )
            eventually(lambda: asked[503] > 20 or None, what="callers who are refused")
            victim.start()
            back = time.monotonic()
            eventually(lambda: complete(adapter), what="values after the outage", seconds=RECOVERY_SECONDS)
            assert time.monotonic() - back <= RECOVERY_SECONDS + 1
        adapter.check()
        assert set(discovery) == {200}
        assert set(asked) <= {200, 503, 504}, asked


def test_a_short_outage_is_bridged(victim: Prometheus, objects_file: Path, tmp_path: Path) -> None:
    """With the cache on, an outage shorter than 30 s costs nobody a value."""
    flags = (f"--config={RULES}", f"--objects={objects_file}", "--cache-ttl=1s")
    with Adapter(victim.url, flags, directory=tmp_path) as adapter:
        eventually(lambda: complete(adapter), what="values before the outage")
        with asking(adapter, VALUES + "goroutines") as asked:
            victim.stop(kill=True)
            before = asked[200]
            began = time.monotonic()
            eventually(
                lambda: (time.monotonic() - began > 3 and asked[200] > before + 50) or None,
                what="answers from the last snapshot",
            )
            victim.start()
        adapter.check()
        assert set(asked) == {200}, asked
