"""The mirror on a fake clock, with a feed that follows a script. No sockets, no sleeps."""

import asyncio
import contextlib
import logging
from collections import Counter

import pytest

from adapter import errors
from adapter.flows.following import BOOKMARK_SECONDS, REFUSAL_SECONDS, STEADY_SECONDS, WATCH_TRIES
from adapter.flows.mirror import SWEEP_SECONDS, UNUSED_SECONDS, Mirror
from adapter.wire import selectors
from adapter.wire.objects import (
    ADDED,
    BOOKMARK,
    DELETED,
    MODIFIED,
    Change,
    Gone,
    Listing,
    NotListable,
    Object,
    Refused,
    Unreachable,
)
from adapter.wire.resources import Resource
from tests.support.clock import FakeClock
from tests.support.sleeper import Sleeper, settle

PODS = Resource("", "v1", "pods", "pod", "Pod", namespaced=True)
NODES = Resource("", "v1", "nodes", "node", "Node", namespaced=False)
DEPLOYMENTS = Resource("apps", "v1", "deployments", "deployment", "Deployment", namespaced=True)

WEB_1, WEB_2, WEB_3 = (Object("shop", f"web-{number}", {"app": "web"}) for number in (1, 2, 3))
CLOSE = object()
ENOUGH = 40.0
"""Seconds: more than the longest pause."""


class ScriptedFeed:
    """Lists and streams by kind. A list is pages, an exception, or HANG; a stream is filled by hand."""

    def __init__(self):
        self.lists = {}
        self.streams = {}
        self.asked = Counter()
        self.versions = []

    def lists_as(self, resource, *outcomes):
        """Outcomes of one list after the other; the last one stays."""
        self.lists[resource.key] = list(outcomes)

    def say(self, resource, *messages):
        """Events of the running watch: changes, an exception, or CLOSE."""
        for message in messages:
            self.streams[resource.key].put_nowait(message)

    async def listing(self, resource, page):
        self.asked["list", str(resource.key)] += 1
        outcomes = self.lists.get(resource.key, [[]])
        outcome = outcomes[0] if len(outcomes) == 1 or page else outcomes.pop(0)
        if outcome is None:
            await asyncio.Event().wait()
        if isinstance(outcome, Exception):
            raise outcome
        if isinstance(outcome, list):
            return Listing(outcome, "100")
        raise AssertionError(outcome)

    async def changes(self, resource, version):
        self.asked["watch", str(resource.key)] += 1
        self.versions.append(version)
        queue = self.streams[resource.key] = asyncio.Queue()
        yield Change(BOOKMARK, version)
        while (message := await queue.get()) is not CLOSE:
            if isinstance(message, Exception):
                raise message
            yield message


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def sleeper(clock):
    return Sleeper(clock)


@pytest.fixture
def feed():
    return ScriptedFeed()


@pytest.fixture
async def mirror(feed, clock, sleeper):
    found = Mirror(feed, clock, sleep=sleeper.sleep, random=lambda: 1.0)
    yield found
    await found.stop()


def names(store):
    return [one.name for one in store.select(None, selectors.EVERYTHING)]


async def held(mirror, clock, resource=PODS):
    """The names that the mirror gives at once."""
    return names(await mirror.objects(resource, deadline=clock.monotonic()))


def events(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "adapter.mirror"]


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


# -- changes


async def test_changes_reach_the_store(mirror, feed, clock):
    """Added, changed and deleted objects are seen at once."""
    feed.lists_as(PODS, [WEB_1, WEB_2])
    mirror.start([PODS])
    await settle()
    other = Object("shop", "web-1", {"app": "other"})
    feed.say(PODS, Change(ADDED, "101", WEB_3), Change(MODIFIED, "102", other), Change(DELETED, "103", WEB_2))
    await settle()
    store = await mirror.objects(PODS, deadline=clock.monotonic())
    assert names(store) == ["web-1", "web-3"]
    assert [one.name for one in store.select("shop", selectors.parse("app=web"))] == ["web-3"]


