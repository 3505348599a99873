"""Which kinds are mirrored, and what callers get. No sockets, no sleeps: a scripted feed and a fake clock."""

import asyncio
import contextlib

import pytest

from adapter import errors
from adapter.flows.backoff import FIRST_SECONDS
from adapter.flows.mirror import RETRY_SECONDS, SWEEP_SECONDS, UNUSED_SECONDS, Mirror
from adapter.wire.objects import Gone, NotListable, Object, Refused, Unreachable
from adapter.wire.resources import Resource
from tests.support.scripted_feed import (
    DEPLOYMENTS,
    ENOUGH,
    NODES,
    PODS,
    WEB_1,
    WEB_2,
    held,
    names,
)
from tests.support.sleeper import settle

# -- questions


async def test_a_kind_is_listed_on_its_first_question(mirror, feed, clock):
    """Nothing is asked for before somebody needs it, and the first caller waits for the list."""
    feed.lists_as(PODS, [WEB_2, WEB_1])
    assert feed.asked.total() == 0
    store = await mirror.objects(PODS, deadline=clock.monotonic() + 5)
    assert names(store) == ["web-1", "web-2"]
    assert feed.asked["list", "pods"] == 1


async def test_a_second_question_asks_nothing(mirror, feed, clock):
    """However many ask, there is one list and one watch."""
    feed.lists_as(PODS, [WEB_1])
    await asyncio.gather(*(mirror.objects(PODS, deadline=clock.monotonic() + 5) for _ in range(20)))
    await settle()
    assert feed.asked == {("list", "pods"): 1, ("watch", "pods"): 1}


async def test_a_list_that_is_late_is_still_starting(mirror, feed, clock, sleeper):
    """A caller waits until its deadline and no longer; the list goes on meanwhile."""
    feed.lists_as(PODS, None)
    question = asyncio.create_task(mirror.objects(PODS, deadline=clock.monotonic() + 5))
    await sleeper.pass_time(4.9)
    assert not question.done()
    await sleeper.pass_time(0.2)
    with pytest.raises(errors.StillStarting) as caught:
        await question
    assert "pods" in caught.value.message


FAILURES = pytest.mark.parametrize(
    "failure", [Unreachable("Connect"), Refused("Refused", "503"), Gone(), RuntimeError("bug")], ids=repr
)


@FAILURES
async def test_in_an_outage_a_question_does_not_wait_its_deadline(mirror, feed, clock, sleeper, failure):
    """A slow refusal holds a worker of the autoscaler; it waits for one more try and then says so."""
    feed.lists_as(PODS, failure)
    mirror.start([PODS])
    await sleeper.pass_time(5 * ENOUGH)
    question = asyncio.create_task(mirror.objects(PODS, deadline=clock.monotonic() + 10))
    await sleeper.pass_time(RETRY_SECONDS + 0.01)
    assert question.done()
    with pytest.raises(errors.StillStarting):
        await question


@FAILURES
async def test_the_first_question_sees_an_outage_too(mirror, feed, clock, sleeper, failure):
    """Its own try fails while it waits: from then on it waits a moment only."""
    feed.lists_as(PODS, failure)
    question = asyncio.create_task(mirror.objects(PODS, deadline=clock.monotonic() + 10))
    await sleeper.pass_time(RETRY_SECONDS + 0.01)
    assert question.done()
    with pytest.raises(errors.StillStarting):
        await question


@FAILURES
async def test_a_short_failure_is_not_seen(mirror, feed, clock, sleeper, failure):
    """The second try comes within half a second, and the question waits for it."""
    feed.lists_as(PODS, failure, [WEB_1])
    question = asyncio.create_task(mirror.objects(PODS, deadline=clock.monotonic() + 10))
    await sleeper.pass_time(FIRST_SECONDS)
    assert names(await question) == ["web-1"]


async def test_a_deadline_in_the_past_does_not_wait(mirror, feed, clock):
    """What is not there is said at once."""
    feed.lists_as(PODS, None)
    with pytest.raises(errors.StillStarting):
        await mirror.objects(PODS, deadline=clock.monotonic() - 1)


@pytest.mark.parametrize(
    ("refusal", "hint"),
    [
        (NotListable("Forbidden", "pods is forbidden: User ..."), "grant the adapter list and watch"),
        (NotListable("NotFound", "no such kind", absent=True), "the cluster has no pods"),
    ],
)
async def test_a_kind_that_cannot_be_listed_says_so_at_once(mirror, feed, clock, refusal, hint):
    """Forbidden and absent kinds do not let callers wait, and the API server's words stay in the log."""
    feed.lists_as(PODS, refusal)
    with pytest.raises(errors.ObjectsNotListable) as caught:
        await mirror.objects(PODS, deadline=clock.monotonic() + 5)
    assert hint in caught.value.next_step
    assert str(refusal) not in caught.value.message


async def test_a_forbidden_kind_is_tried_again(mirror, feed, clock, sleeper):
    """Granting the permission is enough; nothing has to be restarted."""
    feed.lists_as(PODS, NotListable("Forbidden"), NotListable("Forbidden"), [WEB_1])
    mirror.start([PODS])
    await settle()
    with pytest.raises(errors.ObjectsNotListable):
        await held(mirror, clock)
    await sleeper.pass_time(ENOUGH)
    assert await held(mirror, clock) == ["web-1"]


