"""The story of a request, with real rules and handlers between a fake backend and fake objects."""

import asyncio
import gc
import weakref

import pytest

from adapter import errors
from adapter.objects.store import Object, Store
from tests.support.kit import GOROUTINES, PODS, Kit, goroutines


async def test_each_pod_of_the_selector_gets_its_value():
    """The values of a list are those of the objects that the selector means, in their order."""
    kit = await goroutines("web-1", "web-2", "web-3")
    kit.backend.samples = [({"pod": "web-3"}, 7.0), ({"pod": "web-1"}, 42.0), ({"pod": "web-2"}, 1.5)]
    reply = await kit.ask(f"{PODS}/*/goroutines")
    assert reply.status == 200
    assert list(reply.values.items()) == [("web-1", "42"), ("web-2", "1500m"), ("web-3", "7")]
    assert kit.backend.queries == [
        'sum(go_goroutines{namespace="default",pod=~"web-1|web-2|web-3"}) by (pod)'
    ]


async def test_selector_is_applied_here_and_not_by_the_api_server():
    """Objects come from the store; only those whose labels match are in the query."""
    kit = await goroutines()
    kit.objects.place("pods", "default", "api-1", labels={"app": "api"})
    kit.backend.samples = [({"pod": "api-1"}, 3.0)]
    reply = await kit.ask(f"{PODS}/*/goroutines", {"labelSelector": "app in (api)"})
    assert reply.values == {"api-1": "3"}
    assert kit.backend.queries == ['sum(go_goroutines{namespace="default",pod="api-1"}) by (pod)']


async def test_objects_of_another_namespace_are_not_meant():
    """A pod of the same name elsewhere is not in the list."""
    kit = await goroutines("web-1")
    kit.objects.place("pods", "other", "web-9")
    kit.backend.samples = [({"pod": "web-1"}, 1.0), ({"pod": "web-9"}, 9.0)]
    assert (await kit.ask(f"{PODS}/*/goroutines")).values == {"web-1": "1"}


async def test_single_object_is_not_looked_up_in_the_cluster():
    """A single object costs no list: its name goes into the query as it is."""
    kit = await goroutines()
    kit.backend.samples = [({"pod": "anything"}, 5.0)]
    reply = await kit.ask(f"{PODS}/anything/goroutines")
    assert reply.values == {"anything": "5"}
    assert kit.objects.asked == []


async def test_namespace_metric_has_no_namespace_of_its_own():
    """namespaces/NS/metrics/M asks for the namespace as an object."""
    kit = await goroutines()
    kit.backend.samples = [({"namespace": "default"}, 10.0)]
    reply = await kit.ask("/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/metrics/goroutines")
    assert reply.values == {"default": "10"}
    assert "namespace" not in reply.body["items"][0]["describedObject"]
    assert kit.backend.queries == ['sum(go_goroutines{namespace="default"}) by (namespace)']


async def test_unknown_metric_is_missing_with_its_cause():
    """A metric that no rule offers is 404 MetricUnknown, and nothing is asked of the backend."""
    kit = await goroutines()
    reply = await kit.ask(f"{PODS}/*/nothing")
    assert (reply.status, reply.cause) == (404, "MetricUnknown")
    assert reply.body["message"].startswith(
        "the server could not find the metric nothing for pods: MetricUnknown"
    )
    assert kit.backend.queries == []


async def test_before_the_first_listing_nothing_is_called_missing():
    """Until a first listing has come, a metric is not unknown but not there yet: 503 StillStarting."""
    kit = await goroutines()
    kit.flow.complete = False
    kit.flow.catalog = type(kit.flow.catalog)()
    reply = await kit.ask(f"{PODS}/*/goroutines")
    assert (reply.status, reply.cause) == (503, "StillStarting")


async def test_question_at_the_start_waits_for_the_first_listing():
    """A replica is ready before its first listing: the question is answered a moment later, not refused."""
    kit = Kit()
    kit.objects.place("pods", "default", "web-1")
    kit.backend.samples = [({"pod": "web-1"}, 1.0)]
    asked = asyncio.create_task(kit.ask(f"{PODS}/*/goroutines"))
    await asyncio.sleep(0)
    assert not asked.done()
    await kit.relist()
    assert (await asked).values == {"web-1": "1"}


