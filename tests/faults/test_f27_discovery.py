"""F27: discovery answers, whatever else does not.

The seconds and the 10,000 metrics are in bench/discovery.py; here it is that nothing is waited for.
"""

import asyncio

import pytest

from adapter import errors
from adapter.settings import Limits
from adapter.wire import apis
from tests.support.kit import PODS, Kit

PROBES = 5
"""The aggregator asks as many times at once, and looks at the status only."""

LISTS = [f"/apis/{api.group}/{version}" for api in apis.SERVED for version in api.versions]
OTHERS = [
    "/apis",
    *(f"/apis/{api.group}" for api in apis.SERVED),
    "/openapi/v2",
    "/openapi/v3",
    *(f"/openapi/v3{path}" for path in LISTS),
]


async def never(*_, **__):
    await asyncio.Event().wait()


async def probed(kit: Kit, path: str) -> list[int]:
    """The statuses of five requests at once.

    Each may take one turn of the loop and no more: one that waited for anything at all would not be done after it.
    """
    probes = [asyncio.create_task(kit.ask(path)) for _ in range(PROBES)]
    await asyncio.sleep(0)
    late = [one for one in probes if not one.done()]
    for one in late:
        one.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    assert not late, f"{len(late)} of {PROBES} wait for something: {path}"
    return [one.result().status for one in probes]


@pytest.fixture
async def hung():
    """An adapter whose backend and objects never answer, whose catalog is empty, and which takes no question more."""
    kit = Kit(limits=Limits(in_flight=2))
    kit.backend.instant = kit.backend.series = kit.kinds.kinds = kit.objects.objects = never
    relist = asyncio.create_task(kit.relist())
    yield kit
    relist.cancel()
    await asyncio.gather(relist, return_exceptions=True)


@pytest.fixture
async def overloaded():
    """An adapter with a catalog, all of whose questions hang."""
    kit = Kit(limits=Limits(in_flight=2))
    await kit.relist()
    kit.backend.instant = kit.backend.series = kit.kinds.kinds = kit.objects.objects = never
    questions = [asyncio.create_task(kit.ask(f"{PODS}/{one}/goroutines")) for one in ("a", "b")]
    await asyncio.sleep(0)
    yield kit
    for one in questions:
        one.cancel()
    await asyncio.gather(*questions, return_exceptions=True)


@pytest.mark.parametrize("path", [*LISTS, *OTHERS])
async def test_f27_answered_while_nothing_else_is_there(hung, path):
    """Before the first relist, with a backend, kinds and objects that hang."""
    assert await probed(hung, path) == [200] * PROBES


@pytest.mark.parametrize("path", [*LISTS, *OTHERS])
async def test_f27_answered_while_no_question_is_taken(overloaded, path):
    """The budget of questions is full, which is another budget."""
    refused = await overloaded.ask(f"{PODS}/c/goroutines")
    assert (refused.status, refused.cause) == (429, "Overloaded")
    assert await probed(overloaded, path) == [200] * PROBES


@pytest.mark.parametrize("version", apis.CUSTOM.versions)
async def test_f27_empty_list_is_whole(hung, version):
    """A group-version with nothing on offer is there all the same: a 404 would keep namespaces from ending."""
    reply = await hung.ask(f"/apis/{apis.CUSTOM.group}/{version}")
    assert reply.body["groupVersion"] == f"{apis.CUSTOM.group}/{version}"
    assert reply.body["resources"] == []


async def test_f27_list_of_before_stays_while_the_relist_fails():
    """What was on offer is still listed, in the same bytes."""
    kit = Kit()
    await kit.relist()
    before = await kit.ask(LISTS[0])
    assert [one["name"] for one in before.body["resources"]] == ["namespaces/goroutines", "pods/goroutines"]
    kit.backend.failing_listings |= {rule.series_query for rule in kit.book.rules}
    kit.kinds.failure = errors.ObjectsNotListable(errors.NO_LISTING)
    await kit.relist()
    assert (await kit.ask(LISTS[0])).headers["ETag"] == before.headers["ETag"]
