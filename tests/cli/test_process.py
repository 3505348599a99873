"""A part that fails says which one it is, and shows the end of its log."""

import signal
import sys

import pytest

from adapter.cli import parts, process
from adapter.cli.process import Part, PartError


def python(program: str, directory, name: str = "sample") -> Part:
    return Part(name, [sys.executable, "-c", program], log=directory / f"{name}.log")


def test_part_that_ends_is_named_with_the_end_of_its_log(tmp_path):
    """The failure has the name, the exit code and the last twenty lines, and no more."""
    part = python("print(*range(100), sep='\\n'); raise SystemExit(3)", tmp_path)
    with part, pytest.raises(PartError) as failure:
        part.wait("get ready", lambda: None)
    lines = str(failure.value).splitlines()
    assert lines[0] == "sample has ended with code 3. The end of its log:"
    assert [line.strip() for line in lines[1:]] == [str(number) for number in range(80, 100)]


def test_part_that_never_gets_ready_is_given_up(tmp_path):
    """After the time that it has, the failure says what it did not do."""
    with (
        python("import time; time.sleep(60)", tmp_path) as part,
        pytest.raises(PartError, match="sample did not get ready within 0 s"),
    ):
        part.wait("get ready", lambda: None, seconds=0)


def test_part_that_can_not_be_started_is_named(tmp_path):
    """A program that isn't there is a failure of the part, not a traceback."""
    part = Part("sample", [tmp_path / "nothing"], log=tmp_path / "log")
    with pytest.raises(PartError, match="sample can't be started"):
        part.start()
    part.stop()


def fails_inside(part: Part) -> None:
    with part:
        part.wait("say that it is up", lambda: part.log.read_text() or None)
        raise ZeroDivisionError


def test_part_ends_with_its_block_whatever_happens(tmp_path):
    """An error in the block ends the process, and is not swallowed."""
    part = python("import time; print('up', flush=True); time.sleep(60)", tmp_path)
    with pytest.raises(ZeroDivisionError):
        fails_inside(part)
    with pytest.raises(PartError, match=r"code -15"):
        part.check()


class NeverReady(Part):
    def start(self) -> None:
        super().start()
        self.wait("get ready", lambda: None, seconds=0)


def test_part_that_does_not_get_ready_is_not_left_behind(tmp_path):
    """A part that was started, and then given up before its block began, is ended all the same."""
    part = NeverReady("sample", [sys.executable, "-c", "import time; time.sleep(60)"], log=tmp_path / "log")
    with pytest.raises(PartError, match="did not get ready"), part:
        pass
    with pytest.raises(PartError, match=r"code -15"):
        part.check()


def test_part_that_ends_by_itself_is_waited_for(tmp_path):
    """A build is done when it ends with 0; with another code it is a failure with its log."""
    with python("print('built')", tmp_path) as part:
        part.finish(seconds=30)
    with python("raise SystemExit('no such file')", tmp_path, "other") as part:
        with pytest.raises(PartError, match="other has ended with code 1"):
            part.finish(seconds=30)
        assert "no such file" in part.log.read_text()


def test_signal_while_a_process_starts_comes_after_its_start():
    """A signal in the block takes effect at its end, once, by the handler that was there before."""
    seen: list[str] = []
    before = signal.signal(signal.SIGTERM, lambda *_: seen.append("handled"))
    try:
        with process.signals_wait():
            signal.raise_signal(signal.SIGTERM)
            seen.append("end of the block")
        assert seen == ["end of the block", "handled"]
        signal.raise_signal(signal.SIGTERM)
        assert seen[2:] == ["handled"]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_missing_program_is_named_with_what_to_install():
    """One sentence: what is missing, and how to get it."""
    with pytest.raises(PartError, match=r"the program `no-such-program` is missing \(install it\)"):
        process.tool("no-such-program", "install it")


def test_nobody_listens_is_not_an_answer_yet():
    """Waiting goes on while the connection is refused."""
    assert process.answers(f"http://127.0.0.1:{process.free_port()}/") is None


def test_each_target_has_the_labels_of_its_pod():
    """Every instance is scraped with the namespace and pod labels that a scrape in a cluster sets."""
    (job,) = parts.scraping({"a": "127.0.0.1:1", "b": "127.0.0.1:2"})["scrape_configs"]
    assert job["job_name"] == "my-go-app"
    assert job["static_configs"] == [
        {"targets": ["127.0.0.1:1"], "labels": {"namespace": "default", "pod": "a"}},
        {"targets": ["127.0.0.1:2"], "labels": {"namespace": "default", "pod": "b"}},
    ]