async def test_question_at_the_start_does_not_wait_for_a_backend_that_is_down():
    """Once a first listing has failed, 503 StillStarting comes at once."""
    kit = Kit()
    kit.backend.failing_listings = {kit.book.rules[0].series_query}
    await kit.relist()
    assert (await kit.ask(f"{PODS}/*/goroutines")).cause == "StillStarting"


async def test_selector_that_matches_nothing_is_missing():
    """No object under the selector is 404 NoObjects; an unknown namespace is the same case."""
    kit = await goroutines()
    for path, query in (
        (f"{PODS}/*/goroutines", {"labelSelector": "app=nothing"}),
        ("/apis/custom.metrics.k8s.io/v1beta2/namespaces/nowhere/pods/*/goroutines", None),
    ):
        reply = await kit.ask(path, query)
        assert (reply.status, reply.cause) == (404, "NoObjects")
    assert kit.backend.queries == []


@pytest.mark.parametrize(
    ("samples", "cause"),
    [
        ([], "ObjectHasNoValue"),
        ([({"pod": "web-9"}, 1.0)], "ObjectHasNoValue"),
        ([({"pod": "web-1"}, float("nan"))], "NotFinite"),
        ([({"pod": "web-1"}, float("-inf"))], "NotFinite"),
        ([({"pod": "web-1"}, 1e16)], "TooLarge"),
        ([({"pod": "web-1"}, 1.0), ({"pod": "web-1"}, 1.0)], "Ambiguous"),
    ],
)
async def test_single_object_without_a_value_is_missing_with_its_cause(samples, cause):
    """What is no number is no value: 404 with the word that says why, never a zero."""
    kit = await goroutines()
    kit.backend.samples = samples
    reply = await kit.ask(f"{PODS}/web-1/goroutines")
    assert (reply.status, reply.cause) == (404, cause)
    assert "goroutines for pods web-1: " in reply.body["message"]


async def test_list_without_any_value_is_missing_unless_the_rule_says_empty():
    """onMissing: empty answers 200 without items; the default is 404 with the cause."""
    kit = await goroutines()
    assert (await kit.ask(f"{PODS}/*/goroutines")).status == 404
    kit = await goroutines(rules=GOROUTINES + "  onMissing: empty\n")
    reply = await kit.ask(f"{PODS}/*/goroutines")
    assert (reply.status, reply.body["items"]) == (200, [])


async def test_some_pods_without_a_value_are_left_out():
    """The others keep theirs."""
    kit = await goroutines()
    kit.backend.samples = [({"pod": "web-1"}, float("nan")), ({"pod": "web-2"}, 2.0)]
    reply = await kit.ask(f"{PODS}/*/goroutines")
    assert reply.values == {"web-2": "2"}
    assert b'adapter_values_dropped_total{reason="nan"} 1.0' in kit.metrics.exposition()


async def test_metric_selector_narrows_the_query_and_is_shown():
    """metricLabelSelector goes into the query first, escaped, and comes back with each item."""
    kit = await goroutines("web-1")
    kit.backend.samples = [({"pod": "web-1"}, 2.0)]
    reply = await kit.ask(f"{PODS}/*/goroutines", {"metricLabelSelector": "code in (5.0),method!=GET"})
    assert kit.backend.queries == [
        'sum(go_goroutines{code=~"5\\\\.0",method!="GET",namespace="default",pod="web-1"}) by (pod)'
    ]
    assert reply.body["items"][0]["metric"]["selector"] == {
        "matchExpressions": [
            {"key": "code", "operator": "In", "values": ["5.0"]},
            {"key": "method", "operator": "NotIn", "values": ["GET"]},
        ]
    }


async def test_comparison_in_a_metric_selector_cannot_be_asked():
    """PromQL does not compare label texts by size: 404 with the cause, no query."""
    kit = await goroutines()
    reply = await kit.ask(f"{PODS}/*/goroutines", {"metricLabelSelector": "code>400"})
    assert (reply.status, reply.cause) == (404, "SelectorNotExpressible")
    assert kit.backend.queries == []


async def test_key_that_is_no_label_of_prometheus_is_refused_before_it_is_asked():
    """`app.kubernetes.io/name` is a Kubernetes label, but no query can carry it: 404 with the cause, no query."""
    kit = await goroutines()
    reply = await kit.ask(f"{PODS}/*/goroutines", {"metricLabelSelector": "app.kubernetes.io/name=x"})
    assert (reply.status, reply.cause) == (404, "SelectorNotExpressible")
    assert kit.backend.queries == []


