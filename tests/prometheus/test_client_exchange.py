"""The client without a socket: one exchange at a time, by aioresponses."""

import aiohttp
import pytest
from aioresponses import aioresponses
from yarl import URL

from adapter import errors
from adapter.prometheus.client import PrometheusClient
from adapter.prometheus.transport import Transport
from tests.support.clock import FakeClock

QUERY = "http://prometheus:9090/api/v1/query"
SERIES = "http://prometheus:9090/api/v1/series"
EMPTY = {"status": "success", "data": {"resultType": "vector", "result": []}}


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def pauses():
    return []


@pytest.fixture
async def client(clock, pauses):
    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    found = PrometheusClient("http://prometheus:9090", clock, Transport(sleep=sleep, random=lambda: 0.0))
    await found.start()
    yield found
    await found.close()


@pytest.fixture
def wire():
    with aioresponses() as found:
        yield found


async def test_a_query_posts_its_form(client, clock, wire):
    """The form goes to the query endpoint, redirects are off."""
    wire.post(QUERY, payload=EMPTY)
    await client.instant("up", deadline=clock.monotonic() + 5)
    [call] = wire.requests["POST", URL(QUERY)]
    assert call.kwargs["data"] == {"query": "up", "timeout": "4s", "partial_response": "false"}
    assert call.kwargs["allow_redirects"] is False


async def test_a_listing_posts_its_form(client, clock, wire):
    """The form goes to the series endpoint."""
    wire.post(SERIES, payload={"status": "success", "data": [{"__name__": "up", "pod": "a"}]})
    [shape] = await client.series("up", start=1.5, deadline=clock.monotonic() + 5)
    assert shape.name == "up"
    [call] = wire.requests["POST", URL(SERIES)]
    assert call.kwargs["data"] == {"match[]": "up", "start": "1.5"}


@pytest.mark.parametrize("fault", [aiohttp.ServerDisconnectedError(), aiohttp.ClientOSError(104, "reset")])
async def test_a_connection_that_breaks_before_the_first_byte_is_tried_again(
    client, clock, wire, pauses, fault
):
    """A reset is what a restarting proxy gives: one more try, after a pause."""
    wire.post(QUERY, exception=fault)
    wire.post(QUERY, payload=EMPTY)
    assert (await client.instant("up", deadline=clock.monotonic() + 5)).samples == ()
    assert pauses == [0.05]


@pytest.mark.parametrize("code", [502, 503])
async def test_there_is_no_third_try(client, clock, wire, pauses, code):
    """Two failures in a row are an answer."""
    wire.post(QUERY, status=code, repeat=True)
    with pytest.raises(errors.BackendUnavailable, match=f"HTTP {code}"):
        await client.instant("up", deadline=clock.monotonic() + 5)
    assert len(pauses) == 1


@pytest.mark.parametrize("code", [400, 404, 422, 429, 500, 501, 504])
async def test_other_statuses_are_not_tried_again(client, clock, wire, pauses, code):
    """A repetition would not help, or make it worse."""
    wire.post(QUERY, status=code, repeat=True)
    with pytest.raises(errors.AdapterError):
        await client.instant("up", deadline=clock.monotonic() + 5)
    assert pauses == []


async def test_there_is_no_second_try_without_two_seconds_left(client, clock, wire, pauses):
    """A retry that cannot end in time only costs the backend."""
    wire.post(QUERY, status=503, repeat=True)
    with pytest.raises(errors.BackendUnavailable):
        await client.instant("up", deadline=clock.monotonic() + 1.9)
    assert pauses == []


async def test_a_query_that_the_backend_ended_as_too_slow_is_not_tried_again(client, clock, wire, pauses):
    """It would be as slow the second time."""
    wire.post(
        QUERY, status=503, payload={"status": "error", "errorType": "timeout", "error": "x"}, repeat=True
    )
    with pytest.raises(errors.BackendTimeout):
        await client.instant("up", deadline=clock.monotonic() + 5)
    assert pauses == []


async def test_a_connect_that_takes_too_long_is_no_slow_query(client, clock, wire):
    """Not to be reached is down: advice about slow queries would mislead."""
    wire.post(QUERY, exception=aiohttp.ConnectionTimeoutError("x"))
    with pytest.raises(errors.BackendUnavailable, match="no connection in time"):
        await client.instant("up", deadline=clock.monotonic() + 5)
