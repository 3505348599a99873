"""Made once, however many wait; nobody who leaves harms the others."""

import asyncio
import gc

import pytest

from adapter.flights import Flights
from tests.support import leaks


class Maker:
    """Something that takes until `done` is set, and counts how often it is begun."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.begun, self.ended, self.failure = 0, 0, failure
        self.done = asyncio.Event()

    async def make(self) -> object:
        self.begun += 1
        await self.done.wait()
        self.ended += 1
        if self.failure is not None:
            raise self.failure
        return self


async def _settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def _crowd(flights: Flights, maker: Maker, number: int) -> list[asyncio.Task]:
    tasks = [asyncio.create_task(flights.join("key", maker.make)) for _ in range(number)]
    await _settle()
    return tasks


async def test_a_thousand_callers_are_one_flight():
    """All get the very same thing, made once."""
    flights, maker = Flights(), Maker()
    async with leaks.nothing_left():
        tasks = await _crowd(flights, maker, 1000)
        maker.done.set()
        results = await asyncio.gather(*tasks)
    assert maker.begun == 1
    assert all(one is maker for one in results)
    assert len(flights) == 0


async def test_cancelled_callers_harm_nobody():
    """A hundred of a thousand are cancelled, the first among them: 900 answers, one flight."""
    flights, maker = Flights(), Maker()
    async with leaks.nothing_left():
        tasks = await _crowd(flights, maker, 1000)
        for task in tasks[:100]:
            task.cancel()
        await _settle()
        maker.done.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    assert maker.begun == 1
    assert [one is maker for one in results].count(True) == 900
    assert all(isinstance(one, asyncio.CancelledError) for one in results[:100])


async def test_a_flight_ends_though_all_callers_have_left():
    """Its result may still be of use: it is not cancelled."""
    flights, maker = Flights(), Maker()
    async with leaks.nothing_left():
        tasks = await _crowd(flights, maker, 3)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        maker.done.set()
        await _settle()
    assert maker.ended == 1
    assert len(flights) == 0


async def test_a_failure_reaches_all_callers():
    """None is left waiting, and the next caller starts anew."""
    flights, maker = Flights(), Maker(ValueError("x"))
    tasks = await _crowd(flights, maker, 50)
    maker.done.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert results == [maker.failure] * 50
    with pytest.raises(ValueError):
        await flights.join("key", maker.make)
    assert maker.begun == 2


async def test_a_failure_that_nobody_waits_for_is_not_reported_as_unhandled():
    """The loop's exception handler hears nothing when all callers have left a failing flight."""
    heard = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: heard.append(context))
    flights, maker = Flights(), Maker(ValueError("x"))
    tasks = await _crowd(flights, maker, 3)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    maker.done.set()
    await _settle()
    assert maker.ended == 1
    maker.failure = None
    del tasks
    gc.collect()  # asyncio reports when the task is freed
    await _settle()
    assert heard == []


async def test_different_keys_are_different_flights():
    """Only equal questions share."""
    flights, maker = Flights(), Maker()
    maker.done.set()
    await asyncio.gather(flights.join("a", maker.make), flights.join("b", maker.make))
    assert maker.begun == 2


async def test_what_has_landed_is_not_joined():
    """A later question is a new flight."""
    flights, maker = Flights(), Maker()
    maker.done.set()
    await flights.join("key", maker.make)
    await flights.join("key", maker.make)
    assert maker.begun == 2


async def test_a_flight_may_begin_without_a_caller():
    """Who comes later joins it, and its failure is nobody's surprise."""
    flights, maker = Flights(), Maker(ValueError("x"))
    async with leaks.nothing_left():
        assert flights.begin("key", maker.make) is flights.begin("key", maker.make)
        maker.done.set()
        with pytest.raises(ValueError):
            await flights.join("key", maker.make)
        assert maker.begun == 1
        flights.begin("key", maker.make)
        await _settle()
    assert (maker.begun, len(flights)) == (2, 0)


async def test_closing_ends_all_flights():
    """At shutdown no task is left."""
    flights, maker = Flights(), Maker()
    async with leaks.nothing_left():
        tasks = await _crowd(flights, maker, 3)
        await flights.close()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert maker.ended == 0
    assert len(flights) == 0
