"""The stand-in API server's token and access reviews, and the RBAC behind them."""

import asyncio

import aiohttp
import pytest

from tests.support import aggregator_attributes as attributes
from tests.support.eventually import until
from tests.support.fake_kube_rbac import ANONYMOUS, Attributes, User

TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
METRICS = "custom.metrics.k8s.io"


@pytest.fixture
async def post(kube):
    async with aiohttp.ClientSession() as session:

        async def send(path, spec):
            async with session.post(kube.url + path, json={"spec": spec}) as response:
                return response.status, await response.json()

        yield send


async def test_a_known_token(post, kube):
    """All that is known of its user, and the group that everybody has."""
    kube.reviews.know("secret", "alice", ["dev"], uid="7", **{"example.com/scope": ["a", "b"]})
    status, body = await post(TOKENS, {"token": "secret"})
    assert status == 201
    assert body["status"]["authenticated"] is True
    assert body["status"]["user"] == {
        "username": "alice",
        "uid": "7",
        "groups": ["dev", "system:authenticated"],
        "extra": {"example.com/scope": ["a", "b"]},
    }


async def test_an_unknown_token(post, kube):
    """`authenticated` is absent, as the real one leaves it out, and there is an error."""
    status, body = await post(TOKENS, {"token": "x"})
    assert (status, body["status"]["user"], "authenticated" in body["status"]) == (201, {}, False)
    assert body["status"]["error"]
    assert kube.reviews.tokens == ["x"]
    assert kube.count("post", "tokenreviews.authentication.k8s.io") == 1


async def test_a_service_account_s_token(post, kube):
    """Its groups are those of all service accounts and of its namespace's."""
    token = kube.reviews.service_account("adapter", "metrics")
    _, body = await post(TOKENS, {"token": token})
    assert body["status"]["user"]["username"] == "system:serviceaccount:metrics:adapter"
    assert "system:serviceaccounts:metrics" in body["status"]["user"]["groups"]


async def test_access_by_rbac(post, kube):
    """Allowed with a reason, or plainly not; what was asked is kept."""
    kube.reviews.allow("alice", namespace="shop", verbs=["get"], apiGroups=[METRICS], resources=["pods/m"])
    wanted = {
        "group": METRICS,
        "version": "v1beta2",
        "verb": "get",
        "resource": "pods",
        "subresource": "m",
        "name": "*",
    }
    status, yes = await post(ACCESS, {"user": "alice", "resourceAttributes": wanted | {"namespace": "shop"}})
    _, no = await post(ACCESS, {"user": "alice", "resourceAttributes": wanted | {"namespace": "other"}})
    assert (status, yes["status"]["allowed"], no["status"]) == (201, True, {"allowed": False})
    assert yes["status"]["reason"].startswith("RBAC: allowed by RoleBinding")
    assert [one["resourceAttributes"]["namespace"] for one in kube.reviews.questions] == ["shop", "other"]


@pytest.mark.parametrize(
    "spec",
    [
        {"user": "a"},
        {"user": "a", "resourceAttributes": {"verb": "get"}, "nonResourceAttributes": {"path": "/"}},
        {"nonResourceAttributes": {"path": "/", "verb": "get"}},
    ],
)
async def test_reviews_that_make_no_sense(post, spec):
    """Exactly one kind of attributes, and somebody."""
    assert (await post(ACCESS, spec))[0] == 422


async def test_a_test_s_own_judge(post, kube):
    """In place of RBAC."""
    kube.reviews.judge = lambda user, asked: user.name == "bob" and asked.path == "/metrics"
    spec = {"user": "bob", "nonResourceAttributes": {"path": "/metrics", "verb": "get"}}
    assert (await post(ACCESS, spec))[1]["status"]["allowed"]
    assert not (await post(ACCESS, spec | {"user": "eve"}))[1]["status"]["allowed"]


async def test_reviews_can_be_late_and_are_counted(post, kube):
    """A gate holds them; the most that were open at once is known."""
    gate = asyncio.Event()
    what = "tokenreviews.authentication.k8s.io"
    kube.slow("post", what, gate=gate)
    asking = [asyncio.create_task(post(TOKENS, {"token": str(n)})) for n in range(3)]
    await until(lambda: kube.busy[what] == 3)
    gate.set()
    assert [status for status, _ in await asyncio.gather(*asking)] == [201] * 3
    assert (kube.busy[what], kube.busiest[what]) == (0, 3)