async def test_rule_without_a_namespace_label_says_so():
    """A rule that maps only the pod cannot scope its query: 404 with the cause, not a query over all namespaces."""
    rules = GOROUTINES.replace('      namespace: {resource: "namespace"}\n', "")
    kit = await goroutines(rules=rules)
    reply = await kit.ask(f"{PODS}/*/goroutines")
    assert (reply.status, reply.cause) == (404, "LabelMapsToNothing")


async def test_query_that_is_too_long_is_cut_in_two_by_names():
    """No query is longer than 16 KiB, every object is asked for once, and the answers are joined."""
    names = [f"a-service-with-a-long-name-{number:05}" for number in range(1500)]
    kit = await goroutines(*names)
    kit.backend.samples = [({"pod": names[0]}, 1.0)]
    reply = await kit.ask(f"{PODS}/*/goroutines")
    assert len(kit.backend.queries) > 1
    assert max(map(len, kit.backend.queries)) <= 16 * 1024
    asked = [
        name for text in kit.backend.queries for name in text.split('pod=~"')[1].split('"')[0].split("|")
    ]
    assert sorted(asked) == names
    assert reply.status == 404  # the fake gives its sample once for each part: no value for that one either


async def test_failing_backend_has_its_own_status():
    """A backend that is down is 503 BackendUnavailable, a slow one 504 BackendTimeout, a refusal 500 RuleRejected."""
    kit = await goroutines()
    for failure, code in (
        (errors.BackendUnavailable(errors.NO_METRICS), 503),
        (errors.BackendTimeout(errors.NO_METRICS), 504),
        (errors.RuleRejected(errors.NO_METRICS), 500),
    ):
        kit.backend.failure = failure
        reply = await kit.ask(f"{PODS}/*/goroutines")
        assert (reply.status, reply.cause) == (code, failure.cause)
        assert "Retry-After" not in reply.headers
        assert "retryAfterSeconds" not in reply.body["details"]


async def test_old_answer_stands_in_for_a_failing_backend_and_says_so():
    """Until it is 30 s old: 200 with the true sample time and a Warning header; then 503."""
    kit = await goroutines("web-1", ttl=5.0)
    kit.backend.samples = [({"pod": "web-1"}, 42.0)]
    fresh = await kit.ask(f"{PODS}/*/goroutines")
    assert "Warning" not in fresh.headers
    kit.backend.failure = errors.BackendUnavailable(errors.NO_METRICS)
    kit.clock.advance(23)
    stale = await kit.ask(f"{PODS}/*/goroutines")
    assert stale.body == fresh.body
    assert stale.headers["Warning"] == '299 - "value is 23 s old: backend unavailable"'
    kit.clock.advance(7.1)
    assert (await kit.ask(f"{PODS}/*/goroutines")).status == 503


async def test_unlistable_kind_is_an_error_of_its_own():
    """A kind that the API server does not list is 500 ObjectsNotListable."""
    kit = await goroutines()
    kit.objects.stores.clear()
    reply = await kit.ask(f"{PODS}/*/goroutines")
    assert (reply.status, reply.cause) == (500, "ObjectsNotListable")


async def test_time_of_an_item_is_the_backends():
    """The time stamp is that of the sample, not of the answer."""
    kit = await goroutines("web-1")
    kit.backend.samples = [({"pod": "web-1"}, 1.0)]
    kit.backend.at = 1_714_557_500.9
    reply = await kit.ask(f"{PODS}/*/goroutines")
    assert reply.body["items"][0]["timestamp"] == "2024-05-01T09:58:20Z"


async def test_unchanged_question_is_not_worked_out_again():
    """Same objects, same snapshot: the very items of before."""
    kit = await goroutines("web-1", ttl=5.0)
    kit.backend.samples = [({"pod": "web-1"}, 1.0)]
    first = await kit.ask(f"{PODS}/*/goroutines")
    (meant,) = kit.parts.answers._remembered.values()
    held = meant.items, meant.written["v1beta2"]
    assert (await kit.ask(f"{PODS}/*/goroutines")).body == first.body
    assert meant.items is held[0]
    assert meant.written["v1beta2"] is held[1]
    assert len(kit.backend.queries) == 1


