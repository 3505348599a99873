"""F26: a cluster with thousands of custom resources."""

import pytest

from adapter.kube.client import KubeClient
from adapter.kube.cluster import Cluster
from adapter.kube.credentials import Source
from tests.support.clock import FakeClock
from tests.support.fake_kube import FakeKube
from tests.support.fake_kube_world import many_kinds, usual_kinds

GROUPS = 2000


@pytest.fixture(scope="module")
def kinds():
    return [*usual_kinds(), *many_kinds(GROUPS)]


@pytest.fixture
async def kube(kinds):
    async with FakeKube(kinds) as found:
        yield found


@pytest.fixture
async def cluster(kube, tmp_path):
    path = tmp_path / "config"
    path.write_text(
        f"{{current-context: c, contexts: [{{name: c, context: {{cluster: c}}}}], "
        f"clusters: [{{name: c, cluster: {{server: '{kube.url}'}}}}]}}"
    )
    found = Cluster(KubeClient(Source(str(path)), FakeClock()))
    yield found
    await found.close()


async def test_only_the_groups_that_rules_need_are_asked(cluster, kube):
    """The number of requests follows the rules, not the cluster."""
    kinds = await cluster.kinds(frozenset({"", "apps", "g1234.example.com"}))
    asked = {one.path for one in kube.asked}
    assert asked == {
        "/api/v1",
        "/apis/apps",
        "/apis/apps/v1",
        "/apis/g1234.example.com",
        "/apis/g1234.example.com/v1",
        "/apis/g1234.example.com/v1beta1",
    }
    assert kinds.parse("thing1234s.g1234.example.com")


async def test_all_groups_are_two_requests(cluster, kube):
    """A rule with a catch-all template needs every kind; it does not need a request for each."""
    kinds = await cluster.kinds(None)
    assert len(kube.asked) == 2
    assert len({one.group for one in kinds.resources}) >= GROUPS
    assert kinds.parse("pod").group == ""