async def test_a_kind_that_hangs_blocks_no_other(mirror, feed, clock):
    """Each kind is followed for itself."""
    feed.lists_as(PODS, None)
    feed.lists_as(DEPLOYMENTS, NotListable("Forbidden"))
    feed.lists_as(NODES, [Object("", "node-1", {})])
    mirror.start([PODS, DEPLOYMENTS, NODES])
    await settle()
    assert await held(mirror, clock, NODES) == ["node-1"]


# -- readiness


async def test_tried_means_that_the_server_answered(mirror, feed):
    """A list, a refusal and even an error are answers; a hang is none."""
    feed.lists_as(PODS, [])
    feed.lists_as(DEPLOYMENTS, NotListable("Forbidden"))
    feed.lists_as(NODES, None)
    assert not mirror.tried(PODS)
    mirror.start([PODS, DEPLOYMENTS, NODES])
    await settle()
    assert [mirror.tried(one) for one in (PODS, DEPLOYMENTS, NODES)] == [True, True, False]


async def test_an_unreachable_server_was_not_tried(mirror, feed):
    """Nobody answered, so nothing is known."""
    feed.lists_as(PODS, Unreachable("Connect"))
    mirror.start([PODS])
    await settle()
    assert not mirror.tried(PODS)


async def test_a_server_in_trouble_was_tried(mirror, feed):
    """It answers with 503: waiting for it would never make us ready."""
    feed.lists_as(PODS, Refused("Refused", "503"))
    mirror.start([PODS])
    await settle()
    assert mirror.tried(PODS)


# -- which kinds


async def test_an_unused_kind_stops(mirror, feed, clock, sleeper):
    """Ten minutes after the last question its watch ends; the next question begins anew."""
    await mirror.objects(PODS, deadline=clock.monotonic() + 5)
    await sleeper.pass_time(UNUSED_SECONDS - SWEEP_SECONDS)
    assert mirror.sizes() == {"pods": 0}
    await sleeper.pass_time(2 * SWEEP_SECONDS)
    assert mirror.sizes() == {}
    feed.lists_as(PODS, [WEB_1])
    assert names(await mirror.objects(PODS, deadline=clock.monotonic() + 5)) == ["web-1"]


async def test_a_kind_in_use_stays(mirror, clock, sleeper):
    """Each question counts from then."""
    for _ in range(5):
        await mirror.objects(PODS, deadline=clock.monotonic() + 5)
        await sleeper.pass_time(UNUSED_SECONDS - SWEEP_SECONDS)
    assert mirror.sizes() == {"pods": 0}


async def test_a_kind_that_rules_name_stays(mirror, sleeper):
    """Asked for or not: its first question must not wait."""
    mirror.start([PODS])
    await sleeper.pass_time(3 * UNUSED_SECONDS)
    assert mirror.sizes() == {"pods": 0}


async def test_a_kind_that_no_rule_names_any_more_stops(mirror, sleeper):
    """The newest call of start() counts; what is not in it lives on questions."""
    mirror.start([PODS, NODES])
    mirror.start([PODS])
    await sleeper.pass_time(UNUSED_SECONDS + 2 * SWEEP_SECONDS)
    assert mirror.sizes() == {"pods": 0}


async def test_the_version_that_the_cluster_prefers_now_is_used(mirror, feed, sleeper):
    """After an upgrade of the cluster the next list asks for the new version."""
    asked = []

    async def listing(resource, page):
        asked.append(resource.version)
        raise NotListable("NotFound", absent=True)

    feed.listing = listing
    mirror.start([DEPLOYMENTS])
    await settle()
    mirror.start([Resource("apps", "v2", "deployments", "deployment", "Deployment", namespaced=True)])
    await sleeper.pass_time(1)
    assert asked == ["v1", "v2"]


async def test_stop_leaves_no_task(feed, clock, sleeper):
    """After stop() nothing runs, and what was mirrored is still there."""
    before = len(asyncio.all_tasks())
    mirror = Mirror(feed, clock, sleep=sleeper.sleep)
    feed.lists_as(PODS, [WEB_1])
    mirror.start([PODS, NODES])
    with contextlib.suppress(errors.StillStarting):
        await mirror.objects(DEPLOYMENTS, deadline=clock.monotonic())
    await settle()
    await mirror.stop()
    await settle()
    assert len(asyncio.all_tasks()) == before
    assert mirror.sizes()["pods"] == 1


async def test_a_caller_that_leaves_leaves_nothing(mirror, feed, clock):
    """A cancelled question harms neither the list nor the other callers."""
    feed.lists_as(PODS, None)
    mirror.start([PODS])
    await settle()
    before = len(asyncio.all_tasks())
    question = asyncio.create_task(mirror.objects(PODS, deadline=clock.monotonic() + 5))
    await settle()
    question.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await question
    await settle()
    assert len(asyncio.all_tasks()) == before
