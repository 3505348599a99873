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