async def test_a_closed_watch_goes_on_from_the_last_version(mirror, feed, sleeper):
    """The API server ends each watch after some minutes; nothing is listed again, and there is no pause."""
    mirror.start([PODS])
    await settle()
    feed.say(PODS, Change(ADDED, "101", WEB_1), Change(BOOKMARK, "150"))
    await sleeper.pass_time(STEADY_SECONDS)
    pauses = len(sleeper.slept)
    feed.say(PODS, CLOSE)
    await settle()
    assert feed.versions == ["100", "150"]
    assert feed.asked["list", "pods"] == 1
    assert len(sleeper.slept) == pauses


async def test_a_server_that_closes_at_once_is_not_hammered(mirror, feed, sleeper):
    """Between watches that end at once the pauses grow."""
    mirror.start([PODS])
    await settle()
    before = len(sleeper.slept)
    for _ in range(WATCH_TRIES - 1):
        feed.say(PODS, CLOSE)
        await sleeper.pass_time(ENOUGH / 8)
    pauses = [seconds for seconds in sleeper.slept[before:] if seconds != SWEEP_SECONDS]
    assert pauses == [0.5, 1.0, 2.0, 4.0]


async def test_a_version_that_never_works_is_given_up(mirror, feed, sleeper):
    """After some bad watches in a row the kind is listed anew: an etcd restored from a backup knows no such version."""
    mirror.start([PODS])
    for _ in range(WATCH_TRIES):
        await settle()
        feed.say(PODS, Refused("WatchError"))
        await settle()
        await sleeper.pass_time(sleeper.slept[-1])
    assert feed.asked["list", "pods"] == 2


async def test_410_lists_again_at_once(mirror, feed, clock, sleeper):
    """A version that is too old is no trouble: the list is fetched without a pause."""
    feed.lists_as(PODS, [WEB_1], [WEB_2])
    mirror.start([PODS])
    await sleeper.pass_time(STEADY_SECONDS)
    feed.say(PODS, Gone())
    await settle()
    assert await held(mirror, clock) == ["web-2"]
    assert mirror.restarts["pods", "Gone"] == 1


async def test_410_again_and_again_is_paused(mirror, feed, sleeper):
    """A server that takes no version does not get a storm of lists."""
    mirror.start([PODS])
    await settle()
    for _ in range(3):
        feed.say(PODS, Gone())
        await settle()
    assert feed.asked["list", "pods"] == 1
    await sleeper.pass_time(1)
    assert feed.asked["list", "pods"] == 2


async def test_the_old_objects_serve_until_the_new_list_is_complete(mirror, feed, clock, sleeper):
    """A list replaces the store in one step."""
    feed.lists_as(PODS, [WEB_1], None)
    mirror.start([PODS])
    await sleeper.pass_time(STEADY_SECONDS)
    feed.say(PODS, Gone())
    await settle()
    assert feed.asked["list", "pods"] == 2
    assert await held(mirror, clock) == ["web-1"]


async def test_pages_make_one_list(clock, sleeper):
    """All pages are there, or none."""

    class Paged(ScriptedFeed):
        async def listing(self, resource, page):
            return Listing([WEB_1], "7", "next") if not page else Listing([WEB_2], "7")

    feed = Paged()
    mirror = Mirror(feed, clock, sleep=sleeper.sleep)
    mirror.start([PODS])
    await settle()
    assert await held(mirror, clock) == ["web-1", "web-2"]
    assert feed.versions == ["7"]
    await mirror.stop()


# -- failures


async def test_the_loop_outlives_everything(mirror, feed, clock, sleeper):
    """Whatever a list raises, a later one is tried; also what nobody foresaw."""
    feed.lists_as(PODS, Unreachable("Connect"), Refused("BadAnswer"), Gone(), RuntimeError("bug"), [WEB_1])
    mirror.start([PODS])
    await sleeper.pass_time(ENOUGH)
    assert await held(mirror, clock) == ["web-1"]
    assert {reason for _, reason in mirror.restarts} == {"Connect", "BadAnswer", "Gone", "Bug"}


