"""F37: one of the flows that run for ever fails.

To see them fail: let `supervise.for_ever` raise at once, or log without the trace, or never raise GaveUp; leave the tasks
out of what `App.until_drained` waits for; start a flow in `App.start` without `_kept`.
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from adapter.app import App, Refused
from adapter.flows import supervise
from adapter.settings import Kubernetes, Prometheus, Serving, Settings
from tests.support.clock import FakeClock
from tests.support.kit import GOROUTINES
from tests.support.sleeper import Sleeper

FLOWS = ("connections", "heartbeat", "serving-pair", "relist")

PROGRAM = """
import asyncio, sys
from adapter import app
from adapter.cli import main

class Broken(app.App):
    def __init__(self, settings):
        super().__init__(settings, sleep=lambda _: asyncio.sleep(0))

    def _kept(self, name, flow):
        async def broken():
            raise ValueError("broken on purpose")
        return super()._kept(name, broken if name == "heartbeat" else flow)

app.App = Broken
main.cli(["serve", *sys.argv[1:]])
"""


async def test_f37_a_flow_that_fails_is_told_once_and_started_again(caplog):
    """One line with the trace; after a pause the flow runs, and nothing more is said."""
    clock, runs = FakeClock(), []
    sleeper = Sleeper(clock)

    async def flow() -> None:
        runs.append(clock.monotonic())
        if len(runs) == 1:
            raise ValueError("broken on purpose")
        await asyncio.Event().wait()

    task = asyncio.create_task(supervise.for_ever("a flow", flow, clock, sleep=sleeper.sleep))
    await sleeper.pass_time(600)
    task.cancel()
    assert len(runs) == 2
    (record,) = caplog.records
    assert (record.getMessage(), record.flow) == ("flow_failed", "a flow")
    assert "broken on purpose" in str(record.exc_info[1])


async def test_f37_pauses_grow_and_five_failures_in_a_minute_are_the_end(caplog):
    """The last one is not followed by a pause: whoever started the process does better."""
    clock = FakeClock()
    sleeper = Sleeper(clock)

    async def flow() -> None:
        raise ValueError("broken on purpose")

    task = asyncio.create_task(
        supervise.for_ever("a flow", flow, clock, sleep=sleeper.sleep, random=lambda: 1.0)
    )
    await sleeper.pass_time(60)
    with pytest.raises(supervise.GaveUp, match="a flow failed 5 times within 60 s"):
        await task
    assert sleeper.slept == sorted(sleeper.slept)
    assert len(sleeper.slept) == 4
    assert [one.getMessage() for one in caplog.records] == ["flow_failed"] * 5


def settings(directory: Path) -> Settings:
    (directory / "objects.yaml").write_text("{apiVersion: v1, kind: List, items: []}")
    (directory / "rules.yaml").write_text(GOROUTINES)
    return Settings(
        config=(str(directory / "rules.yaml"),),
        serving=Serving("127.0.0.1", 0, insecure_allow_everyone=True, cert_dir=str(directory)),
        prometheus=Prometheus("http://127.0.0.1:1"),
        kubernetes=Kubernetes(objects_file=str(directory / "objects.yaml")),
    )


@pytest.mark.parametrize("name", FLOWS)
async def test_f37_each_flow_of_the_process_is_watched(name, tmp_path, caplog):
    """Whichever is given up, the process wants to end and says which one it was; the door is closed in order."""
    kept = []

    class Broken(App):
        def _kept(self, flow_name, flow):
            async def broken() -> None:
                raise ValueError("broken on purpose")

            kept.append(flow_name)
            return super()._kept(flow_name, broken if flow_name == name else flow)

    app = Broken(settings(tmp_path), sleep=lambda _: asyncio.sleep(0))
    try:
        await app.start()
        async with asyncio.timeout(5):
            with pytest.raises(Refused, match=f"{name} failed 5 times within 60 s"):
                await app.until_drained()
    finally:
        await app.stop()
    assert sorted(kept) == sorted(FLOWS)


def test_f37_the_process_ends_with_1_and_a_line(tmp_path):
    """What restarts it sees a failure, who reads its log sees five traces and the reason."""
    settings(tmp_path)
    words = [
        f"--config={tmp_path / 'rules.yaml'}",
        f"--objects={tmp_path / 'objects.yaml'}",
        f"--cert-dir={tmp_path}",
        "--prometheus-url=http://127.0.0.1:1",
        "--insecure-allow-everyone",
        "--secure-port=0",
    ]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[2],
        env={"PATH": os.environ["PATH"]},
    )
    *lines, last = done.stderr.splitlines()
    failed = [one for one in map(json.loads, lines) if one["event"] == "flow_failed"]
    assert done.returncode == 1
    assert last == "hpa-adapter: heartbeat failed 5 times within 60 s"
    assert [one["flow"] for one in failed] == ["heartbeat"] * 5
    assert all("broken on purpose" in one["trace"] for one in failed)
