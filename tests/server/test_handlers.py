"""Bad input gets a clear Status with a cause word, and disturbs nothing."""

import asyncio

import pytest

from adapter import errors
from adapter.settings import Limits
from tests.support.kit import PODS, goroutines

BASE = "/apis/custom.metrics.k8s.io/v1beta2"


@pytest.mark.parametrize(
    ("path", "query", "code", "cause"),
    [
        (f"{PODS}/*/goroutines", {"labelSelector": "a==="}, 400, "InvalidSelector"),
        (f"{PODS}/web-1/goroutines", {"labelSelector": "a in 1"}, 400, "InvalidSelector"),
        (f"{PODS}/*/goroutines", {"metricLabelSelector": "!!"}, 400, "InvalidSelector"),
        (f"{PODS}/*/goroutines", {"labelSelector": "x" * 70_000}, 400, "InvalidSelector"),
        (f"{PODS}/*/goroutines", {"timeout": "x"}, 400, "InvalidTimeout"),
        (f"{BASE}/namespaces/default/goroutines", None, 400, "InvalidPath"),
        (f"{PODS}/a%2Fb/goroutines", None, 400, "InvalidName"),
        (f"{PODS}/a%00b/goroutines", None, 400, "InvalidName"),
        (f"{PODS}/../goroutines", None, 400, "InvalidName"),
        (f"{PODS}/%2E%2E/goroutines", None, 400, "InvalidName"),
        (f"{BASE}/namespaces/a%0Ab/pods/*/goroutines", None, 400, "InvalidName"),
        (f"{PODS}/a%25b/goroutines", None, 400, "InvalidName"),
        (f"{PODS}/%ff/goroutines", None, 400, "InvalidName"),
        (f"{PODS}/{'x' * 300}/goroutines", None, 400, "InvalidName"),
        (f"{PODS}/*/goroutines/more", None, 404, "PathUnknown"),
        (f"{BASE}/namespaces/default/nosuch/x/goroutines", None, 404, "MetricUnknown"),
        ("/nosuch", None, 404, "PathUnknown"),
        ("//apis", None, 404, "PathUnknown"),
    ],
)
async def test_bad_request_is_told_what_is_wrong(path, query, code, cause):
    """Each has the right code, reason and cause word, and costs neither a list nor a query."""
    kit = await goroutines()
    reply = await kit.ask(path, query)
    assert (reply.status, reply.cause) == (code, cause)
    assert reply.body["kind"] == "Status"
    assert reply.body["code"] == code
    assert len(reply.body["message"]) < 600
    assert kit.backend.queries == []


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE"])
@pytest.mark.parametrize("path", [f"{PODS}/*/goroutines", BASE, "/apis", "/livez", "/nosuch"])
async def test_only_get_is_allowed(method, path):
    """Every other method is 405 with Allow: GET; HEAD has no body."""
    kit = await goroutines()
    reply = await kit.ask(path, method=method)
    assert reply.status == 405
    assert reply.headers["Allow"] == "GET"
    assert (reply.body == "") == (method == "HEAD")


async def test_caller_who_takes_no_json_is_refused():
    """406 NotAcceptable, itself in JSON."""
    kit = await goroutines()
    reply = await kit.ask(f"{PODS}/*/goroutines", Accept="application/vnd.kubernetes.protobuf")
    assert (reply.status, reply.cause) == (406, "OnlyJson")


async def test_unknown_query_parameters_are_ignored():
    """limit, watch, pretty and resourceVersion come from other clients; the first of repeated keys counts."""
    kit = await goroutines()
    kit.backend.samples = [({"pod": "web-1"}, 1.0)]
    reply = await kit.ask(
        f"{PODS}/*/goroutines?limit=500&watch=true&pretty=1&labelSelector=&labelSelector=a%3D%3D%3D"
    )
    assert reply.status == 200


