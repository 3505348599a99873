"""Whom to believe, where flags say it."""

import json

import pytest

from adapter import errors
from adapter.kube.given import GivenAuthority
from adapter.settings import Access

CLUSTER = {
    "client-ca-file": "cluster",
    "requestheader-client-ca-file": "proxy",
    "requestheader-allowed-names": "[]",
}


class Cluster:
    def __init__(self, data=CLUSTER):
        self.data, self.reads = data, 0

    async def read(self):
        self.reads += 1
        return self.data


async def test_nothing_given_is_the_configmap_as_it_is():
    """Without flags the cluster alone says whom to believe."""
    assert await GivenAuthority(Cluster(), Access()).read() == CLUSTER
    assert await GivenAuthority(Cluster(None), Access()).read() is None


async def test_file_of_client_cas_replaces_only_that_key(tmp_path):
    """The front proxy stays the cluster's; the file is read anew each time."""
    path = tmp_path / "ca.crt"
    path.write_text("one")
    given = GivenAuthority(Cluster(), Access(client_ca_file=str(path)))
    assert await given.read() == CLUSTER | {"client-ca-file": "one"}
    path.write_text("two")
    assert (await given.read())["client-ca-file"] == "two"


async def test_file_of_proxy_cas_brings_all_about_front_proxies(tmp_path):
    """Names and headers are those of the flags then, not the ConfigMap's."""
    path = tmp_path / "proxy.crt"
    path.write_text("mine")
    access = Access(proxy_ca_file=str(path), proxy_names=("front",), uid_headers=("x-uid",))
    found = await GivenAuthority(Cluster(), access).read()
    assert found["requestheader-client-ca-file"] == "mine"
    assert json.loads(found["requestheader-allowed-names"]) == ["front"]
    assert json.loads(found["requestheader-username-headers"]) == ["x-remote-user"]
    assert json.loads(found["requestheader-uid-headers"]) == ["x-uid"]
    assert found["client-ca-file"] == "cluster"


async def test_skipped_lookup_never_asks_the_cluster(tmp_path):
    """Then only the files say whom to believe; without any, nobody."""
    cluster = Cluster()
    assert await GivenAuthority(cluster, Access(skip_lookup=True)).read() is None
    assert cluster.reads == 0


async def test_file_that_cannot_be_read_is_told():
    """The old authority stays in force; the text names the file."""
    with pytest.raises(errors.AccessUnknown, match="nowhere"):
        await GivenAuthority(Cluster(), Access(client_ca_file="/nowhere/ca.crt")).read()
