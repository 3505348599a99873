"""F06: HTML, truncated JSON, wrong types, bad UTF-8, a compressed bomb."""

import contextlib
import gzip
import logging
import random

import pytest

from adapter import errors
from adapter.prometheus import reply
from adapter.prometheus.reply import Reply
from adapter.promql import vector as decoder
from tests.support.fake_prometheus_answers import raw, sample, status, vector
from tests.support.rig import rig

GOOD = vector(sample({"pod": "a"}, 1), sample({"pod": "b"}, 2.5)).body
LOGIN = b"<html>\x1b[31m" + b"<form>Please log in</form>" * 100

BROKEN = {
    "nothing": b"",
    "blanks": b"  \n",
    "a login page": LOGIN,
    "text": b"404 page not found\n",
    "cut in the middle": GOOD[: len(GOOD) // 2],
    "cut at the end": GOOD[:-1],
    "null": b"null",
    "a number": b"1",
    "a list": b"[]",
    "an empty object": b"{}",
    "another status": b'{"status":"fine","data":{"resultType":"vector","result":[]}}',
    "no data": b'{"status":"success"}',
    "data of another type": b'{"status":"success","data":"x"}',
    "no result type": b'{"status":"success","data":{"result":[]}}',
    "unknown result type": b'{"status":"success","data":{"resultType":"tensor","result":[]}}',
    "result is an object": b'{"status":"success","data":{"resultType":"vector","result":{}}}',
    "a sample is a number": b'{"status":"success","data":{"resultType":"vector","result":[1]}}',
    "labels are a list": b'{"status":"success","data":{"resultType":"vector","result":[{"metric":[],"value":[1,"1"]}]}}',
    "a value of one part": b'{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1]}]}}',
    "a value that is no number": b'{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"x"]}]}}',
    "a JSON number as value": b'{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,1]}]}}',
    "bad UTF-8": GOOD.replace(b'"a"', b'"\xff\xfe"'),
    "UTF-16": GOOD.decode().encode("utf-16"),
    "deeply nested": b"[" * 100_000,
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
async def test_f06_what_is_no_answer_is_a_bad_answer(body, caplog):
    """503 BackendBadAnswer; the log has no trace, and at most 64 characters of the body."""
    caplog.set_level(logging.DEBUG, logger="adapter")
    async with rig() as it:
        it.fake.answer("up", raw(body))
        with pytest.raises(errors.BackendBadAnswer) as caught:
            await it.take()
    assert "log in" not in caught.value.message
    assert all(one.exc_info is None for one in caplog.records)
    for record in caplog.records:
        assert str(vars(record)).count("Please log in") <= 64 // len("Please log in")
        assert "\x1b" not in str(getattr(record, "words", ""))


@pytest.mark.parametrize(
    "answer",
    [
        status(404, LOGIN),
        status(302, LOGIN, Location="http://127.0.0.1:1/login"),
        raw(b"no gzip at all", Content_Encoding="gzip"),
        raw(gzip.compress(GOOD)[:-20], Content_Encoding="gzip"),
    ],
    ids=["not found", "redirect", "not compressed", "compression cut"],
)
async def test_f06_strange_exchanges_are_bad_answers(answer):
    """A wrong address, a login redirect, broken compression."""
    async with rig() as it:
        it.fake.answer("up", answer)
        with pytest.raises(errors.BackendBadAnswer):
            await it.take()


async def test_f06_one_bad_answer_leaves_the_next_question_alone():
    """A login page for one rule stops no other rule."""
    async with rig() as it:
        it.fake.answer("bad", raw(LOGIN))
        with pytest.raises(errors.BackendBadAnswer):
            await it.take("bad")
        assert (await it.take("good")).cause is None


async def test_f06_a_compressed_bomb_is_not_inflated_beyond_the_limit():
    """Reading stops at the limit, whatever the size on the wire."""
    async with rig() as it:
        it.fake.answer("up", raw(gzip.compress(b" " * (64 << 20), 1), Content_Encoding="gzip"))
        with pytest.raises(errors.RuleRejected, match="too many samples"):
            await it.take()


async def test_f06_mutilated_answers_raise_nothing_unexpected():
    """A thousand mutilations of a good answer: each is read, or fails within the family of errors."""
    rng = random.Random(6)

    async def decode(body: bytes) -> decoder.Result:
        return decoder.decode(body)

    for _ in range(1000):
        body = bytearray(GOOD)
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(body))
            body[place : place + rng.randint(0, 3)] = rng.randbytes(rng.randint(0, 3))
        with contextlib.suppress(errors.AdapterError):
            await reply.read(Reply(200, bytes(body)), decode)
