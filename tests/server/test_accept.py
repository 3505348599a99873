"""Content negotiation: JSON or nothing."""

import pytest

from adapter.server import accept


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "*/*",
        "application/json",
        "application/json, */*",
        "application/vnd.kubernetes.protobuf, */*",
        "application/*;q=0.5",
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
        "APPLICATION/JSON",
    ],
)
def test_json_is_given_to_whoever_takes_it(header):
    """The autoscaler asks for protobuf first and takes anything; kubectl falls back from Table to JSON."""
    assert accept.json_accepted(header)


@pytest.mark.parametrize(
    "header",
    [
        "application/vnd.kubernetes.protobuf",
        "application/yaml",
        "application/cbor",
        "text/html",
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        "application/json;q=0",
        "application/json; q=0.000",
    ],
)
def test_others_get_none(header):
    """A caller who takes no plain JSON is told so (406), not given something else."""
    assert not accept.json_accepted(header)


V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
V2BETA1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"


@pytest.mark.parametrize(
    ("header", "version"),
    [
        (V2, "v2"),
        (V2BETA1, "v2beta1"),
        (f"{V2},{V2BETA1}", "v2"),
        (f"{V2},{V2BETA1},application/json", "v2"),
        (f"{V2BETA1}, {V2}", "v2beta1"),
        (f"{V2};q=0.1,{V2BETA1};q=0.2", "v2beta1"),
        (f"*/*, {V2}", "v2"),
        ('application/json; as="APIGroupDiscoveryList"; v="v2"; g="apidiscovery.k8s.io"', "v2"),
        (V2.replace("v=v2", "v=v3") + f",{V2BETA1}", "v2beta1"),
    ],
)
def test_aggregated_form_that_is_liked_best(header, version):
    """The aggregator names v2 and then v2beta1, clients plain JSON after these; parameters come in any order."""
    assert accept.aggregated(header) == version


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "*/*",
        f"application/json, {V2}",
        f"{V2};q=0",
        f"{V2};q=0.5, application/json",
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        V2.replace("v=v2", "v=v3"),
        V2.replace("apidiscovery", "other"),
        "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        "application/vnd.kubernetes.protobuf, */*",
        ";;;=,,q=x;as",
    ],
)
def test_all_others_get_the_old_form(header):
    """Whoever does not ask for the aggregated form in JSON, in a version there is, gets what there always was."""
    assert accept.aggregated(header) is None


@pytest.mark.parametrize("quality", ["x", "", "nan", "-1", "2", "1e999"])
def test_unreadable_quality_is_as_none(quality):
    """A q that is no number from 0 to 1 says nothing."""
    assert accept.json_accepted(f"application/json;q={quality}")
    assert accept.aggregated(f"{V2};q={quality}") == "v2"
