"""The three overlays: what a cluster installs."""

import pytest

from tests.support import manifests
from tests.support.manifests import APISERVICE


@pytest.fixture(scope="module")
def release():
    return manifests.kustomize(APISERVICE / "overlays" / "release")


def test_release_says_where_prometheus_is(release):
    """The one line of the overlay reaches the process."""
    (env,) = release.container["env"]
    settings = release.named("ConfigMap", env["valueFrom"]["configMapKeyRef"]["name"])
    assert settings["data"].keys() == {"prometheus-url"}
    assert env["name"] == "PROMETHEUS_URL"


def test_release_needs_no_certificate_from_anybody(release):
    """The adapter makes it: there is nothing to do between applying and serving."""
    assert "--self-managed-tls" in release.container["args"]


def test_high_availability_is_the_release_with_another_number_of_replicas(release):
    """What is edited in the release holds for both."""
    other = manifests.kustomize(APISERVICE / "overlays" / "high-availability")
    assert other.deployment["spec"]["replicas"] == 3
    assert [one for one in other.all() if one["kind"] != "Deployment"] == [
        one for one in release.all() if one["kind"] != "Deployment"
    ]
    assert other.pod["containers"] == release.pod["containers"]


def test_test_overlay_fits_on_one_node():
    """One replica that a drain may take, with an image that was loaded by hand."""
    rendered = manifests.kustomize(APISERVICE / "overlays" / "test")
    assert rendered.deployment["spec"]["replicas"] == 1
    assert rendered.one("PodDisruptionBudget")["spec"]["maxUnavailable"] == 1
    assert rendered.container["image"] == "hpa-adapter:test"
    assert {"--metrics-relist-interval=10s", "--v=4"} <= set(rendered.container["args"])


@pytest.mark.parametrize("path", ["base", *(f"overlays/{one}" for one in manifests.OVERLAYS)])
def test_every_field_is_one_that_the_api_has(path):
    """A misspelt field would be dropped by the API server without a word."""
    rendered = manifests.kustomize(APISERVICE / path)
    assert not [wrong for one in rendered.all() for wrong in manifests.unknown_fields(one)]


def test_guide_tells_of_every_component_and_overlay():
    """The README names each by its folder."""
    guide = (APISERVICE / "README.md").read_text()
    for folder, names in (("components", manifests.COMPONENTS), ("overlays", manifests.OVERLAYS)):
        assert not [name for name in names if f"{folder}/{name}" not in guide]
