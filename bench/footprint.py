"""Memory and CPU of the process: idle, and with pods, rules and autoscalers, beside a bare aiohttp process (G6).

The requests in apiservice/ and the table of docs/operations.md ("Sizes") come from here. Each case is a process of its
own: the adapter as it is installed (access control on, an API server and a Prometheus to talk to, both stand-ins in
this process), and a bare aiohttp server that sends bytes of the same size over TLS. Memory is what the kernel counts
as resident; CPU is seconds of it per second, in thousandths of a core. What counts is the difference to the bare one.
"""

import asyncio
import contextlib
import dataclasses
import json
import os
import pathlib
import ssl
import sys
import tempfile
import time
from collections.abc import Iterator

import aiohttp
import yaml
from aiohttp import web

from adapter.cli import process
from adapter.cli.process import LOOPBACK
from tests.support.aggregator import Aggregator
from tests.support.aggregator_pki import MadeFiles
from tests.support.aggregator_process import kubeconfig
from tests.support.certificates import SERVERS, Pki
from tests.support.fake_prometheus import FakePrometheus
from tests.support.fake_prometheus_answers import Reply, success

PODS_PER_APP = 10
NAMESPACES = 20
ROUND_SECONDS = 15.0
"""An autoscaler asks once in this time."""

SECONDS = float(os.environ.get("FOOTPRINT_SECONDS", "40"))
"""Of measurement: more than one relist."""

TOKEN = "footprint"
ADAPTER_TOKEN = "adapter"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass(frozen=True)
class Case:
    """What the process has to do."""

    name: str
    pods: int = 0
    rules: int = 0
    autoscalers: int = 0


CASES = (
    Case("idle"),
    Case("1,000 pods, 100 rules", 1_000, 100),
    Case("... and 300 autoscalers", 1_000, 100, 300),
    Case("10,000 pods, 100 rules, 1,000 autoscalers", 10_000, 100, 1_000),
    Case("150,000 pods, 100 rules, 1,000 autoscalers", 150_000, 100, 1_000),
)


@dataclasses.dataclass
class Used:
    """What it took."""

    resident_mib: float
    peak_mib: float
    millicores: float
    failed: int


async def main() -> None:
    bare = {rate: await measured_bare(rate) for rate in (0, 300, 1_000)}
    print(f"{'':44} {'RSS':>9} {'peak':>9} {'CPU':>8}    beside bare aiohttp")
    for count, used in bare.items():
        shown(f"bare aiohttp, {count / ROUND_SECONDS:.0f} requests/s", used)
    for case in CASES:
        with tempfile.TemporaryDirectory() as directory:
            used = await measured(case, pathlib.Path(directory))
        shown(case.name, used, bare[case.autoscalers])


def shown(name: str, used: Used, bare: Used | None = None) -> None:
    ratio = ""
    if bare:
        ratio = f"   {used.resident_mib / bare.resident_mib:4.1f} x RSS"
        if bare.millicores >= 1:
            ratio += f"  {used.millicores / bare.millicores:4.1f} x CPU"
    failed = f"   {used.failed} FAILED" if used.failed else ""
    print(
        f"{name:44} {used.resident_mib:5.0f} MiB {used.peak_mib:5.0f} MiB {used.millicores:5.0f} m {ratio}{failed}",
        flush=True,
    )


# -- the adapter


async def measured(case: Case, directory: pathlib.Path) -> Used:
    files = MadeFiles(directory)
    async with Aggregator(files, automatic=False) as cluster, backend(case) as prometheus:
        fill(cluster, case)
        config = directory / "kubeconfig"
        config.write_text(kubeconfig(cluster.url, files.ca, ADAPTER_TOKEN))
        rules = directory / "rules.yaml"
        rules.write_text(yaml.safe_dump({"rules": [rule(number) for number in range(case.rules)]}))
        port = process.free_port()
        arguments = [
            *(sys.executable, "-m", "adapter", "serve"),
            *(f"--config={rules}", f"--prometheus-url={prometheus.url}", f"--lister-kubeconfig={config}"),
            *(f"--secure-port={port}", f"--bind-address={LOOPBACK}", f"--cert-dir={directory / 'own'}"),
        ]
        async with running(arguments, directory / "adapter.log") as pid:
            await settled(f"https://{LOOPBACK}:{port}", case)
            return await watched(pid, f"https://{LOOPBACK}:{port}", questions(case), case.autoscalers)


def fill(cluster: Aggregator, case: Case) -> None:
    cluster.reviews.know(TOKEN, "autoscaler")
    cluster.reviews.know(ADAPTER_TOKEN, "adapter")
    cluster.reviews.judge = lambda *_: True
    for number in range(NAMESPACES):
        cluster.put("namespaces", f"team-{number}")
    for number in range(case.pods):
        app = number // PODS_PER_APP
        labels = {
            "app": f"app-{app}",
            "app.kubernetes.io/instance": f"app-{app}",
            "app.kubernetes.io/managed-by": "Helm",
            "pod-template-hash": "7d4b9c6f5d",
            "tier": "backend",
        }
        cluster.put("pods", pod_name(number), namespace_of(app), labels=labels)


def rule(number: int) -> dict[str, object]:
    return {
        "seriesQuery": f'signal_{number:03}{{namespace!="",pod!=""}}',
        "resources": {
            "overrides": {"namespace": {"resource": "namespace"}, "pod": {"resource": "pod"}},
        },
        "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)",
    }


