"""APIServices as data."""

import copy
from pathlib import Path

import pytest
import yaml

from adapter.wire import apis, registration
from adapter.wire.registration import Service

SERVICE = Service("hpa-adapter", "hpa-adapter")
BASE = Path(__file__).resolve().parents[2] / "apiservice" / "base" / "apiservice.yaml"


def ours(bundle=b"", service=SERVICE):
    return registration.documents((apis.CUSTOM,), service, bundle)


def other(name, namespace="monitoring", **labels):
    found = ours(b"theirs", Service(name, namespace))[0]
    return found | {"metadata": {"name": found["metadata"]["name"], "labels": labels}}


def test_they_are_those_of_the_manifests():
    """`register` and `kubectl apply` must not undo one another."""
    shipped = {one["metadata"]["name"]: one for one in yaml.safe_load_all(BASE.read_text())}
    made = {one["metadata"]["name"]: one for one in ours()}
    assert set(made) == set(shipped) == set(registration.names((apis.CUSTOM,)))
    for name, document in made.items():
        assert document["spec"] == shipped[name]["spec"]
        assert document["apiVersion"] == shipped[name]["apiVersion"]


def test_bundle_comes_and_goes_as_pem():
    """base64 is the API's business."""
    assert registration.bundle_of(ours(b"pem")[0]) == b"pem"
    assert registration.bundle_of(ours()[0]) == b""
    assert registration.bundle_of({"spec": {"caBundle": "x"}}) == b""
    assert registration.bundle_of(registration.with_bundle(ours(b"old")[0], b"new")) == b"new"


def test_new_bundle_changes_nothing_else_that_it_may_say():
    """Priorities that an administrator chose, labels, the version that was read. The given document stays as it was."""
    found = other("hpa-adapter", a="b")
    found["spec"]["versionPriority"] = 7
    found["metadata"]["resourceVersion"] = "5"
    before = copy.deepcopy(found)
    made = registration.with_bundle(found, b"new")
    assert found == before
    assert made["metadata"] == found["metadata"]
    assert made["spec"] == found["spec"] | {"caBundle": "bmV3"}


def test_word_that_skips_the_check_is_lost():
    """The API server refuses it beside a bundle, and we refuse it altogether."""
    word = "insecure" + "SkipTLSVerify"
    found = ours()[0]
    found["spec"][word] = True
    assert word not in registration.with_bundle(found, b"new")["spec"]
    assert word not in registration.merged(found, ours()[0])["spec"]


def test_merged_keeps_the_cas_of_our_own_service_only():
    """Those of another one would vouch for it, not for us."""
    assert registration.bundle_of(registration.merged(ours(b"kept")[0], ours()[0])) == b"kept"
    assert registration.bundle_of(registration.merged(ours(b"old")[0], ours(b"new")[0])) == b"new"
    assert registration.bundle_of(registration.merged(other("prometheus-adapter"), ours()[0])) == b""


@pytest.mark.parametrize(
    ("found", "mark"),
    [
        (other("hpa-adapter", "hpa-adapter"), "hpa-adapter"),
        (other("hpa-adapter", "hpa-adapter", **{registration.MARK: "Helm"}), "Helm"),
        (other("prometheus-adapter", **{registration.MARK: "Helm"}), "hpa-adapter"),
    ],
)
def test_mark_of_who_manages_our_own_stays(found, mark):
    """Helm removes what it made; of what was taken over nobody else is left."""
    assert registration.mark_of(registration.merged(found, ours()[0])) == mark


@pytest.mark.parametrize(
    ("name", "who", "what"),
    [
        ("prometheus-adapter", "prometheus-adapter, monitoring/prometheus-adapter", "carry its rules over"),
        ("my-prometheus-adapter", "prometheus-adapter, monitoring/my-prometheus-adapter", "carry its rules"),
        ("custom-metrics-apiserver", "prometheus-adapter, ", "carry its rules over"),
        ("keda-operator-metrics-apiserver", "KEDA, ", "ScaledObjects"),
        ("metrics-server", "metrics-server, ", "kubectl top"),
        ("something", "monitoring/something", "ask who runs it"),
    ],
)
def test_others_are_known_by_their_service(name, who, what):
    """Each with what to do."""
    found, advice = registration.stranger(other(name))
    assert found.startswith(who)
    assert what in advice


def test_another_installation_of_ours_and_the_api_server_itself():
    """Neither is a stranger's."""
    assert registration.stranger(ours(service=Service("hpa-adapter", "test"))[0])[0] == (
        "another installation of this adapter, test/hpa-adapter"
    )
    assert registration.stranger({"metadata": {}, "spec": {"service": None}})[0] == "the API server itself"
