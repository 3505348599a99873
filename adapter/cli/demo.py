"""`hpa-adapter demo`: the main job on real parts, and a table of what the adapter serves."""

import contextlib
import itertools
import json
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final, NoReturn

import click
import yaml
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from adapter.cli import parts, process
from adapter.cli.parts import Adapter, Prometheus, Service
from adapter.cli.process import PartError
from adapter.wire import quantity

PODS: Final = ("my-go-app-1", "my-go-app-2", "my-go-app-3")
BUSY: Final = PODS[1]
"""The one that gets the load; the others show that nobody else's value moves."""

BASE: Final = 10
"""Goroutines of work on every pod. One that does nothing at all has no latency now and then: the Go runtime
times one scheduling event in eight, and an idle service has few."""

LEVELS: Final = (100, 200, 400, 200, 100, 0)
LEVEL_SECONDS: Final = 6
"""What the busy one gets beside that, one level after the other, for ever; with --once the highest."""

SPIN_MICROSECONDS: Final = 20
"""CPU that each of them burns every 100 ms: at 400 eight percent of a CPU, in bursts, so that they wait."""

VALUES_SECONDS: Final = 60.0
"""Until every pod has both values: two scrapes and one relist take five."""

REFRESH_SECONDS: Final = 1.0
WINDOW: Final = "4s"
"""The window of the latency: four of the demo's scrapes, as the comment in the shipped rule has it."""

SHIPPED_WINDOW: Final = "1m"
METRICS: Final = ("goroutines", "scheduler_latency")
VALUES_PATH: Final = f"/apis/custom.metrics.k8s.io/v1beta2/namespaces/{parts.NAMESPACE}/pods/*/"
MILLI: Final = 1000
EXIT_TERMINATED: Final = 128 + signal.SIGTERM


