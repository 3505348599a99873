"""The client against a stand-in on loopback: what it sends, reads, bounds and repeats."""

import asyncio
import gzip

import pytest

from adapter import errors
from adapter.prometheus.client import PrometheusClient
from adapter.prometheus.transport import QuestionLimits, Transport
from tests.support import leaks
from tests.support.fake_prometheus import FakePrometheus
from tests.support.fake_prometheus_answers import black_hole, raw, sample, status, vector

FORM = "application/x-www-form-urlencoded"


async def test_query_is_a_form_with_query_and_conditions_only(client, fake, clock):
    """Nothing else is sent, above all no time: the backend's clock decides."""
    await client.instant('up{pod=~"a|b"} + 1', deadline=clock.monotonic() + 5)
    [request] = fake.requests
    assert (request.method, request.path) == ("POST", "/api/v1/query")
    assert request.form == {
        "query": 'up{pod=~"a|b"} + 1',
        "timeout": "4s",
        "partial_response": "false",
    }
    assert request.url_query == {}
    assert request.headers["Content-Type"].startswith(FORM)


@pytest.mark.parametrize(
    ("left", "timeout"), [(60, "4s"), (5, "4s"), (3.25, "2250ms"), (2, "1s"), (1.5, "1s"), (0.5, "1s")]
)
async def test_the_backend_is_told_to_give_up_one_second_before_us(client, fake, clock, left, timeout):
    """At most the budget of a query, at least a second."""
    await client.instant("up", deadline=clock.monotonic() + left)
    assert fake.requests[0].form["timeout"] == timeout


@pytest.mark.parametrize(
    ("start", "text"),
    [
        (1_714_557_600.0, "1714557600"),
        (1_714_557_600.5, "1714557600.5"),
        (1_714_557_600.12345, "1714557600.123"),
        (1_714_557_600.9996, "1714557601"),
        (0.0, "0"),
        (100.0, "100"),
    ],
)
async def test_listing_is_a_form_with_match_and_start_only(client, fake, clock, start, text):
    """The start has milliseconds without trailing zeros, as upstream writes it."""
    await client.series('{__name__=~"^http"}', start=start, deadline=clock.monotonic() + 30)
    [request] = fake.requests
    assert (request.method, request.path) == ("POST", "/api/v1/series")
    assert request.form == {"match[]": '{__name__=~"^http"}', "start": text}


async def test_answers_are_samples(client, fake, clock):
    """Labels, value and the backend's own time come through."""
    fake.answer("up", vector(sample({"pod": "a"}, 1.5, at=1_714_557_590.5)))
    result = await client.instant("up", deadline=clock.monotonic() + 5)
    [found] = result.samples
    assert (dict(found.labels), found.value, found.time) == ({"pod": "a"}, 1.5, 1_714_557_590.5)


async def test_listings_are_shapes(client, fake, clock):
    """Series with the same name and label names are one shape."""
    fake.series("up", [{"__name__": "up", "pod": "a"}, {"__name__": "up", "pod": "b"}])
    [shape] = await client.series("up", start=0, deadline=clock.monotonic() + 5)
    assert (shape.name, shape.labels - {"__name__"}) == ("up", {"pod"})


async def test_user_info_is_sent_as_basic_and_headers_are_added(fake, clock):
    """Credentials of the address become a header; configured headers travel with every request."""
    url = fake.url.replace("http://", "http://user:pass@")
    client = PrometheusClient(url + "/prefix/", clock, Transport(headers={"X-Scope-OrgID": "a"}))
    await client.start()
    await client.instant("up", deadline=clock.monotonic() + 5)
    await client.close()
    [request] = fake.requests
    assert request.path == "/prefix/api/v1/query"
    assert request.headers["Authorization"] == "Basic dXNlcjpwYXNz"
    assert request.headers["X-Scope-OrgID"] == "a"


