"""Errors become Status bodies: ours with the cause, upstream's byte for byte."""

import json

import pytest

from adapter import errors
from adapter.wire import status
from tests.wire.data import body_bytes, golden, vectors

BODIES = {
    case["title"]: case for case in vectors("compat-vectors")["response_bodies"] if "http_status" in case
}
NOT_FOUND = "the server could not find the metric m for pods web-1"

RECORDED = {
    "error-bad-selector": errors.InvalidSelector,
    "error-bad-metric-selector": errors.InvalidMetricSelector,
    "error-unknown-resource": errors.ObjectsNotListable,
    "error-path-too-deep": errors.PathUnknown,
    "error-pod-without-series": errors.NoObjects,
    "method-post": errors.OnlyReading,
}
VECTORS = {
    "not found status": errors.MetricUnknown,
    "Prometheus failure status": errors.BackendUnavailable,
    "bad path status": errors.InvalidPath,
    "plain error status (no reason, no details)": errors.InvalidMetricSelector,
    "custom metric, scalar result": errors.RuleRejected,
    "deadline exceeded (no kind, no apiVersion)": errors.BackendTimeout,
    "bad timeout parameter": errors.InvalidTimeout,
    "path of no route": errors.PathUnknown,
}


@pytest.mark.parametrize("name", RECORDED)
def test_compat_bytes_are_those_of_upstream(name):
    """A recorded error comes out byte for byte in compat mode."""
    exchange = golden(name)
    code, body = status.failure(RECORDED[name](exchange["body"]["message"]), compat=True)
    assert code == exchange["status"]
    assert body == body_bytes(exchange)


@pytest.mark.parametrize("name", ["accept-html", "accept-table-only"])
def test_compat_says_what_could_be_accepted(name):
    """Both forms of 406 come out member for member; upstream indents them."""
    exchange = golden(name)
    code, body = status.failure(errors.OnlyJson(exchange["body"]["message"]), compat=True)
    assert code == exchange["status"]
    assert list(json.loads(body).items()) == list(exchange["body"].items())


@pytest.mark.parametrize("title", VECTORS)
def test_compat_bodies_are_those_of_the_vectors(title):
    """An error of the vectors has its status, members and order in compat mode."""
    case = BODIES[title]
    code, body = status.failure(VECTORS[title](case["body"]["message"]), compat=True)
    assert code == case["http_status"]
    assert list(json.loads(body).items()) == list(case["body"].items())


def test_compat_message_of_a_backend_failure_is_upstreams():
    """Upstream tells nothing of what happened at the backend, so neither do we in compat mode."""
    body = json.loads(status.failure(errors.BackendPartial("two of three stores answered"), compat=True)[1])
    assert body["message"] == "Internal error occurred: unable to fetch metrics"
    assert body["details"] == {"causes": [{"message": "unable to fetch metrics"}]}


def test_compat_has_our_form_where_upstream_has_none():
    """An error that upstream does not know keeps its own status."""
    code, body = status.failure(errors.StillStarting("the list of pods is not there yet"), compat=True)
    assert code == 503
    assert json.loads(body)["reason"] == "ServiceUnavailable"
    assert "details" not in json.loads(body)


def test_default_message_has_cause_and_next_step():
    """By default the text that `kubectl describe hpa` shows ends with the cause and what to do."""
    error = errors.NoObjects(NOT_FOUND, next_step="look at the labels")
    code, body = status.failure(error, compat=False)
    assert code == 404
    assert body == (
        b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
        b'"message":"the server could not find the metric m for pods web-1: NoObjects: look at the labels",'
        b'"reason":"NotFound",'
        b'"details":{"causes":[{"reason":"NoObjects","message":"look at the labels"}]},"code":404}\n'
    )


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (errors.InvalidMetricSelector("m"), 400, "BadRequest"),
        (errors.BackendUnavailable("m"), 503, "ServiceUnavailable"),
        (errors.BackendTimeout("m"), 504, "Timeout"),
        (errors.PathUnknown("m"), 404, "NotFound"),
    ],
)
def test_default_form_is_complete(error, code, reason):
    """By default each error has its own status, and a body with kind, version, reason and cause."""
    found, body = status.failure(error, compat=False)
    members = json.loads(body)
    assert (found, members["code"], members["reason"]) == (code, code, reason)
    assert (members["kind"], members["apiVersion"]) == ("Status", "v1")
    assert members["details"]["causes"] == [{"reason": error.cause, "message": error.next_step}]


def test_no_form_asks_to_try_again():
    """No body has retryAfterSeconds, which would hold the autoscaler's worker."""
    for error in (errors.Overloaded("m"), errors.StillStarting("m")):
        assert b"retryAfter" not in status.failure(error, compat=False)[1]


def test_long_messages_are_cut():
    """A caller cannot flood conditions and events with its own text; cause and next step stay."""
    body = json.loads(status.failure(errors.InvalidSelector("x" * 10_000), compat=False)[1])
    assert body["message"].startswith("x" * 2048 + "...: InvalidSelector: write labelSelector as")


def test_what_is_no_text_is_sent_all_the_same():
    """Bytes of a caller that were no UTF-8 become question marks, not a failure of ours."""
    for compat in (False, True):
        assert (
            "a?" in json.loads(status.failure(errors.InvalidSelector("a\udcff"), compat=compat)[1])["message"]
        )
