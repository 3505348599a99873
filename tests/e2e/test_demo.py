"""The demo, as a user starts it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from adapter.cli import demo, parts
from tests.support.processes import eventually

pytestmark = [pytest.mark.xdist_group("e2e"), pytest.mark.timeout(300), pytest.mark.usefixtures("binary")]
"""`binary`: the service was built once, so that the demo's own build takes no time."""

PARTS = len(demo.PODS) + 2
COMMAND = [sys.executable, "-m", "adapter", "demo"]


def test_demo_once_prints_a_row_for_every_pod() -> None:
    """`demo --once` ends with 0 and prints a table with a count and a latency for each pod."""
    done = subprocess.run([*COMMAND, "--once"], cwd=parts.ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert "no value" not in done.stdout
    for pod in demo.PODS:
        row = next(line for line in done.stdout.splitlines() if "│" in line and pod in line)
        cells = [cell.strip() for cell in row.strip("│ ").split("│")]
        assert int(cells[1]) > 0
        assert cells[2].endswith(" ms")
    assert "/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/pods/*/goroutines" in done.stdout


def test_demo_stops_everything_that_it_started() -> None:
    """Told to end, the demo ends each of its processes and leaves no directory."""
    running = subprocess.Popen(
        COMMAND, cwd=parts.ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        children = eventually(lambda: _all_started(running.pid), what="all parts run", seconds=120)
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == demo.EXIT_TERMINATED
    finally:
        running.kill()
        running.wait()
    assert not [child for child in children if Path(f"/proc/{child}").exists()]


def _all_started(pid: int) -> list[str] | None:
    """The demo's children once there are as many as parts, and one of them is the adapter."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return children if len(children) == PARTS else None


def test_demo_says_what_is_missing(tmp_path: Path) -> None:
    """Without Prometheus the demo ends with 1 and one sentence that names it."""
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(
        [*COMMAND, "--once"], cwd=parts.ROOT, capture_output=True, text=True, timeout=240, env=environment
    )
    assert done.returncode == 1
    assert "the program `prometheus` is missing" in done.stderr
    assert "Traceback" not in done.stderr
