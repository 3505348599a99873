"""The adapter behind the aggregation layer: real Go programs, Prometheus and kubectl; the API server as the environment says.

With KUBEBUILDER_ASSETS the API server is a real one, otherwise its double (tests/support/clusters.py).
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from adapter.cli import process
from adapter.cli.parts import Prometheus
from tests.support import aggregated, clusters
from tests.support.aggregated import ACCOUNT, ACCOUNT_USER, Aggregated
from tests.support.clusters import Real, StandIn
from tests.support.processes import PODS, RULES, VALUES, eventually, listed

pytestmark = [pytest.mark.xdist_group("e2e"), pytest.mark.timeout(300)]

CUSTOM = "/apis/custom.metrics.k8s.io"
APIS = ("v1beta1.custom.metrics.k8s.io", "v1beta2.custom.metrics.k8s.io")
GOROUTINES = f"{VALUES}goroutines"
NOTICED_SECONDS = 90.0
"""A real API server looks every 30 s."""

HPA = {
    "token": "hpa",
    "name": "system:serviceaccount:kube-system:horizontal-pod-autoscaler",
    "groups": ["system:serviceaccounts", "system:serviceaccounts:kube-system"],
}
USERS = [HPA, ACCOUNT_USER, {"token": "mallory", "name": "mallory"}]

Cluster = StandIn | Real


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with clusters.chosen(tmp_path_factory.mktemp("cluster"), USERS) as running:
        running.apply([aggregated.pod(name) for name in PODS])
        yield running


@pytest.fixture(scope="module")
def adapter(
    cluster: Cluster, prometheus: Prometheus, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Aggregated]:
    """Installed by its manifests, with no more rights than those give."""
    place, port = tmp_path_factory.mktemp("adapter"), process.free_port()
    pair = aggregated.serving(place)
    cluster.apply(aggregated.installed(port, pair.issuer))
    flags = (f"--config={RULES}", f"--prometheus-url={prometheus.url}", "--cache-ttl=1s")
    kubeconfig = cluster.kubeconfig(ACCOUNT)
    with Aggregated(port, pair, kubeconfig, flags, directory=place) as running:
        for api in APIS:
            available(cluster, api)
        eventually(lambda: values(cluster, str(HPA["name"])), what="a value for every pod")
        yield running


def available(cluster: Cluster, api: str) -> dict[str, str]:
    """The condition once it is true."""

    def condition() -> dict[str, str] | None:
        found = cluster.condition(api)
        return found if found.get("status") == "True" else None

    return eventually(condition, what=f"{api} is available", seconds=NOTICED_SECONDS)


def values(cluster: Cluster, user: str) -> dict[str, str] | None:
    """The value of every pod, as this user; None if there are not all of them."""
    done = cluster.raw(user, GOROUTINES)
    found = listed(json.loads(done.stdout)) if not done.returncode else {}
    return found if found.keys() == set(PODS) else None


def message(done: Any) -> str:
    """What kubectl printed of a refusal."""
    assert done.returncode == 1
    return str(done.stderr)


@pytest.mark.usefixtures("adapter")
def test_both_versions_are_available(cluster: Cluster) -> None:
    """The API server's own checks pass: the name, the CA, the front proxy, discovery without a review."""
    for api in APIS:
        condition = available(cluster, api)
        assert (condition["reason"], condition["message"]) == ("Passed", "all checks passed")


@pytest.mark.usefixtures("adapter")
def test_the_autoscaler_gets_a_value_for_every_pod(cluster: Cluster) -> None:
    """Through the aggregator, as the service account that a fresh cluster gives the right to."""
    found = eventually(lambda: values(cluster, str(HPA["name"])), what="a value for every pod")
    assert all(int(value) > 0 for value in found.values())


@pytest.mark.usefixtures("adapter")
def test_a_user_without_rights_reads_discovery_and_no_values(cluster: Cluster) -> None:
    """403 names the user; what metrics there are is for everybody who is somebody."""
    assert 'User "mallory" cannot get resource "pods/goroutines"' in message(
        cluster.raw("mallory", GOROUTINES)
    )
    document = json.loads(cluster.raw("mallory", f"{CUSTOM}/v1beta2").stdout)
    assert "pods/goroutines" in {one["name"] for one in document["resources"]}


