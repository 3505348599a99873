"""The adapter that makes its own certificate: registered, trusted and available without anybody's help."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapter.cli import parts, process
from adapter.cli.parts import Prometheus
from adapter.cli.process import Part
from tests.support import aggregated, clusters
from tests.support.aggregated import ACCOUNT, ACCOUNT_USER, NAME, NAMESPACE
from tests.support.clusters import CLUSTER_IP, Real, StandIn
from tests.support.processes import PODS, RULES, VALUES, eventually, listed

pytestmark = [pytest.mark.xdist_group("e2e"), pytest.mark.timeout(300)]

OVERLAY = parts.ROOT / "apiservice" / "overlays" / "release"
APIS = ("v1beta1.custom.metrics.k8s.io", "v1beta2.custom.metrics.k8s.io")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StandIn | Real]:
    with clusters.chosen(tmp_path, [ACCOUNT_USER]) as running:
        running.apply([aggregated.pod(name) for name in PODS])
        yield running


def test_registration_is_trusted_without_anybody_s_help(
    cluster: StandIn | Real, prometheus: Prometheus, tmp_path: Path
) -> None:
    """From manifests without a caBundle to values through the aggregator, with the rights of the manifests alone."""
    port, kubeconfig = process.free_port(), cluster.kubeconfig(ACCOUNT)
    cluster.apply(aggregated.installed(port, None, OVERLAY))
    words = [
        *(sys.executable, "-m", "adapter", "serve", f"--config={RULES}"),
        f"--prometheus-url={prometheus.url}",
        f"--bind-address={CLUSTER_IP}",
        f"--secure-port={port}",
        f"--lister-kubeconfig={kubeconfig}",
        "--self-managed-tls",
        f"--service={NAME}",
        f"--namespace={NAMESPACE}",
        "--tls-secret=hpa-adapter-serving-cert",
        "--drain-seconds=0",
        "--metrics-relist-interval=2s",
    ]
    with Part("adapter", words, log=tmp_path / "adapter.log", directory=parts.ROOT):
        for api in APIS:
            eventually(lambda api=api: _available(cluster, api), what=f"{api} is available", seconds=90)
        found = eventually(lambda: _values(cluster), what="a value for every pod")
    assert found == set(PODS)


def _available(cluster: StandIn | Real, api: str) -> bool | None:
    return cluster.condition(api).get("status") == "True" or None


def _values(cluster: StandIn | Real) -> set[str] | None:
    done = cluster.raw("lab-admin", VALUES + "goroutines")
    found = set(listed(json.loads(done.stdout))) if not done.returncode else set()
    return found if found == set(PODS) else None