@contextlib.asynccontextmanager
async def backend(case: Case):
    """Each rule finds a series per pod, 10,000 at most; each query gets the pods of one app, ten."""
    async with FakePrometheus() as fake:
        for number in range(case.rules):
            name = f"signal_{number:03}"
            shapes = [
                {"__name__": name, "namespace": namespace_of(at // PODS_PER_APP), "pod": pod_name(at)}
                for at in range(min(case.pods, 10_000))
            ]
            body = success(shapes).body
            fake.series(rule(number)["seriesQuery"], Reply(body))
        fake.otherwise(answered)
        yield fake


def answered(query: str) -> Reply:
    names = query.partition('pod=~"')[2].partition('"')[0].split("|")
    stamp = time.time()
    result = [{"metric": {"pod": name}, "value": [stamp, str(40 + len(name))]} for name in names if name]
    return success({"resultType": "vector", "result": result})


def pod_name(number: int) -> str:
    return f"app-{number // PODS_PER_APP}-7d4b9c6f5d-{number:05}"


def namespace_of(app: int) -> str:
    return f"team-{app % NAMESPACES}"


def questions(case: Case) -> Iterator[str]:
    """What the autoscalers ask, one after the other, for ever: each its app and one of the rules."""
    while True:
        for number in range(case.autoscalers):
            app = number % (case.pods // PODS_PER_APP)
            yield (
                f"/apis/custom.metrics.k8s.io/v1beta2/namespaces/{namespace_of(app)}/pods/%2A/"
                f"signal_{number % case.rules:03}?labelSelector=app%3Dapp-{app}"
            )


async def settled(url: str, case: Case) -> None:
    """Ready, and every rule listed once."""
    async with client() as session:
        for _ in range(1_200):
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get(f"{url}/readyz") as ready:
                    if ready.status == 200 and await whole(session, url, case):
                        return
            await asyncio.sleep(0.1)
    sys.exit(f"{case.name}: not ready within two minutes")


async def whole(session: aiohttp.ClientSession, url: str, case: Case) -> bool:
    """Whether it has heard of every pod, and every rule has its metric."""
    async with session.get(f"{url}/metrics") as answer:
        lines = (await answer.text()).splitlines()
    pods = [line.split()[1] for line in lines if line.startswith('adapter_objects{resource="pods"}')]
    return pods == [f"{case.pods:.1f}"] and await listed(session, url) >= case.rules


async def listed(session: aiohttp.ClientSession, url: str) -> int:
    async with session.get(f"{url}/apis/custom.metrics.k8s.io/v1beta2") as answer:
        names = [one["name"] for one in (await answer.json())["resources"]]
    return sum(name.startswith("pods/") for name in names)


# -- the bare server


async def measured_bare(autoscalers: int) -> Used:
    with tempfile.TemporaryDirectory() as place:
        directory = pathlib.Path(place)
        certificate, key = (
            Pki().cluster.leaf("bare", usages=SERVERS, hosts=("localhost",)).write(directory, "bare")
        )
        port = process.free_port()
        arguments = [sys.executable, __file__, "bare", str(port), certificate, key]
        async with running(arguments, directory / "bare.log") as pid:
            await answering(f"https://{LOOPBACK}:{port}/")
            same = Case("", 1_000, 100, autoscalers)
            return await watched(pid, f"https://{LOOPBACK}:{port}", questions(same), autoscalers)


async def answering(url: str) -> None:
    async with client() as session:
        for _ in range(600):
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get(url):
                    return
            await asyncio.sleep(0.1)
    sys.exit(f"{url} does not answer within a minute")


def serve_bare(port: str, certificate: str, key: str) -> None:
    item = {
        "describedObject": {
            "kind": "Pod",
            "namespace": "team-1",
            "name": pod_name(10_000),
            "apiVersion": "/v1",
        },
        "metric": {"name": "signal_000", "selector": None},
        "timestamp": "2026-01-01T00:00:00Z",
        "value": "42",
    }
    body = json.dumps({"kind": "MetricValueList", "items": [item] * PODS_PER_APP}).encode()

    async def handler(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type="application/json")

    app = web.Application()
    app.router.add_get("/{tail:.*}", handler)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    web.run_app(app, host=LOOPBACK, port=int(port), ssl_context=context, access_log=None, print=None)


# -- both


@contextlib.asynccontextmanager
async def running(arguments: list[str], log: pathlib.Path):
    with log.open("wb") as out:
        child = await asyncio.create_subprocess_exec(
            *arguments, stdout=out, stderr=out, env={**os.environ, "PYTHONPATH": "."}
        )
        try:
            yield child.pid
        finally:
            child.kill()  # nobody waits for its answers any more
            await child.wait()


async def watched(pid: int, url: str, asked: Iterator[str], autoscalers: int) -> Used:
    """What the process takes while `autoscalers` ask in turn."""
    failed = 0
    began, cpu = time.perf_counter(), cpu_seconds(pid)
    async with client() as session:
        while (elapsed := time.perf_counter() - began) < SECONDS:
            if not autoscalers:
                await asyncio.sleep(SECONDS - elapsed)
                continue
            async with session.get(url + next(asked)) as answer:
                failed += answer.status != 200 or not await answer.read()
            await asyncio.sleep(ROUND_SECONDS / autoscalers)
    took = time.perf_counter() - began
    return Used(
        resident_mib=status(pid, "VmRSS") / 1024,
        peak_mib=status(pid, "VmHWM") / 1024,
        millicores=1000 * (cpu_seconds(pid) - cpu) / took,
        failed=failed,
    )


def client() -> aiohttp.ClientSession:
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    return aiohttp.ClientSession(
        headers={"Authorization": f"Bearer {TOKEN}"}, connector=aiohttp.TCPConnector(ssl=trusting)
    )


def cpu_seconds(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def status(pid: int, field: str) -> int:
    """A line of /proc/PID/status, in KiB."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith(f"{field}:"))


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
    if sys.argv[1:2] == ["bare"]:
        serve_bare(*sys.argv[2:])
    else:
        asyncio.run(main())
