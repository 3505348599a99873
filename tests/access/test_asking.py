"""How the API server is asked: bounded in every way."""

import asyncio
import logging

import pytest

from adapter import errors
from adapter.access import asking
from adapter.access.asking import Asking
from tests.support import leaks
from tests.support.sleeper import settle

FAILURE = errors.AccessUnknown("no answer")


class Answers:
    """Gives `answers` one by one; an exception is raised, an Event is waited for, for ever if need be."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), 0

    async def __call__(self):
        self.asked += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, asyncio.Event):
            await answer.wait()
        return answer


async def test_one_question_is_one_review():
    """No second try after an answer, be it a no."""
    for answer in (True, False, None):
        review = Answers(answer)
        assert await Asking("access").ask(b"k", review) is answer
        assert review.asked == 1


async def test_a_second_try_may_do():
    """One failure is bridged."""
    review = Answers(FAILURE, True)
    assert await Asking("access").ask(b"k", review) is True


async def test_there_is_no_third_try():
    """Two failures are one."""
    review = Answers(FAILURE, FAILURE, True)
    with pytest.raises(errors.AccessUnknown, match="no answer"):
        await Asking("access").ask(b"k", review)
    assert review.asked == 2


async def test_a_try_that_hangs_is_asked_again():
    """After half of the time: a connection that is dead says nothing."""
    review = Answers(asyncio.Event(), True)
    assert await Asking("access", seconds=0.02).ask(b"k", review) is True


async def test_two_that_hang_are_no_answer():
    """The time is up, whatever it was spent on."""
    review = Answers(asyncio.Event(), asyncio.Event())
    with pytest.raises(errors.AccessUnknown, match=r"^no token review within 0.02 s$"):
        await Asking("token", seconds=0.02).ask(b"k", review)
    assert review.asked == 2


async def test_waiting_for_others_is_a_part_of_the_time():
    """Who does not get his turn is refused too."""
    found = Asking("token", seconds=0.02)
    hanging = [Answers(asyncio.Event(), asyncio.Event()) for _ in range(asking.AT_ONCE + 5)]
    tasks = [asyncio.create_task(found.ask(b"%d" % at, one)) for at, one in enumerate(hanging)]
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(one, errors.AccessUnknown) for one in results)


async def test_equal_questions_are_one():
    """All get its answer."""
    found, gate = Asking("access"), asyncio.Event()
    review = Answers(gate)
    tasks = [asyncio.create_task(found.ask(b"k", review)) for _ in range(100)]
    await settle()
    gate.set()
    assert set(await asyncio.gather(*tasks)) == {gate}
    assert review.asked == 1


async def test_too_many_different_questions_are_refused():
    """At once, without waiting; who asks what is asked already may wait with the others."""
    found, gate = Asking("access"), asyncio.Event()
    async with leaks.nothing_left():
        tasks = [
            asyncio.create_task(found.ask(b"%d" % at, Answers(gate))) for at in range(asking.MOST_WAITING)
        ]
        await settle()
        with pytest.raises(errors.AccessUnknown, match="too many access reviews"):
            await found.ask(b"another", Answers(True))
        shared = asyncio.create_task(found.ask(b"7", Answers(True)))
        await settle()
        gate.set()
        assert await shared is gate
        await asyncio.gather(*tasks)


async def test_an_outage_is_two_lines(caplog):
    """One when it begins, one when it ends."""
    caplog.set_level(logging.INFO, "adapter.access")
    found = Asking("token")
    for _ in range(3):
        with pytest.raises(errors.AccessUnknown):
            await found.ask(b"k", Answers(FAILURE, FAILURE))
    for _ in range(3):
        await found.ask(b"k", Answers(True))
    assert [one.getMessage() for one in caplog.records] == ["reviews_failing", "reviews_recovered"]
    assert {one.what for one in caplog.records} == {"token"}


async def test_nothing_is_left_behind():
    """Closing ends what is under way."""
    async with leaks.nothing_left():
        found = Asking("token")
        task = asyncio.create_task(found.ask(b"k", Answers(asyncio.Event(), asyncio.Event())))
        await settle()
        await found.close()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_bug_is_no_answer_either():
    """It reaches the caller as what it is, and lets nobody in."""
    with pytest.raises(ZeroDivisionError):
        await Asking("token").ask(b"k", Answers(ZeroDivisionError()))
