"""A real Prometheus is killed and comes back, while callers go on asking."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapter.cli.parts import Adapter, Prometheus, Service
from tests.support.processes import PODS, RULES, VALUES, asking, eventually, listed

pytestmark = [pytest.mark.xdist_group("e2e"), pytest.mark.timeout(300)]

DISCOVERY = "/apis/custom.metrics.k8s.io/v1beta2"
RECOVERY_SECONDS = 2.0
"""From the moment that Prometheus answers again."""


@pytest.fixture
def victim(services: dict[str, Service], tmp_path: Path) -> Iterator[Prometheus]:
    """A Prometheus of this test's own."""
    with Prometheus(list(services.values()), directory=tmp_path) as running:
        yield running


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
        trust = adapter.trust()
        with (
            asking(adapter.url + DISCOVERY, trust=trust) as discovery,
            asking(adapter.url + VALUES + "goroutines", trust=trust) as asked,
        ):
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
        with asking(adapter.url + VALUES + "goroutines", trust=adapter.trust()) as asked:
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