async def test_whatever_changes_is_seen_at_the_next_question():
    """A new pod, a pod that goes, new labels, a new sample, a new catalog: each changes the answer at once."""
    kit = await goroutines("web-1", ttl=5.0)
    kit.backend.samples = [({"pod": f"web-{n}"}, float(n)) for n in (1, 2, 3)]
    path, selected = f"{PODS}/*/goroutines", {"labelSelector": "app=web"}
    store = kit.objects.stores["pods"]
    assert (await kit.ask(path)).values == {"web-1": "1"}
    kit.objects.place("pods", "default", "web-2")
    assert (await kit.ask(path)).values == {"web-1": "1", "web-2": "2"}
    store.remove("default", "web-1")
    assert (await kit.ask(path)).values == {"web-2": "2"}
    assert (await kit.ask(path, selected)).status == 404
    kit.objects.place("pods", "default", "web-2", labels={"app": "web"})
    assert (await kit.ask(path, selected)).values == {"web-2": "2"}
    kit.backend.samples = [({"pod": "web-2"}, 7.0)]
    assert (await kit.ask(path)).values == {"web-2": "2"}
    kit.clock.advance(6)
    assert (await kit.ask(path)).values == {"web-2": "7"}
    kit.backend.listings = dict.fromkeys(kit.backend.listings, ())
    await kit.relist()
    assert (await kit.ask(path)).cause == "MetricUnknown"


async def test_both_versions_are_remembered_apart():
    """The bytes of one version are never given for the other."""
    kit = await goroutines("web-1", ttl=5.0)
    kit.backend.samples = [({"pod": "web-1"}, 1.0)]
    for version in ("v1beta1", "v1beta2", "v1beta1"):
        reply = await kit.ask(PODS.replace("v1beta2", version) + "/*/goroutines")
        assert reply.body["apiVersion"] == f"custom.metrics.k8s.io/{version}"


async def test_list_of_pods_without_any_sample_has_its_own_cause():
    """For a list, an empty result is NoSample: nothing at all is known of the series."""
    kit = await goroutines()
    assert (await kit.ask(f"{PODS}/*/goroutines")).cause == "NoSample"


async def test_rejected_rule_is_named_and_told_to_the_log_once(caplog):
    """The refusal names the rule, not the query; the log has one line until the rule works again."""
    caplog.set_level("INFO")
    kit = await goroutines("web-1")
    kit.backend.failure = errors.RuleRejected(errors.NO_METRICS)
    for _ in range(3):
        reply = await kit.ask(f"{PODS}/*/goroutines")
        assert (reply.status, reply.cause) == (500, "RuleRejected")
        assert "RuleRejected: rules[0]: " in reply.body["message"]
        assert "sum(" not in reply.body["message"]
    kit.backend.failure, kit.backend.samples = None, [({"pod": "web-1"}, 1.0)]
    assert (await kit.ask(f"{PODS}/*/goroutines")).status == 200
    told = [(one.message, one.rule) for one in caplog.records if one.name == "adapter.answer"]
    assert told == [("rule_rejected", "rules[0]"), ("rule_accepted", "rules[0]")]


async def test_what_is_remembered_is_bounded_in_bytes_and_time():
    """Random selectors of 12 KiB from one caller never hold more than the bound; a minute later they are gone."""
    kit = await goroutines("web-1")
    kit.backend.samples = [({"pod": "web-1"}, 1.0)]
    remembered = kit.parts.answers._remembered
    weights = []
    for number in range(400):
        selector = ",".join(f"label_{number}_{at}!={'v' * 60}" for at in range(60))
        await kit.ask(f"{PODS}/web-1/goroutines", {"metricLabelSelector": selector})
        weights.append(remembered.currsize)
    assert weights[9] > 10 * 10 * 1024
    assert remembered.currsize <= remembered.maxsize
    kit.clock.advance(61)
    remembered.expire()
    assert len(remembered) == 0


async def test_old_store_is_not_kept_alive_by_a_question_of_yesterday():
    """After a relist of the objects, nothing remembered refers to the store before."""
    kit = await goroutines("web-1")
    kit.backend.samples = [({"pod": "web-1"}, 1.0)]
    await kit.ask(f"{PODS}/*/goroutines")
    old = weakref.ref(kit.objects.stores["pods"])
    kit.objects.stores["pods"] = Store([Object("default", "web-1", {})])
    gc.collect()
    assert old() is None
    assert (await kit.ask(f"{PODS}/*/goroutines")).values == {"web-1": "1"}
