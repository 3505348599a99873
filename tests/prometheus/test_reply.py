"""What status and body of the backend mean."""

import json

import pytest

from adapter import errors
from adapter.prometheus import faults, reply
from adapter.prometheus.reply import Reply
from adapter.promql import vector

EMPTY = b'{"status":"success","data":{"resultType":"vector","result":[]}}'
DOWN, SLOW, BAD = errors.BackendUnavailable, errors.BackendTimeout, errors.BackendBadAnswer
AGAIN, RULE = faults.Passing, errors.RuleRejected


def _envelope(error_type: str) -> bytes:
    return json.dumps({"status": "error", "errorType": error_type, "error": "secret words"}).encode()


async def _read(status: int, body: bytes) -> vector.Result:
    async def decode(found: bytes) -> vector.Result:
        return vector.decode(found)

    return await reply.read(Reply(status, body), decode)


@pytest.mark.parametrize("status", [200, 201, 204, 206])
async def test_a_2xx_body_is_an_answer(status):
    """Any 2xx will do, as upstream has it."""
    assert (await _read(status, EMPTY)).kind == "vector"


@pytest.mark.parametrize("status", [300, 302, 400, 404, 422, 429, 500, 503])
async def test_success_with_another_status_is_no_answer(status):
    """A success envelope with any other status is not believed."""
    with pytest.raises(errors.BackendUnavailable):
        await _read(status, EMPTY)


@pytest.mark.parametrize(
    ("status", "error_type", "kind"),
    [
        (400, "bad_data", RULE),
        (422, "execution", RULE),
        (200, "bad_data", RULE),
        (503, "execution", RULE),
        (422, "422", RULE),  # VictoriaMetrics puts the status there
        (404, "not_found", RULE),
        (400, "something", RULE),
        (503, "timeout", SLOW),
        (503, "canceled", SLOW),
        (200, "timeout", SLOW),
        (503, "unavailable", AGAIN),
        (503, "503", AGAIN),
        (502, "internal", AGAIN),
        (500, "internal", DOWN),
        (500, "something", DOWN),
        (422, "internal", DOWN),
        (200, "internal", DOWN),
        (200, "something", DOWN),
        (429, "execution", DOWN),
        (401, "bad_data", DOWN),
        (413, "bad_data", RULE),
    ],
)
async def test_an_error_envelope_says_whose_fault_it_is(status, error_type, kind):
    """The query's fault is RuleRejected; the backend's is unavailable or too slow; the status decides otherwise."""
    with pytest.raises(errors.AdapterError) as caught:
        await _read(status, _envelope(error_type))
    assert type(caught.value) is kind
    assert "secret words" not in caught.value.message


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, BAD),
        (301, BAD),
        (302, BAD),
        (400, BAD),
        (404, BAD),
        (405, BAD),
        (422, BAD),
        (401, DOWN),
        (403, DOWN),
        (413, RULE),
        (414, RULE),
        (429, DOWN),
        (500, DOWN),
        (501, DOWN),
        (502, AGAIN),
        (503, AGAIN),
        (504, DOWN),
    ],
)
async def test_a_status_without_envelope_speaks_for_itself(status, kind):
    """A page of a proxy is no answer; its status tells down from strange."""
    with pytest.raises(errors.AdapterError) as caught:
        await _read(status, b"<html>secret words</html>")
    assert type(caught.value) is kind
    assert "secret words" not in caught.value.message


async def test_the_backends_words_are_kept_for_the_log():
    """The error is chained to what the backend said."""
    with pytest.raises(errors.RuleRejected) as caught:
        await _read(400, _envelope("bad_data"))
    assert "secret words" in str(caught.value.__cause__)
