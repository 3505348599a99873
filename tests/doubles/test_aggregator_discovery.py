"""What the double makes of discovery and OpenAPI documents, compared with what the real one made of them."""

import pytest

from tests.doubles.conftest import GROUP, MALLORY, NAME, NAMESPACE, V1BETA2
from tests.support.aggregator_discovery import AGGREGATED
from tests.wire.data import golden

PATH = f"/apis/{GROUP}/v1beta2"
EMPTY = {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": []}
EXTERNAL = "external.metrics.k8s.io"


def resource(name, *, namespaced=True, kind="MetricValueList"):
    return {"name": name, "singularName": "", "namespaced": namespaced, "kind": kind, "verbs": ["get"]}


def listed(*resources):
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{GROUP}/v1beta2",
        "resources": [*resources],
    }


@pytest.fixture
def fetched(joined):
    """What the double has after one fetch."""

    async def fetch():
        await joined.discovery.fetch(V1BETA2)
        return joined.discovery.entries[V1BETA2]

    return fetch


async def groups(ask, accept):
    """The items of /apis that APIServices brought."""
    answer = await ask("/apis", token=MALLORY, headers=[("Accept", accept)])
    known = {GROUP, EXTERNAL}
    members = answer.body.get("items") or answer.body["groups"]
    return [one for one in members if (one.get("metadata") or one)["name"] in known]


async def test_groups_are_as_recorded(joined, extension, ask):
    """By priority: v1beta2 first; an aggregated document without a version leaves it current, without resources."""
    extension.answer("/apis", EMPTY, Content_Type=AGGREGATED[0])
    joined.register(GROUP, "v1beta1", NAME, NAMESPACE)
    joined.register(EXTERNAL, "v1beta1", NAME, NAMESPACE)
    for group, version in ((GROUP, "v1beta1"), (EXTERNAL, "v1beta1")):
        spec = joined.proxy.find(V1BETA2)["spec"]
        ca = {"caBundle": spec["caBundle"]}
        joined.register(group, version, NAME, NAMESPACE, **ca)
    await joined.settle(V1BETA2, f"v1beta1.{GROUP}", f"v1beta1.{EXTERNAL}")
    assert await groups(ask, AGGREGATED[0]) == golden("kube-apiserver-apis-aggregated-v2")["body"]["items"]
    assert await groups(ask, "application/json") == golden("kube-apiserver-apis")["body"]["groups"]


async def test_an_etag_is_sent_back_and_304_keeps_the_document(extension, fetched):
    """The document is the Service's, whatever APIService asked."""
    version = {"version": "v1beta2", "resources": [{"resource": "pods"}]}
    document = EMPTY | {"items": [{"metadata": {"name": GROUP}, "versions": [version]}]}
    kind = "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io"
    extension.answer("/apis", document, Content_Type=kind, ETag='"one"')
    before = await fetched()
    assert before == version | {"freshness": "Current"}
    extension.answer("/apis", "", 304)
    assert await fetched() == before
    assert extension.seen[1].all("If-None-Match") == ['"one"']


@pytest.mark.parametrize("status", [200, 403, 404, 406, 500])
async def test_anything_else_leads_to_the_old_form(extension, fetched, status):
    """Which makes the parents up."""
    extension.answer("/apis", {"kind": "APIGroupList"}, status)
    extension.answer(
        PATH, listed(resource("pods/a"), resource("pods/b"), resource("namespaces/a", namespaced=False))
    )
    entry = await fetched()
    assert entry["freshness"] == "Current"
    pods, namespaces = entry["resources"]
    assert (pods["resource"], pods["scope"], pods["verbs"]) == ("pods", "Namespaced", None)
    assert [one["subresource"] for one in pods["subresources"]] == ["a", "b"]
    assert (namespaces["resource"], namespaces["scope"]) == ("namespaces", "Cluster")


async def test_resources_without_a_parent(extension, fetched):
    """As external metrics are."""
    extension.answer("/apis", {}, 404)
    extension.answer(PATH, listed(resource("queue", kind="ExternalMetricValueList")))
    (queue,) = (await fetched())["resources"]
    assert (queue["responseKind"]["kind"], queue["verbs"]) == ("ExternalMetricValueList", ["get"])


async def test_503_is_stale_without_a_second_question(extension, fetched):
    """The one status that must never be answered here."""
    extension.answer("/apis", {}, 503)
    assert await fetched() == {"version": "v1beta2", "freshness": "Stale"}
    assert extension.count(PATH) == 0


@pytest.mark.parametrize(
    ("status", "document"),
    [
        (304, listed()),
        (500, listed()),
        (200, "no JSON"),
        (200, listed(resource("pods/a"), resource("pods/b", namespaced=False))),
    ],
)
async def test_the_old_form_must_be_200_and_agree_with_itself(extension, fetched, status, document):
    """A 304 for another document's ETag, too: the whole group-version is stale."""
    extension.answer("/apis", {}, 404)
    extension.answer(PATH, document, status)
    assert (await fetched())["freshness"] == "Stale"


async def test_openapi_v3_leads_users_to_the_documents(joined, extension, ask):
    """The root has all servers' keys; the document is fetched with the caller's identity."""
    place = f"/openapi/v3{PATH}"
    key = PATH.strip("/")
    extension.answer("/openapi/v3", {"paths": {key: {"serverRelativeURL": f"{place}?hash=1"}}})
    extension.answer(place, {"openapi": "3.0.0"})
    await joined.openapi.fetch_v3(V1BETA2)
    root = await ask("/openapi/v3", token=MALLORY)
    assert root.body["paths"] == {key: {"serverRelativeURL": f"{place}?hash=1"}}
    assert (await ask(f"{place}?hash=1", token=MALLORY)).body == {"openapi": "3.0.0"}
    assert extension.seen[-1].all("X-Remote-User") == ["mallory"]


async def test_openapi_that_is_missing_is_complained_of(joined, extension):
    """v2: a line in the log each time; v3: never asked for again."""
    extension.answer("/openapi/v2", {}, 404)
    extension.answer("/openapi/v3", {}, 404)
    for _ in range(2):
        assert not await joined.openapi.fetch_v2(V1BETA2)
        assert await joined.openapi.fetch_v3(V1BETA2)
    assert joined.openapi.complaints == [f"failed to download {V1BETA2}: resource not found"] * 2
    assert extension.count("/openapi/v3") == 1
