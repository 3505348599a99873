"""Two replicas behind haproxy, which speaks for the autoscaler with the front proxy's certificate."""

import contextlib
from collections import Counter
from pathlib import Path

import pytest

from adapter.cli import process
from adapter.cli.parts import Prometheus
from tests.support import aggregated, clusters
from tests.support.aggregated import ACCOUNT, ACCOUNT_USER, HOST, Aggregated
from tests.support.clusters import CLUSTER_IP
from tests.support.fake_kube_rbac import User
from tests.support.haproxy import Behind, Haproxy
from tests.support.processes import PODS, RULES, VALUES, asking, eventually

pytestmark = [pytest.mark.xdist_group("e2e"), pytest.mark.timeout(300)]

HPA = User(
    "system:serviceaccount:kube-system:horizontal-pod-autoscaler",
    ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"),
)
GOROUTINES = VALUES.replace("*", "%2A") + "goroutines"


def test_replicas_are_replaced_one_by_one_without_a_failed_request(
    prometheus: Prometheus, tmp_path: Path
) -> None:
    """SIGTERM to the first, back again, then the second: whoever asks meanwhile gets his value."""
    seen = replaced(prometheus, tmp_path)
    assert set(seen) == {200}, seen


def replaced(prometheus: Prometheus, tmp_path: Path) -> Counter[int]:
    """How often each status came while both were replaced."""
    pair = aggregated.serving(tmp_path)
    authority = tmp_path / "adapter-ca.crt"
    authority.write_text(pair.issuer.pem)
    ports = [process.free_port() for _ in range(2)]
    flags = (
        f"--config={RULES}",
        f"--prometheus-url={prometheus.url}",
        "--cache-ttl=1s",
        "--drain-seconds=1",  # haproxy looks five times a second
    )
    with contextlib.ExitStack() as stack:
        place = tmp_path / "cluster"
        place.mkdir()
        cluster = stack.enter_context(clusters.chosen(place, [ACCOUNT_USER]))
        cluster.apply([aggregated.pod(name) for name in PODS])
        cluster.apply(aggregated.installed(ports[0], pair.issuer))
        replicas = []
        for number, port in enumerate(ports):
            own = tmp_path / str(number)
            own.mkdir()
            replica = Aggregated(port, pair, cluster.kubeconfig(ACCOUNT), flags, directory=own)
            replicas.append(stack.enter_context(replica))
        behind = Behind([(CLUSTER_IP, port) for port in ports], HOST, authority)
        proxy = stack.enter_context(Haproxy(behind, cluster.front_proxy, HPA, directory=tmp_path))
        for replica in replicas:
            serves(replica, cluster.front_proxy)
        with asking(proxy.url + GOROUTINES) as seen:
            for replica in replicas:
                replica.stop()
                more(seen, "the other one serves")
                replica.start()
                serves(replica, cluster.front_proxy)
                more(seen, "both serve")
    return seen


def serves(replica: Aggregated, front_proxy: tuple[str, str]) -> None:
    """Asked by itself, it has values."""

    def asked() -> bool | None:
        status, _ = replica.ask(GOROUTINES, {"X-Remote-User": HPA.name}, front_proxy)
        return status == 200 or None

    eventually(asked, what="values from a replica")


def more(seen: Counter[int], what: str) -> None:
    """So many more answers have come."""
    enough = seen[200] + 20
    eventually(lambda: seen[200] > enough or None, what=what)
