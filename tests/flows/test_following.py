"""One kind, followed for ever: changes, and everything that goes wrong. No sockets, no sleeps."""

import logging

import pytest

from adapter import errors
from adapter.flows.following import BOOKMARK_SECONDS, REFUSAL_SECONDS, STEADY_SECONDS, WATCH_TRIES
from adapter.flows.mirror import SWEEP_SECONDS, Mirror
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
from tests.support.scripted_feed import (
    CLOSE,
    ENOUGH,
    PODS,
    WEB_1,
    WEB_2,
    WEB_3,
    ScriptedFeed,
    held,
    names,
    reported,
)
from tests.support.sleeper import settle

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


async def test_a_bug_of_one_event_is_logged_once_too(mirror, feed, sleeper, caplog):
    """The watch opens each time before it breaks: that is no recovery. Pauses grow, and the counter goes on."""
    caplog.set_level(logging.INFO, "adapter")
    mirror.start([PODS])
    for _ in range(5):
        await settle()
        feed.say(PODS, RuntimeError("bug"))
        await settle()
        await sleeper.pass_time(sleeper.slept[-1])
    assert reported(caplog) == ["object_list_broke", "object_list_recovered"]
    assert [seconds for seconds in sleeper.slept if seconds != SWEEP_SECONDS] == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert mirror.restart_counts() == {("pods", "Bug"): 5}


async def test_another_bug_is_told(mirror, feed, sleeper, caplog):
    """It has a trace of its own; one that comes back after a good time is told again."""
    caplog.set_level(logging.ERROR, "adapter")
    mirror.start([PODS])
    await settle()
    for bug in (RuntimeError("one"), KeyError("other"), KeyError("other")):
        feed.say(PODS, bug)
        await settle()
        await sleeper.pass_time(sleeper.slept[-1])
    assert reported(caplog) == ["object_list_broke"] * 2
    await sleeper.pass_time(STEADY_SECONDS)
    feed.say(PODS, KeyError("other"))
    await settle()
    assert reported(caplog) == ["object_list_broke"] * 3


async def test_an_outage_is_two_lines(mirror, feed, sleeper, caplog):
    """One when it begins, one when it is over, however long it lasts."""
    caplog.set_level(logging.INFO, "adapter")
    feed.lists_as(PODS, *[Unreachable("Connect")] * 7, [WEB_1])
    mirror.start([PODS])
    await sleeper.pass_time(5 * ENOUGH)
    assert reported(caplog) == ["object_list_failed", "object_list_recovered"]


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
    assert reported(caplog) == []
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