@pytest.mark.usefixtures("adapter")
def test_a_role_opens_one_metric_in_one_namespace(cluster: Cluster) -> None:
    """An ordinary Role; impersonation reaches the adapter as the one who is impersonated."""
    rule = {"apiGroups": ["custom.metrics.k8s.io"], "resources": ["pods/goroutines"], "verbs": ["get"]}
    metadata = {"name": "goroutines", "namespace": "default"}
    api = "rbac.authorization.k8s.io"
    cluster.apply(
        [
            {"apiVersion": f"{api}/v1", "kind": "Role", "metadata": metadata, "rules": [rule]},
            {
                "apiVersion": f"{api}/v1",
                "kind": "RoleBinding",
                "metadata": metadata,
                "roleRef": {"apiGroup": api, "kind": "Role", "name": "goroutines"},
                "subjects": [{"apiGroup": api, "kind": "User", "name": "jane"}],
            },
        ]
    )

    def as_jane() -> Any:
        done = cluster.kubectl("lab-admin", "--as=jane", "get", "--raw", GOROUTINES)
        return listed(json.loads(done.stdout)) if not done.returncode else None

    assert eventually(as_jane, what="jane's values").keys() <= set(PODS)
    refused = cluster.kubectl("lab-admin", "--as=jane", "get", "--raw", f"{VALUES}other")
    assert 'User "jane" cannot get resource "pods/other"' in message(refused)


@pytest.mark.usefixtures("adapter")
def test_nobody_is_refused(cluster: Cluster) -> None:
    """Without a credential 403, with a bad one 401: the request never reaches the adapter."""
    status, body = cluster.anonymous(GOROUTINES)
    assert (status, "system:anonymous" in json.loads(body)["message"]) == (403, True)
    assert "Unauthorized" in message(cluster.raw("nobody's", GOROUTINES))


def test_on_its_own_port_the_adapter_asks_too(adapter: Aggregated) -> None:
    """Who goes round the aggregator is asked for credentials and rights; what they claim in headers is nothing."""
    claims = {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}
    assert adapter.ask(GOROUTINES)[0] == 401
    assert adapter.ask(GOROUTINES, claims)[0] == 401
    assert adapter.ask(GOROUTINES, {"Authorization": "Bearer bad"})[0] == 401
    assert adapter.ask(GOROUTINES, {"Authorization": f"Bearer {HPA['token']}"})[0] == 200
    status, document = adapter.ask(GOROUTINES, {"Authorization": "Bearer mallory"})
    assert (status, 'User "mallory"' in document["message"]) == (403, True)


def test_the_front_proxy_speaks_for_users(cluster: Cluster, adapter: Aggregated) -> None:
    """With its certificate the headers count, and are what the adapter asks the API server about."""
    proxy = cluster.front_proxy
    assert adapter.ask(GOROUTINES, client=proxy)[0] == 401
    assert adapter.ask(GOROUTINES, {"X-Remote-User": str(HPA["name"])}, proxy)[0] == 200
    masters = {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}
    assert adapter.ask(GOROUTINES, masters, proxy)[0] == 200
    status, document = adapter.ask(GOROUTINES, {"X-Remote-User": "mallory"}, proxy)
    assert status == 403
    assert document["message"].startswith(
        'pods.custom.metrics.k8s.io "*" is forbidden: User "mallory" cannot get resource "pods/goroutines"'
        ' in API group "custom.metrics.k8s.io" in the namespace "default"'
    )


@pytest.mark.usefixtures("adapter")
def test_kubectl_lists_the_group_s_versions(cluster: Cluster) -> None:
    """kubectl's own discovery has both versions, and no complaint about any group."""
    done = cluster.kubectl("mallory", "api-versions")
    assert {f"custom.metrics.k8s.io/{version}" for version in ("v1beta1", "v1beta2")} <= set(
        done.stdout.split()
    )
    assert done.stderr == ""


def test_killed_it_is_unavailable_and_comes_back_by_itself(cluster: Cluster, adapter: Aggregated) -> None:
    """The condition tells what failed; callers get 503; started again, all is as before."""
    adapter.stop(kill=True)
    refused = message(cluster.raw(str(HPA["name"]), GOROUTINES))
    assert (
        "error trying to reach service" in refused
        or "service unavailable" in refused
        or "currently unable" in refused
    )

    def gone() -> dict[str, str] | None:
        found = [cluster.condition(api) for api in APIS]
        return found[0] if all(one.get("status") == "False" for one in found) else None

    condition = eventually(gone, what="both APIServices are unavailable", seconds=NOTICED_SECONDS)
    assert condition["reason"] == "FailedDiscoveryCheck"
    assert "connection refused" in condition["message"]
    adapter.start()
    for api in APIS:
        available(cluster, api)
    eventually(lambda: values(cluster, str(HPA["name"])), what="values after the outage")
    adapter.check()
