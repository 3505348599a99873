"""A process that is started, waited for and stopped, and what it takes: a program, a free port, a request."""

import contextlib
import http.client
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Self, TypeVar
from urllib.parse import urlsplit

LOOPBACK: Final = "127.0.0.1"

READY_SECONDS: Final = 60.0
"""How long a part may take to get ready: Prometheus needs 0.2 s, on a busy machine a hundred times that."""

POLL_SECONDS: Final = 0.1
ANSWER_SECONDS: Final = 15.0
"""How long one request may take: longer than the adapter gives itself."""

STOP_SECONDS: Final = 30.0
"""After SIGTERM, before SIGKILL: more than the adapter gives the requests that it is still answering."""

STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

TAIL_LINES: Final = 20
"""How much of a log a failure shows."""

Found = TypeVar("Found")


class PartError(Exception):
    """A part is missing, did not get ready or has ended: the text says which, with the tail of its log."""


class Part:
    """One process. It has a session of its own, so that Ctrl-C reaches only us, and we stop all in order."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[str | Path],
        *,
        log: Path,
        directory: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name, self.log = name, log
        self._directory, self._environment = directory, environment
        self._arguments = [str(one) for one in arguments]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:  # it may run all the same, and not be ready
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """This starts the process; its output is added to the log. Raises PartError."""
        with self.log.open("ab") as log, signals_wait():
            try:
                self._process = subprocess.Popen(  # noqa: S603  # command lines of this file, no shell
                    self._arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self._directory,
                    env=self._environment,
                    start_new_session=True,
                )
            except OSError as error:
                raise PartError(f"{self.name} can't be started: {error}") from error

    def stop(self, *, kill: bool = False) -> None:
        """This ends the process and its children, by SIGKILL if asked to or if it takes too long."""
        if self._process is None or self._process.poll() is not None:
            return
        self._tell(signal.SIGKILL if kill else signal.SIGTERM)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._tell(signal.SIGKILL)
            self._process.wait()

    def _tell(self, number: signal.Signals) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)  # its session is its group

    def finish(self, *, seconds: float) -> None:
        """This waits for a process that ends by itself. Raises PartError if it fails, or on time-out."""
        if self._process is None:
            return
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise self.failed(f"did not end within {seconds:.0f} s") from None
        if code:
            raise self.failed(f"has ended with code {code}")

    def check(self) -> None:
        """Raises PartError if the process has ended."""
        code = None if self._process is None else self._process.poll()
        if code is not None:
            raise self.failed(f"has ended with code {code}")

    def wait(self, what: str, probe: Callable[[], Found | None], *, seconds: float = READY_SECONDS) -> Found:
        """What `probe` gives once that is not None. Raises PartError if the process ends, or on time-out."""
        deadline = time.monotonic() + seconds
        while (found := probe()) is None:
            self.check()
            if time.monotonic() > deadline:
                raise self.failed(f"did not {what} within {seconds:.0f} s")
            time.sleep(POLL_SECONDS)
        return found

    def failed(self, why: str) -> PartError:
        """The failure of this part, with the tail of its log."""
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        shown = [f"    {line}" for line in text.splitlines()[-TAIL_LINES:]] or ["    (it is empty)"]
        return PartError("\n".join([f"{self.name} {why}. The end of its log:", *shown]))


@contextlib.contextmanager
def signals_wait() -> Iterator[None]:
    """In this block SIGINT and SIGTERM wait: between the start of a process and our note of it, none may end us."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is ever interrupted
        return
    came: list[int] = []
    before = {one: signal.signal(one, lambda number, _: came.append(number)) for one in STOP_SIGNALS}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
        for number in came:
            signal.raise_signal(number)


def tool(name: str, advice: str) -> str:
    """The path of a program: beside the Python that runs us, or on the PATH. Raises PartError."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise PartError(f"the program `{name}` is missing ({advice})")
    return found


def free_port() -> int:
    """A port of loopback that nobody has just now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def answers(url: str, *, trust: ssl.SSLContext | None = None) -> bool | None:
    """True if `url` answers 200, None if not yet: what Part.wait() asks."""
    try:
        return fetch(url, trust=trust)[0] == http.client.OK or None
    except OSError:
        return None


def fetch(url: str, *, trust: ssl.SSLContext | None = None) -> tuple[int, bytes]:
    """Status and body of a GET. Raises OSError."""
    parts = urlsplit(url)
    address, port = parts.hostname or "", parts.port
    connection = (
        http.client.HTTPSConnection(address, port, timeout=ANSWER_SECONDS, context=trust)
        if parts.scheme == "https"
        else http.client.HTTPConnection(address, port, timeout=ANSWER_SECONDS)
    )
    try:
        connection.request("GET", parts._replace(scheme="", netloc="").geturl())
        response = connection.getresponse()
        return response.status, response.read()
    except http.client.HTTPException as error:
        raise OSError(f"{url}: {type(error).__name__}") from error
    finally:
        connection.close()
