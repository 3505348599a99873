"""The main job: real Go programs, a real Prometheus, the adapter as a process, real kubectl."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adapter.cli.parts import Adapter, Prometheus, Service
from adapter.wire import quantity
from tests.support import aggregated, clusters
from tests.support.aggregated import Aggregated
from tests.support.clusters import Real, StandIn
from tests.support.processes import PODS, VALUES, Kubectl, eventually, goroutines, listed

pytestmark = [pytest.mark.xdist_group("e2e"), pytest.mark.timeout(300)]

NEAR = 15
"""Goroutines that come and go with the connections of those who ask: ours, Prometheus's, the test's."""


def values(kubectl: Kubectl) -> dict[str, int]:
    answer = kubectl(VALUES + "goroutines")
    return (
        {name: int(value) for name, value in listed(json.loads(answer.stdout)).items()}
        if not answer.returncode
        else {}
    )


def test_kubectl_reads_what_each_pod_says_of_itself(kubectl: Kubectl, services: dict[str, Service]) -> None:
    """With a different load on each pod, each pod's value is the number that its own /metrics shows."""
    for number, service in enumerate(services.values()):
        service.work(100 * (number + 1), 12_000)

    def true_values() -> bool | None:
        served = values(kubectl)
        own = {pod: goroutines(service) for pod, service in services.items()}
        near = served.keys() == own.keys() and all(abs(served[pod] - own[pod]) <= NEAR for pod in own)
        return (near and min(own.values()) >= 100) or None

    assert eventually(true_values, what="the values that the pods themselves show", seconds=12)


def test_load_on_one_pod_moves_its_value_and_no_other(kubectl: Kubectl, services: dict[str, Service]) -> None:
    """When load rises in one instance, that pod's value rises by as much and falls again; the others' stay."""
    quiet = eventually(lambda: _quiet(values(kubectl)), what="all pods at rest", seconds=60)
    busy, *others = PODS
    services[busy].work(500, 5_000)
    during = eventually(lambda: _busy(values(kubectl), busy, 500), what=f"{busy} shows its load")
    assert all(abs(during[pod] - quiet[pod]) <= NEAR for pod in others)
    assert abs(during[busy] - quiet[busy] - 500) <= NEAR
    after = eventually(lambda: _quiet(values(kubectl)), what=f"{busy} at rest again")
    assert abs(after[busy] - quiet[busy]) <= NEAR


def _quiet(found: dict[str, int]) -> dict[str, int] | None:
    return found if found.keys() == set(PODS) and max(found.values()) < 50 else None


def _busy(found: dict[str, int], pod: str, least: int) -> dict[str, int] | None:
    return found if found.get(pod, 0) >= least else None


def test_both_versions_list_and_serve_the_metric(adapter: Aggregated, kubectl: Kubectl) -> None:
    """Discovery of v1beta1 and v1beta2 offers pods/goroutines, and both serve a value for every pod."""
    for version in ("v1beta1", "v1beta2"):
        base = f"/apis/custom.metrics.k8s.io/{version}"
        eventually(partial(_offers, kubectl, base), what=f"{base} lists the metric")
        path = f"{base}/namespaces/default/pods/*/goroutines"
        document = eventually(partial(_complete, adapter, path), what=f"{base} has a value for every pod")
        assert document["apiVersion"] == f"custom.metrics.k8s.io/{version}"


def _offers(kubectl: Kubectl, base: str) -> bool | None:
    document = json.loads(kubectl(base).stdout)
    return "pods/goroutines" in {one["name"] for one in document["resources"]} or None


def test_the_namespace_has_the_sum_of_its_pods(kubectl: Kubectl) -> None:
    """The rule maps namespaces too: the namespace's value is the sum over its pods."""

    def summed() -> bool | None:
        answer = kubectl("/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/metrics/goroutines")
        if answer.returncode:
            return None
        total = int(listed(json.loads(answer.stdout))["default"])
        return abs(total - sum(values(kubectl).values())) <= NEAR or None

    assert eventually(summed, what="the namespace's value is the sum")


def test_a_pod_that_goes_leaves_the_list(kubectl: Kubectl, cluster: StandIn | Real) -> None:
    """A deleted pod is gone from the list though Prometheus still has its series, and is back when it is."""
    gone = PODS[2]
    assert cluster.kubectl("lab-admin", "delete", "pod", gone, "--wait=false").returncode == 0
    try:
        eventually(
            lambda: values(kubectl).keys() == set(PODS) - {gone} or None, what=f"a list without {gone}"
        )
    finally:
        cluster.apply([aggregated.pod(gone)])
    eventually(lambda: values(kubectl).keys() == set(PODS) or None, what=f"a list with {gone}")


@pytest.mark.parametrize(
    ("path", "word"),
    [
        (VALUES + "no_such_metric", "MetricUnknown"),
        (VALUES + "goroutines?labelSelector=app%3Dnobody", "NoObjects"),
        (VALUES + "goroutines?labelSelector=app%3D%3D%3D", "InvalidSelector"),
    ],
)
def test_kubectl_shows_the_cause_of_a_refusal(kubectl: Kubectl, path: str, word: str) -> None:
    """A refused kubectl ends with 1, and what it prints has the cause word."""
    answer = kubectl(path)
    assert answer.returncode == 1
    assert word in answer.stderr, answer.stderr


def test_shipped_rules_serve_goroutines_and_latency(
    prometheus: Prometheus, services: dict[str, Service], objects_file: Path, tmp_path: Path
) -> None:
    """With --config=@go-runtime every pod has both metrics, and no goroutine waited for a minute."""
    for service in services.values():
        service.work(10, 30_000, spin=20)
    flags = ("--config=@go-runtime", f"--objects={objects_file}", "--cache-ttl=1s")
    with Adapter(prometheus.url, flags, directory=tmp_path) as shipped:
        eventually(partial(_complete, shipped, VALUES + "goroutines"), what="goroutines of every pod")
        latency = partial(_complete, shipped, VALUES + "scheduler_latency")
        values = listed(eventually(latency, what="latency of every pod"))
        assert all(0 <= quantity.parse(value) < 60_000 for value in values.values())


def _complete(adapter: Adapter | Aggregated, path: str) -> Any:
    admin = {"Authorization": f"Bearer {clusters.ADMIN['token']}"}
    status, document = adapter.get(path) if isinstance(adapter, Adapter) else adapter.ask(path, admin)
    return document if status == 200 and listed(document).keys() == set(PODS) else None