async def test_a_bug_is_logged_with_its_trace_once(mirror, feed, sleeper, caplog):
    """The second time says nothing new."""
    feed.lists_as(PODS, RuntimeError("bug"))
    mirror.start([PODS])
    await sleeper.pass_time(ENOUGH)
    broken = [record for record in caplog.records if record.getMessage() == "object_list_broke"]
    assert len(broken) == 1
    assert broken[0].exc_info
    assert mirror.restarts["pods", "Bug"] > 3


async def test_an_outage_is_two_lines(mirror, feed, sleeper, caplog):
    """One when it begins, one when it is over, however long it lasts."""
    caplog.set_level(logging.INFO, "adapter")
    feed.lists_as(PODS, *[Unreachable("Connect")] * 7, [WEB_1])
    mirror.start([PODS])
    await sleeper.pass_time(5 * ENOUGH)
    assert events(caplog) == ["object_list_failed", "object_list_recovered"]


async def test_another_cause_is_told(mirror, feed, sleeper, caplog):
    """The API server is back, but refuses: that is news."""
    feed.lists_as(PODS, *[Unreachable("Connect")] * 3, NotListable("Forbidden"))
    mirror.start([PODS])
    await sleeper.pass_time(3 * ENOUGH)
    assert [record.cause for record in caplog.records] == ["Connect", "Forbidden"]


async def test_a_stream_that_breaks_after_a_good_time_is_daily_life(mirror, feed, sleeper, caplog):
    """API servers restart: a watch that is taken up again leaves no line."""
    mirror.start([PODS])
    await sleeper.pass_time(STEADY_SECONDS)
    feed.say(PODS, Unreachable("Broken"))
    await sleeper.pass_time(1)
    assert feed.asked == {("list", "pods"): 1, ("watch", "pods"): 2}
    assert events(caplog) == []
    assert mirror.restarts["pods", "Broken"] == 1


async def test_an_api_server_away_changes_no_answer(mirror, feed, clock, sleeper):
    """The objects stay, and their age tells how long nothing was heard."""
    feed.lists_as(PODS, [WEB_1], Unreachable("Connect"))
    mirror.start([PODS])
    await sleeper.pass_time(STEADY_SECONDS)
    assert mirror.ages() == {"pods": 0.0}
    feed.changes = _unreachable
    feed.say(PODS, Unreachable("Broken"))
    await sleeper.pass_time(300)
    assert await held(mirror, clock) == ["web-1"]
    assert mirror.ages()["pods"] == pytest.approx(305)


async def _unreachable(resource, version):
    raise Unreachable("Connect")
    yield


async def test_a_silent_watch_grows_old(mirror, feed, sleeper):
    """Bookmarks come each minute; without them nobody knows whether the objects are those of now."""
    mirror.start([PODS])
    await sleeper.pass_time(BOOKMARK_SECONDS)
    assert mirror.ages()["pods"] == 0.0
    await sleeper.pass_time(1)
    assert mirror.ages()["pods"] == pytest.approx(BOOKMARK_SECONDS + 1)
    feed.say(PODS, Change(BOOKMARK, "200"))
    await settle()
    assert mirror.ages()["pods"] == 0.0


async def test_a_permission_taken_away_is_believed_after_a_minute(mirror, feed, clock, sleeper):
    """An API server that starts says "forbidden" for some seconds; afterwards the objects are not ours to show."""
    feed.lists_as(PODS, [WEB_1], NotListable("Forbidden"))
    mirror.start([PODS])
    await settle()
    feed.say(PODS, NotListable("Forbidden"))
    await sleeper.pass_time(REFUSAL_SECONDS - 1)
    assert await held(mirror, clock) == ["web-1"]
    await sleeper.pass_time(2)
    with pytest.raises(errors.ObjectsNotListable):
        await held(mirror, clock)


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