async def test_both_versions_answer_in_their_own_shape():
    """v1beta1 has metricName and selector, v1beta2 has metric."""
    kit = await goroutines("web-1")
    kit.backend.samples = [({"pod": "web-1"}, 1.0)]
    old = (await kit.ask(PODS.replace("v1beta2", "v1beta1") + "/*/goroutines")).body
    new = (await kit.ask(f"{PODS}/*/goroutines")).body
    assert old["apiVersion"] == "custom.metrics.k8s.io/v1beta1"
    assert old["items"][0]["metricName"] == "goroutines"
    assert new["items"][0]["metric"] == {"name": "goroutines", "selector": None}


async def test_discovery_is_there_before_anything_else():
    """Groups, versions and an empty list of resources answer before the first relist, and never fail after."""
    from tests.support.kit import Kit

    kit = Kit()
    for path in ("/", "/apis", "/apis/custom.metrics.k8s.io", BASE, "/version"):
        assert (await kit.ask(path)).status == 200, path
    assert await kit.discovery() == {}
    group = (await kit.ask("/apis/custom.metrics.k8s.io")).body
    assert group["preferredVersion"]["version"] == "v1beta2"
    assert [one["version"] for one in group["versions"]] == ["v1beta2", "v1beta1"]


async def test_too_many_requests_in_flight_are_refused():
    """Beyond the budget a question is 429 Overloaded, without Retry-After; discovery is not counted."""
    kit = await goroutines(limits=Limits(in_flight=0))
    reply = await kit.ask(f"{PODS}/*/goroutines")
    assert (reply.status, reply.cause) == (429, "Overloaded")
    assert "Retry-After" not in reply.headers
    assert (await kit.ask(BASE)).status == 200


async def test_bug_is_told_to_the_log_and_not_to_the_caller(caplog):
    """An unforeseen exception is 500 Bug without its text; the trace is in the log."""
    kit = await goroutines()

    async def broken(question, *, deadline):
        raise ZeroDivisionError("secret")

    object.__setattr__(kit.parts, "answers", type("Broken", (), {"answer": staticmethod(broken)})())
    reply = await kit.ask(f"{PODS}/*/goroutines")
    assert (reply.status, reply.cause) == (500, "Bug")
    assert "secret" not in str(reply.body)
    assert "ZeroDivisionError" in caplog.text


async def test_rooms_say_themselves_what_was_late():
    """The caller's ?timeout= reaches the rooms as their deadline: the mirror's own cause comes out, not a general one."""
    kit = await goroutines()
    deadlines: list[float] = []

    async def slow(resource, *, deadline):
        deadlines.append(deadline)
        raise errors.StillStarting("the first list of pods is not there yet")

    kit.objects.objects = slow
    reply = await kit.ask(f"{PODS}/*/goroutines", {"timeout": "2s"})
    assert (reply.status, reply.cause) == (503, "StillStarting")
    await kit.ask(f"{PODS}/*/goroutines")
    assert deadlines == [kit.clock.monotonic() + 2, kit.clock.monotonic() + 10]


async def test_caller_who_leaves_is_counted_as_such():
    """A cancelled request is neither an answer nor a fault of ours."""
    kit = await goroutines()

    async def hanging(resource, *, deadline):
        await asyncio.Event().wait()

    kit.objects.objects = hanging
    task = asyncio.create_task(kit.ask(f"{PODS}/*/goroutines"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert b'adapter_answers_total{cause="CallerLeft"} 1.0' in kit.metrics.exposition()


async def test_own_metrics_count_routes_and_causes():
    """/metrics shows requests by route and code, and questions by cause; no label comes from a user."""
    kit = await goroutines()
    await kit.ask(f"{PODS}/*/nothing")
    text = (await kit.ask("/metrics", Accept="text/plain")).body
    assert 'adapter_http_requests_total{code="404",route="values"} 1.0' in text
    assert 'adapter_answers_total{cause="MetricUnknown"} 1.0' in text
    assert "nothing" not in text
