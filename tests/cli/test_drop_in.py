"""The container arguments of prometheus-adapter's chart start this program as they are."""

import json
import os
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapter.cli import parts, process
from adapter.cli.process import LOOPBACK, Part
from tests.support.processes import ApiServer, eventually

RULES = """\
rules:
- seriesQuery: 'http_requests_total{namespace!="",pod!=""}'
  resources:
    overrides:
      namespace: {resource: namespace}
      pod: {resource: pod}
  metricsQuery: sum(rate(<<.Series>>{<<.LabelMatchers>>}[2m])) by (<<.GroupBy>>)
"""

PROGRAM = "from adapter.cli import main; main.adapter()"
"""What the image's /adapter runs."""


def chart(directory: Path, port: int, prometheus: str) -> list[str]:
    """The arguments as the chart writes them, in its order; paths and ports are those of this machine."""
    return [
        f"--secure-port={port}",
        f"--cert-dir={directory / 'cert'}",
        f"--prometheus-url={prometheus}",
        "--metrics-relist-interval=1m",
        "--v=4",
        f"--config={directory / 'config.yaml'}",
    ]


class Container(Part):
    """The adapter as a chart starts it, plus where the API server is, which a pod knows by itself."""

    def __init__(self, arguments: list[str], port: int, *, directory: Path) -> None:
        super().__init__(
            "adapter",
            [sys.executable, "-c", PROGRAM, *arguments],
            log=directory / "adapter.log",
            directory=parts.ROOT,
            environment={"PATH": os.environ["PATH"]},
        )
        self.url, self._certificate = f"https://{LOOPBACK}:{port}", directory / "cert" / "apiserver.crt"

    def start(self) -> None:
        """This starts it and waits until it is healthy, as the chart's probe has it."""
        super().start()
        self.wait("get healthy", lambda: self.answers("/healthz"))

    def answers(self, path: str) -> bool | None:
        try:
            trust = ssl.create_default_context(cafile=self._certificate)
        except OSError:
            return None
        return process.answers(self.url + path, trust=trust)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]


@pytest.fixture
def api_server(tmp_path: Path) -> Iterator[ApiServer]:
    file = tmp_path / "objects.yaml"
    file.write_text(yaml.safe_dump(parts.objects(["web-1"])))
    with ApiServer(file, directory=tmp_path) as running:
        yield running


def test_charts_arguments_start_the_adapter(tmp_path, api_server):
    """Healthy, and then asking the API server for pods; further flags of many manifests are taken, and named once."""
    (tmp_path / "config.yaml").write_text(RULES)
    port, nobody = process.free_port(), process.free_port()
    arguments = [
        *chart(tmp_path, port, f"http://{LOOPBACK}:{nobody}"),
        "--logtostderr=true",
        "--audit-log-path", "-",
        "-v", "6",
        "--drain-seconds", "0",
        *(f"--{one}-kubeconfig={api_server.kubeconfig}" for one in ("lister", "authentication", "authorization")),
    ]  # fmt: skip
    with Container(arguments, port, directory=tmp_path) as running:
        eventually(lambda: running.answers("/livez"), what="the adapter lives")
        [line] = [one for one in running.lines() if one["event"] == "flags_without_effect"]
        assert (line["audit"], line["logging"]) == ("audit-log-path", "logtostderr")
        [line] = [one for one in running.lines() if one["event"] == "serving"]
        assert (line["port"], line["rules"]) == (port, 1)


def test_a_mistyped_argument_is_told_with_exit_code_2(tmp_path):
    """As pflag does: before anything starts."""
    broken = Part(
        "adapter",
        [sys.executable, "-c", PROGRAM, *chart(tmp_path, 0, "http://x"), "--metrics-max-age=5"],
        log=tmp_path / "adapter.log",
        directory=parts.ROOT,
    )
    with broken, pytest.raises(process.PartError, match="missing unit in duration") as caught:
        broken.finish(seconds=30)
    assert "has ended with code 2" in str(caught.value)
