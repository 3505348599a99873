"""Every route by every kind of caller with every method, on the adapter's own port, against one table.

The API server is the one of tests/support/clusters.py; no backend is needed to be refused. To see it fail: give a
row of the adapter's table another access, or let `entrance` look at the method first.
"""

import http.client
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from adapter.cli import process
from adapter.server import routes
from tests.support import aggregated, clusters
from tests.support.aggregated import ACCOUNT, ACCOUNT_USER, Aggregated
from tests.support.certificates import PROXY_NAME, Pki
from tests.support.clusters import Real, StandIn
from tests.support.processes import RULES

pytestmark = [pytest.mark.xdist_group("e2e"), pytest.mark.timeout(300)]

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")
HPA = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"
USERS = [ACCOUNT_USER, {"token": "hpa", "name": HPA}, {"token": "mallory", "name": "mallory"}]
FILLED = {"namespace": "default", "resource": "pods", "name": "*", "metric": "goroutines", "check": "ping"}
UNKNOWN = ("/nosuch", "/debug/pprof/", "/metrics/cadvisor", "/logs/kube-apiserver.log")

IN, NOBODY, MAY_NOT, NO_HANDSHAKE = "in", 401, 403, None

KINDS = ("open", "discovery", "root", "metrics", "values", "unknown")
TABLE = {
    #                                   open          discovery     root          metrics       values        unknown
    "nothing": (IN, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY),
    "headers without a certificate": (IN, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY),
    "another CA's certificate": (NO_HANDSHAKE,) * 6,
    "the cluster's CA, front proxy's name": (IN, IN, MAY_NOT, MAY_NOT, MAY_NOT, MAY_NOT),
    "front proxy for nobody": (IN, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY),
    "front proxy for one without rights": (IN, IN, IN, MAY_NOT, MAY_NOT, MAY_NOT),
    "front proxy for one with rights": (IN, IN, IN, MAY_NOT, IN, MAY_NOT),
    "front proxy for an administrator": (IN,) * 6,
    "front proxy's CA, another name": (IN, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY),
    "bad token": (IN, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY),
    "token without rights": (IN, IN, MAY_NOT, MAY_NOT, MAY_NOT, MAY_NOT),
    "token with rights": (IN, IN, MAY_NOT, MAY_NOT, IN, MAY_NOT),
    "administrator's token": (IN,) * 6,
}
"""What each kind of caller gets. Discovery is for all whom the front proxy names, and by review for others."""


@dataclass(frozen=True)
class Caller:
    """What a caller shows."""

    headers: dict[str, str] = field(default_factory=dict)
    certificate: tuple[str, str] | None = None


def paths() -> Iterator[tuple[str, str]]:
    """(kind, path) of each route of the adapter's table, in each version, and of some that are not in it."""
    for row in routes.TABLE:
        kind = {"/": "root", "/metrics": "metrics"}.get(row.pattern)
        kind = kind or {"open": "open", "discovery": "discovery", "review": "values"}[row.access]
        found = {row.pattern.format(version=version, **FILLED) for version in ("v1beta1", "v1beta2")}
        # The external group has one version.
        yield from ((kind, path) for path in sorted(found) if routes.match(path) is not None)
    yield from (("unknown", path) for path in UNKNOWN)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn | Real]:
    with clusters.chosen(tmp_path_factory.mktemp("cluster"), USERS) as running:
        yield running


@pytest.fixture(scope="module")
def adapter(cluster: StandIn | Real, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aggregated]:
    """With its manifests' rights, and a backend that is away."""
    place, port = tmp_path_factory.mktemp("adapter"), process.free_port()
    pair = aggregated.serving(place)
    cluster.apply(aggregated.installed(port, pair.issuer))
    flags = (f"--config={RULES}", f"--prometheus-url=http://127.0.0.1:{process.free_port()}")
    with Aggregated(port, pair, cluster.kubeconfig(ACCOUNT), flags, directory=place) as running:
        yield running


@pytest.fixture(scope="module")
def callers(cluster: StandIn | Real, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Caller]:
    place, own = tmp_path_factory.mktemp("callers"), cluster.files.pki
    masters = {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}
    front = cluster.front_proxy
    return {
        "nothing": Caller(),
        "headers without a certificate": Caller(masters),
        "another CA's certificate": Caller(masters, Pki().other.leaf(PROXY_NAME).write(place, "other")),
        "the cluster's CA, front proxy's name": Caller(
            masters, own.cluster.leaf(PROXY_NAME).write(place, "user")
        ),
        "front proxy for nobody": Caller(certificate=front),
        "front proxy for one without rights": Caller({"X-Remote-User": "mallory"}, front),
        "front proxy for one with rights": Caller({"X-Remote-User": HPA}, front),
        "front proxy for an administrator": Caller(masters, front),
        "front proxy's CA, another name": Caller(
            masters, own.proxy.leaf("somebody").write(place, "somebody")
        ),
        "bad token": Caller({"Authorization": "Bearer bad"}),
        "token without rights": Caller({"Authorization": "Bearer mallory"}),
        "token with rights": Caller({"Authorization": "Bearer hpa"}),
        "administrator's token": Caller({"Authorization": "Bearer admin"}),
    }


@pytest.mark.parametrize("who", TABLE)
def test_every_route_with_every_method(adapter: Aggregated, callers: dict[str, Caller], who: str) -> None:
    """Who may come in gets past the door with GET, and 405 with any other method; who may not is told nothing else."""
    expected = dict(zip(KINDS, TABLE[who], strict=True))
    address = adapter.url.removeprefix("https://")
    connection = http.client.HTTPSConnection(
        address, timeout=process.ANSWER_SECONDS, context=adapter.trust(callers[who].certificate)
    )
    wrong = []
    try:
        for kind, path in paths():
            for method in METHODS:
                wanted = expected[kind]
                if wanted == IN and method != "GET":
                    wanted = 405
                found = asked(connection, method, path, callers[who].headers)
                good = found not in (None, 401, 403, 405) if wanted == IN else found == wanted
                if not good:
                    wrong.append((method, path, found, wanted))
    finally:
        connection.close()
    assert wrong == []


def asked(
    connection: http.client.HTTPSConnection, method: str, path: str, headers: dict[str, str]
) -> int | None:
    """The status, or None if there was no answer."""
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        answer.read()
    except OSError:
        connection.close()
        return None
    return answer.status


def test_the_table_is_whole() -> None:
    """Each access of the adapter's table has a column here, and each a path."""
    assert {row.access for row in routes.TABLE} == {"open", "discovery", "review"}
    assert {kind for kind, _ in paths()} == set(KINDS)
