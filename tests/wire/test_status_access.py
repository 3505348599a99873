"""Refusals of access become Status bodies."""

import json

import pytest

from adapter import errors
from adapter.wire import status
from tests.wire.data import body_bytes, golden

SENTENCE = 'pods.g "*" is forbidden: User "mallory" cannot get resource "pods/rps" in API group "g"'
NOT_ALLOWED = errors.NotAllowed(SENTENCE, name="*", group="g", kind="pods")


@pytest.mark.parametrize("name", ["auth-direct-bad-token", "auth-direct-proxy-certificate-no-headers"])
def test_compat_bytes_of_401_are_those_of_upstream(name):
    """One word, no details."""
    exchange = golden(name)
    assert status.failure(errors.NotAuthenticated(), compat=True) == (
        exchange["status"],
        body_bytes(exchange),
    )


def test_401_is_one_word_by_default_too():
    """Programs look for it; the cause stands in the details only."""
    code, body = status.failure(errors.NotAuthenticated(), compat=False)
    members = json.loads(body)
    assert (code, members["message"], members["reason"]) == (401, "Unauthorized", "Unauthorized")
    assert members["details"]["causes"][0]["reason"] == "NotAuthenticated"


def test_403_names_its_object():
    """In the order of the recorded ones; by default with the cause behind the sentence."""
    code, body = status.failure(NOT_ALLOWED, compat=False)
    members = json.loads(body)
    assert (code, members["reason"]) == (403, "Forbidden")
    assert members["message"] == f"{SENTENCE}: NotAllowed: {NOT_ALLOWED.next_step}"
    assert list(members["details"]) == ["name", "group", "kind", "causes"]
    assert members["details"]["causes"] == [{"reason": "NotAllowed", "message": NOT_ALLOWED.next_step}]


def test_compat_403_has_details_and_no_causes():
    """Upstream's, member for member."""
    _, body = status.failure(NOT_ALLOWED, compat=True)
    assert body.endswith(b'"details":{"name":"*","group":"g","kind":"pods"},"code":403}\n')
    assert json.loads(body)["message"] == SENTENCE


def test_403_without_an_object_has_empty_details():
    """Of a path: as recorded."""
    _, body = status.failure(errors.NotAllowed("forbidden: x"), compat=True)
    assert b'"reason":"Forbidden","details":{},"code":403' in body


def test_names_that_are_no_text_are_sent_all_the_same():
    """A path's bytes may be anything."""
    for compat in (False, True):
        _, body = status.failure(errors.NotAllowed("m\udcff", name="n\udcff"), compat=compat)
        assert json.loads(body)["details"]["name"] == "n?"


def test_unknown_access_is_503_or_upstreams_500():
    """Upstream tells a failing review as a fault of its own."""
    code, body = status.failure(errors.AccessUnknown("no review"), compat=False)
    assert (code, json.loads(body)["reason"]) == (503, "ServiceUnavailable")
    assert "no review: AccessUnknown: " in json.loads(body)["message"]
    code, body = status.failure(errors.AccessUnknown("no review"), compat=True)
    assert (code, json.loads(body)["reason"], json.loads(body)["message"]) == (
        500,
        "InternalError",
        "no review",
    )