@dataclass
class Demo:
    """The parts that run. `values`: for each metric and pod, the thousandths that the adapter gave last."""

    services: list[Service]
    prometheus: Prometheus
    adapter: Adapter
    kubeconfig: Path
    values: dict[str, dict[str, int]] = field(default_factory=dict)
    answers: dict[str, tuple[int, Any]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether each pod has each value, and the busy one shows its load."""
        there = all(self.values.get(metric, {}).keys() >= set(PODS) for metric in METRICS)
        return there and self.values["goroutines"][BUSY] >= max(LEVELS) * MILLI

    def look(self) -> None:
        """This asks the adapter for both metrics of all pods. Raises PartError."""
        for part in (*self.services, self.prometheus, self.adapter):
            part.check()
        for metric in METRICS:
            try:
                status, document = self.adapter.get(VALUES_PATH + metric)
            except OSError as error:
                raise self.adapter.failed(f"does not answer ({error})") from error
            items = document["items"] if status == 200 else []  # noqa: PLR2004
            self.answers[metric] = status, document
            self.values[metric] = {
                one["describedObject"]["name"]: quantity.parse(one["value"]) for one in items
            }


@click.command(short_help="Run the main job on real parts.")
@click.option("--once", is_flag=True, help="Print the table once and end.")
def demo(*, once: bool) -> None:
    """Run three Go services, a Prometheus and the adapter on this machine, and show what the adapter serves.

    Load goes up and down on one of the three. Ctrl-C ends everything.
    """
    signal.signal(signal.SIGTERM, _terminated)
    try:
        with _running() as running:
            _show_once(running) if once else _show(running)
    except PartError as error:
        click.echo(f"demo: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        click.echo("stopped", err=True)


def _terminated(_number: int, _frame: FrameType | None) -> NoReturn:
    """SIGTERM ends the demo as Ctrl-C does: through every part's end."""
    sys.exit(EXIT_TERMINATED)


@contextlib.contextmanager
def _running() -> Iterator[Demo]:
    """All parts, started in order; they stop in the reverse order, however this ends."""
    parts.check_tools()
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hpa-adapter-demo-")))
        click.echo("building the Go service (the first time takes half a minute)", err=True)
        binary = parts.build_service(directory)
        click.echo(f"starting {len(PODS)} instances of it, Prometheus and the adapter", err=True)
        services = [stack.enter_context(Service(binary, pod, directory=directory)) for pod in PODS]
        prometheus = stack.enter_context(Prometheus(services, directory=directory))
        flags = (f"--config={_rules(directory)}", f"--objects={_objects(directory)}", "--cache-ttl=1s")
        adapter = stack.enter_context(Adapter(prometheus.url, flags, directory=directory))
        kubeconfig = directory / "kubeconfig"
        kubeconfig.write_text(json.dumps(parts.kubeconfig(adapter.url, adapter.certificate)))
        yield Demo(services, prometheus, adapter, kubeconfig)


def _rules(directory: Path) -> Path:
    """One file of two rules: the example's goroutines, and the shipped latency over the demo's own window."""
    mine = yaml.safe_load((parts.ROOT / "examples" / "rules-my-go-app.yaml").read_text())
    shipped = yaml.safe_load((parts.ROOT / "rules" / "go-runtime.yaml").read_text())
    latency = next(one for one in shipped["rules"] if one["name"]["as"] == "scheduler_latency")
    latency["metricsQuery"] = latency["metricsQuery"].replace(f"[{SHIPPED_WINDOW}]", f"[{WINDOW}]")
    file = directory / "rules.yaml"
    file.write_text(yaml.safe_dump({"rules": [*mine["rules"], latency]}))
    return file


def _objects(directory: Path) -> Path:
    file = directory / "objects.yaml"
    file.write_text(yaml.safe_dump(parts.objects(PODS)))
    return file


def _show_once(running: Demo) -> None:
    """Load on one pod, both values of every pod, one table."""
    _load(running, max(LEVELS), int(VALUES_SECONDS))
    deadline = time.monotonic() + VALUES_SECONDS
    running.look()
    while not running.complete:
        if time.monotonic() > deadline:
            raise running.adapter.failed(f"has not every value; its last answers: {running.answers}")
        time.sleep(process.POLL_SECONDS)
        running.look()
    Console().print(_table(running), _where(running), soft_wrap=True)


def _show(running: Demo) -> None:
    """The table, renewed every second, while load goes up and down."""
    levels, until = itertools.cycle(LEVELS), 0.0
    # By echo, not inside the table: what rich breaks into lines can't be copied.
    click.echo("Try in another terminal (Ctrl-C here ends all):")
    click.echo(f"  {_kubectl()} --kubeconfig={running.kubeconfig} get --raw '{VALUES_PATH}goroutines'")
    with Live(_screen(running), auto_refresh=False) as live:
        while True:
            if time.monotonic() >= until:
                until = time.monotonic() + LEVEL_SECONDS
                _load(running, next(levels), LEVEL_SECONDS)
            running.look()
            live.update(_screen(running), refresh=True)
            time.sleep(REFRESH_SECONDS)


def _load(running: Demo, level: int, seconds: int) -> None:
    """Work for every pod, and `level` goroutines more for the busy one."""
    for service in running.services:
        goroutines = BASE + (level if service.name == BUSY else 0)
        try:
            service.work(goroutines, seconds * 1000, spin=SPIN_MICROSECONDS)
        except OSError as error:
            raise service.failed(f"does not answer ({error})") from error


def _screen(running: Demo) -> RenderableType:
    """What changes on the terminal while the demo runs."""
    return Group(_table(running), _where(running))


def _table(running: Demo) -> Table:
    table = Table("pod", title="What the adapter serves, per pod")
    for metric in METRICS:
        table.add_column(metric.replace("_", " "), justify="right")
    for pod in PODS:
        goroutines, latency = (running.values.get(metric, {}).get(pod) for metric in METRICS)
        name = f"{pod} (has the load)" if pod == BUSY else pod
        table.add_row(name, _count(goroutines), _milliseconds(latency))
    return table


def _where(running: Demo) -> Text:
    places = {
        "adapter": running.adapter.url + VALUES_PATH + "goroutines",
        "Prometheus": running.prometheus.url,
        **{one.name: f"http://{one.address}/metrics" for one in running.services},
    }
    width = max(len(name) for name in places)
    return Text("\n".join(f"{name:{width}}  {place}" for name, place in places.items()), overflow="fold")


def _kubectl() -> str:
    """What to type for kubectl: its name where that is enough."""
    beside = Path(sys.executable).parent / "kubectl"
    return str(beside) if beside.exists() and not shutil.which("kubectl") else "kubectl"


def _count(milli: int | None) -> str:
    return "no value" if milli is None else f"{milli / MILLI:g}"


def _milliseconds(milli: int | None) -> str:
    """Seconds with three decimals are what the API can say; so a millisecond is the least that shows."""
    if milli is None:
        return "no value"
    return f"{milli} ms" if milli else "< 1 ms"
