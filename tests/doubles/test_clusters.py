"""Which API server the end-to-end tests run against."""

import re

import pytest

from adapter.cli.process import PartError
from tests.support import aggregated, clusters
from tests.support.clusters import ASSETS, Real, StandIn


@pytest.fixture
def binaries(tmp_path):
    """Where real ones would be; these end at once."""
    place = tmp_path / "assets"
    place.mkdir()
    for name in ("etcd", "kube-apiserver"):
        program = place / name
        program.write_text('#!/bin/sh\necho "$0 $*"\nexit 3\n')
        program.chmod(0o755)
    return place


def test_without_the_variable_it_is_the_double(tmp_path, monkeypatch):
    """So `make test` needs no binaries."""
    monkeypatch.delenv(ASSETS, raising=False)
    assert isinstance(clusters.chosen(tmp_path, []), StandIn)


def test_with_it_the_real_ones_are_started(tmp_path, monkeypatch, binaries):
    """One that does not start is a failure with its log, not another choice."""
    monkeypatch.setenv(ASSETS, str(binaries))
    chosen = clusters.chosen(tmp_path, [{"token": "t", "name": "jane", "groups": ["a", "b"]}])
    assert isinstance(chosen, Real)
    assert '\nt,jane,uid-jane,"a,b"\n' in (tmp_path / "tokens.csv").read_text()
    with pytest.raises(PartError, match=r"(etcd|kube-apiserver) has ended with code 3"), chosen:
        pass


def test_without_the_programs_it_says_so(tmp_path, monkeypatch):
    """A wrong directory does not quietly mean the double."""
    monkeypatch.setenv(ASSETS, str(tmp_path))
    with pytest.raises(PartError, match=re.escape(f"{ASSETS} is {tmp_path}, but there is no program etcd")):
        clusters.chosen(tmp_path, [])


def test_what_is_installed_are_the_manifests(tmp_path):
    """Rights and APIServices as in apiservice/base; the bundle and the port are this run's."""
    pair = aggregated.serving(tmp_path)
    found = aggregated.installed(12345, pair.issuer)
    kinds = [one["kind"] for one in found]
    assert {
        "ClusterRole",
        "ClusterRoleBinding",
        "RoleBinding",
        "ServiceAccount",
        "Service",
        "EndpointSlice",
    } <= set(kinds)
    services = [one for one in found if one["kind"] == "APIService"]
    assert {one["metadata"]["name"] for one in services} >= {
        "v1beta1.custom.metrics.k8s.io",
        "v1beta2.custom.metrics.k8s.io",
    }
    for one in services:
        assert one["spec"]["service"] == {
            "name": aggregated.NAME,
            "namespace": aggregated.NAMESPACE,
            "port": 12345,
        }
        assert "insecureSkipTLSVerify" not in one["spec"]