async def test_environment_proxies_are_ignored(client, fake, clock, monkeypatch):
    """A proxy variable of the pod never redirects the queries."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    await client.instant("up", deadline=clock.monotonic() + 5)
    assert len(fake.requests) == 1


async def test_redirects_are_not_followed(client, fake, clock):
    """A login page behind a redirect is no answer, and gets no credentials."""
    fake.answer("up", status(302, Location=f"{fake.url}/login"))
    with pytest.raises(errors.BackendBadAnswer):
        await client.instant("up", deadline=clock.monotonic() + 5)
    assert len(fake.requests) == 1


async def test_cookies_are_not_kept(client, fake, clock):
    """Nothing of one answer travels with the next question."""
    fake.answer("up", status(200, vector().body, **{"Set-Cookie": "a=b"}))
    await client.instant("up", deadline=clock.monotonic() + 5)
    await client.instant("up", deadline=clock.monotonic() + 5)
    assert "Cookie" not in fake.requests[1].headers


async def test_partial_answers_are_left_to_the_backend_if_that_is_wished(fake, clock):
    """prometheus-adapter does not mention them: its compatible mode neither."""
    client = PrometheusClient(fake.url, clock, Transport(partial_answers=True))
    await client.start()
    await client.instant("up", deadline=clock.monotonic() + 5)
    await client.close()
    assert fake.requests[0].form == {"query": "up", "timeout": "4s"}


async def test_get_is_used_after_a_405_and_remembered(client, fake, clock):
    """A backend that takes no POST is asked by GET, with the same parameters."""
    fake.refuse_post = True
    for _ in range(2):
        await client.instant("a + b", deadline=clock.monotonic() + 5)
    assert [one.method for one in fake.requests] == ["POST", "GET", "GET"]
    assert fake.requests[1].url_query == {"query": "a + b", "timeout": "4s", "partial_response": "false"}


async def test_post_is_tried_again_after_some_minutes(client, fake, clock):
    """A proxy that refused it for a while does not condemn long queries until the next restart."""
    fake.refuse_post = True
    await client.instant("up", deadline=clock.monotonic() + 5)
    clock.advance(299)
    await client.instant("up", deadline=clock.monotonic() + 5)
    clock.advance(2)
    await client.instant("up", deadline=clock.monotonic() + 5)
    fake.refuse_post = False
    clock.advance(301)
    await client.instant("up", deadline=clock.monotonic() + 5)
    methods = [one.method for one in fake.requests]
    assert methods == ["POST", "GET", "GET", "POST", "GET", "POST"]


async def test_questions_under_way_when_post_is_refused_all_fall_back(client, fake, clock):
    """Concurrent questions meet the 405 together, and each finds its way."""
    fake.refuse_post = True
    await asyncio.gather(*(client.instant("up", deadline=clock.monotonic() + 5) for _ in range(8)))


async def test_compressed_answers_are_read(client, fake, clock):
    """Compression is offered and understood."""
    fake.answer("up", raw(gzip.compress(vector(sample({}, 1)).body), Content_Encoding="gzip"))
    result = await client.instant("up", deadline=clock.monotonic() + 5)
    assert len(result.samples) == 1
    assert "gzip" in fake.requests[0].headers["Accept-Encoding"]


async def test_no_more_than_eight_are_on_their_way(client, fake, clock):
    """The others wait, and are served in turn."""
    fake.hold()
    deadline = clock.monotonic() + 5
    tasks = [asyncio.create_task(client.instant(f"q{number}", deadline=deadline)) for number in range(40)]
    await fake.asked(8)
    for _ in range(50):
        await asyncio.sleep(0)
    assert len(fake.requests) == 8
    fake.release()
    await asyncio.gather(*tasks)
    assert fake.most_in_flight <= 8


async def test_limits_can_be_set(fake, clock):
    """An answer with more samples than allowed is refused as a whole."""
    fake.answer("up", vector(sample({"pod": "a"}, 1), sample({"pod": "b"}, 1)))
    client = PrometheusClient(fake.url, clock, Transport(limits=QuestionLimits(query_samples=1)))
    await client.start()
    with pytest.raises(errors.RuleRejected, match="too many samples"):
        await client.instant("up", deadline=clock.monotonic() + 5)
    await client.close()


async def test_retry_pause_is_between_50_and_150_milliseconds(client, fake, clock, pauses):
    """Drawn at random, so that replicas don't come back in step."""
    fake.answer("up", status(503), vector())
    await client.instant("up", deadline=clock.monotonic() + 5)
    assert pauses == [pytest.approx(0.1)]


async def test_a_deadline_in_the_past_is_a_timeout(client, clock):
    """No question is sent that nobody waits for."""
    with pytest.raises(errors.BackendTimeout):
        await client.instant("up", deadline=clock.monotonic() - 1)


@pytest.mark.parametrize(("budget", "left"), [(0.05, 60), (60, 0.05)])
async def test_a_listing_ends_with_its_budget_or_the_callers(fake, clock, budget, left):
    """Whichever comes first."""
    fake.series("up", black_hole())
    client = PrometheusClient(fake.url, clock, Transport(limits=QuestionLimits(listing_seconds=budget)))
    await client.start()
    with pytest.raises(errors.BackendTimeout):
        await client.series("up", start=0, deadline=clock.monotonic() + left)
    await client.close()


async def test_a_cancelled_question_leaves_nothing_behind(client, fake, clock):
    """Its connection is closed, its place in the gate is free."""
    fake.answer("slow", black_hole())
    async with leaks.nothing_left():
        tasks = [
            asyncio.create_task(client.instant("slow", deadline=clock.monotonic() + 5)) for _ in range(8)
        ]
        await fake.asked(8)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    await client.instant("up", deadline=clock.monotonic() + 5)


async def test_closing_twice_and_asking_unstarted(clock):
    """close() may come at any time; a question before start() is a fault of ours."""
    async with FakePrometheus() as fake:
        client = PrometheusClient(fake.url, clock)
        await client.close()
        with pytest.raises(RuntimeError):
            await client.instant("up", deadline=clock.monotonic() + 5)
        await client.start()
        await client.close()
        await client.close()
