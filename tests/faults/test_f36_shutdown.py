"""F36: SIGTERM. A real process: not ready at once, still serving, drained, exit 0; a second signal ends it at once."""

import contextlib
import http.client
import json
import signal
import socket
import ssl
import subprocess
import sys

import pytest
import yaml

from adapter.cli import parts, process
from adapter.server import self_signed
from tests.support.processes import eventually

pytestmark = pytest.mark.timeout(60)
DRAIN_SECONDS = 1


class Running:
    """The adapter as a process of its own, with a file in place of a cluster and a backend that is away."""

    def __init__(self, directory):
        self._directory, self.port = directory, process.free_port()
        self.log = directory / "log"
        objects = directory / "objects.yaml"
        objects.write_text(yaml.safe_dump(parts.objects(("web-1",))))
        words = [
            f"--secure-port={self.port}",
            f"--cert-dir={directory}",
            f"--objects={objects}",
            f"--drain-seconds={DRAIN_SECONDS}",
            "--config=@go-runtime",
            "--prometheus-url=http://127.0.0.1:1",
            "--bind-address=127.0.0.1",
            "--insecure-allow-everyone",
        ]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "adapter", "serve", *words], stderr=log, cwd=parts.ROOT
            )

    def __enter__(self):
        eventually(lambda: self.ready() == 200 or None, what="ready")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def ready(self) -> int | None:
        """The status of /readyz; None where nobody answers."""
        with contextlib.suppress(OSError):
            return self.asked("/readyz")[0]

    def connection(self) -> http.client.HTTPSConnection:
        trust = ssl.create_default_context(cafile=self._directory / self_signed.CERT_NAME)
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=10, context=trust)

    def asked(self, path: str, connection: http.client.HTTPSConnection | None = None):
        """(status, body, whether the connection ends) of a GET."""
        used = connection or self.connection()
        used.request("GET", path)
        response = used.getresponse()
        body = response.read()
        if connection is None:
            used.close()
        return response.status, body, response.will_close

    def refuses(self) -> bool | None:
        """True once nobody listens."""
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) != 0 or None

    def events(self) -> list[str]:
        return [json.loads(line)["event"] for line in self.log.read_text().splitlines()]


@pytest.fixture
def running(tmp_path):
    with Running(tmp_path) as it:
        yield it


def test_f36_sigterm_is_not_ready_at_once_then_served_then_drained(running):
    """Each answer of the drain says that it is the last of its connection; the exit code is 0."""
    kept = running.connection()
    assert running.asked("/apis", kept)[::2] == (200, False)
    running.process.send_signal(signal.SIGTERM)
    eventually(lambda: running.ready() == 503 or None, what="not ready")
    assert b"shutting_down" in running.asked("/readyz")[1]
    assert running.asked("/livez")[0] == 200  # a restart would help nobody
    assert running.asked("/apis", kept)[::2] == (200, True)
    assert running.asked("/apis")[::2] == (200, True)
    assert running.process.poll() is None
    assert running.process.wait(20) == 0
    assert running.refuses()
    events = running.events()
    assert events[-2:] == ["draining", "stopping"]
    assert "flow_failed" not in events
    kept.close()


def test_f36_caller_who_never_ends_does_not_hold_the_process(running):
    """Resting connections, and one that has not said hello, are closed with the port."""
    resting = running.connection()
    assert running.asked("/apis", resting)[0] == 200
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(20) == 0
    assert resting.sock.recv(1) == b""
    resting.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_f36_second_signal_ends_the_process_at_once(running, number):
    """Whichever it is, and in the midst of the drain."""
    running.process.send_signal(signal.SIGTERM)
    eventually(lambda: "draining" in running.events() or None, what="draining")
    running.process.send_signal(number)
    assert running.process.wait(DRAIN_SECONDS * 0.9) == 1
    assert "stopping" not in running.events()