async def test_reviews_fail_as_told(post, kube):
    """Once, then all is well."""
    kube.fail("post", "subjectaccessreviews.authorization.k8s.io", status=500, times=1)
    spec = {"user": "a", "nonResourceAttributes": {"path": "/", "verb": "get"}}
    assert [(await post(ACCESS, spec))[0] for _ in range(2)] == [500, 201]


async def test_reviews_are_only_created(kube):
    """405 for anything else."""
    async with aiohttp.ClientSession() as session, session.get(kube.url + TOKENS) as response:
        assert response.status == 405


# -- rights that every cluster gives

SOMEBODY = User("mallory", ("system:authenticated",))
HPA = User("system:serviceaccount:kube-system:horizontal-pod-autoscaler", ("system:authenticated",))
VALUES = Attributes("get", group=METRICS, resource="pods", subresource="m", name="*", namespace="a")


@pytest.mark.parametrize(
    ("user", "asked", "may"),
    [
        (SOMEBODY, Attributes("get", path=f"/apis/{METRICS}/v1beta2"), True),
        (SOMEBODY, Attributes("get", path="/openapi/v2"), True),
        (SOMEBODY, Attributes("get", path="/metrics"), False),
        (SOMEBODY, VALUES, False),
        (User("system:kube-aggregator"), Attributes("get", path="/apis"), False),
        (ANONYMOUS, Attributes("get", path="/readyz"), True),
        (ANONYMOUS, Attributes("get", path="/apis"), False),
        (User("root", ("system:masters",)), VALUES, True),
        (HPA, VALUES, True),
        (HPA, Attributes("get", resource="secrets", namespace="a"), False),
    ],
)
def test_the_rights_of_a_fresh_cluster(kube, user, asked, may):
    """Discovery for everybody who is somebody, probes for all, metrics for the autoscaler."""
    assert bool(kube.reviews.allowed(user, asked)) is may


def test_the_reader_of_the_authorities_must_name_them(kube):
    """A list or a watch counts as naming only with a field selector."""
    body = {
        "metadata": {"name": "reader", "namespace": "kube-system"},
        "roleRef": {"kind": "Role", "name": "extension-apiserver-authentication-reader"},
        "subjects": [{"kind": "ServiceAccount", "name": "adapter", "namespace": "metrics"}],
    }
    kube.world.put(kube.world.kind("rolebindings.rbac.authorization.k8s.io"), body)
    adapter = User("system:serviceaccount:metrics:adapter")
    path = "/api/v1/namespaces/kube-system/configmaps"
    field = {"fieldSelector": "metadata.name=extension-apiserver-authentication"}
    assert kube.reviews.allowed(adapter, attributes.of("GET", path, field))
    assert kube.reviews.allowed(adapter, attributes.of("GET", path, field | {"watch": "true"}))
    assert not kube.reviews.allowed(adapter, attributes.of("GET", path, {}))


@pytest.mark.parametrize(
    ("method", "tail", "wanted"),
    [
        ("GET", "namespaces/ns/pods/*/m", ("get", "pods", "m", "*", "ns")),
        ("GET", "namespaces/ns/deployments.apps/d/m", ("get", "deployments.apps", "m", "d", "ns")),
        ("GET", "namespaces/ns/metrics/m", ("get", "metrics", "", "m", "ns")),
        ("HEAD", "nodes/n/m", ("get", "nodes", "m", "n", "")),
        ("GET", "namespaces/ns/m", ("list", "m", "", "", "ns")),
        ("GET", "namespaces/ns", ("get", "namespaces", "", "ns", "ns")),
        ("DELETE", "namespaces/ns/pods/a", ("delete", "pods", "", "a", "ns")),
        ("DELETE", "namespaces/ns/pods", ("deletecollection", "pods", "", "", "ns")),
    ],
)
def test_what_a_path_asks_for(method, tail, wanted):
    """As kube-apiserver's RequestInfo parts it."""
    found = attributes.of(method, f"/apis/{METRICS}/v1beta2/{tail}", {})
    assert (found.verb, found.resource, found.subresource, found.name, found.namespace) == wanted
    assert (found.group, found.version, found.path) == (METRICS, "v1beta2", "")


@pytest.mark.parametrize(
    "path", ["/", "/api/v1", f"/apis/{METRICS}/v1beta2", "/openapi/v3/apis/a/b", "/metrics"]
)
def test_paths_that_are_no_resources(path):
    """The verb is the method in lower case."""
    assert attributes.of("GET", path, {}) == Attributes("get", path=path)
