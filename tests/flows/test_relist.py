"""Relist: rules and series become a catalog; rules do not disturb one another."""

import pytest

from adapter import errors
from tests.support.kit import GOROUTINES, Kit, goroutines, shapes

TWO = (
    GOROUTINES
    + """\
- seriesQuery: 'other'
  resources: {overrides: {namespace: {resource: namespace}, pod: {resource: pod}}}
  metricsQuery: <<.Series>>{<<.LabelMatchers>>}
"""
)


async def kit_of_two() -> Kit:
    kit = await goroutines(rules=TWO)
    kit.backend.listings["other"] = shapes({"other": ("namespace", "pod")})
    await kit.relist()
    return kit


async def test_metrics_are_listed_for_each_resource_that_a_label_names():
    """Labels that stand for no resource (job, instance) list nothing."""
    kit = await goroutines()
    assert await kit.discovery() == {"namespaces/goroutines": False, "pods/goroutines": True}


async def test_failing_listing_keeps_the_last_good_one_and_its_age():
    """One rule's failure leaves its own last list in force, with its age; the other rule's list is new."""
    kit = await kit_of_two()
    failing = kit.book.rules[0].series_query
    kit.backend.failing_listings = {failing}
    kit.backend.listings["other"] = shapes({"other_more": ("namespace", "pod")})
    kit.clock.advance(60)
    assert not await kit.relist()
    assert set(await kit.discovery()) >= {"pods/goroutines", "pods/other_more"}
    assert kit.flow.ages() == {failing: 60.0, "other": 0.0}


async def test_list_that_fails_for_an_hour_is_dropped():
    """An old list does not promise metrics for ever."""
    kit = await kit_of_two()
    kit.backend.failing_listings = {kit.book.rules[0].series_query}
    kit.clock.advance(3601)
    await kit.relist()
    assert set(await kit.discovery()) == {"pods/other", "namespaces/other"}


async def test_compat_mode_drops_a_round_with_any_failure():
    """As upstream: all rules keep their old lists when one listing fails."""
    kit = await goroutines(rules=TWO, compat=True)
    kit.backend.listings["other"] = shapes({"other": ("namespace", "pod")})
    await kit.relist()
    kit.backend.listings["other"] = shapes({"other_more": ("namespace", "pod")})
    kit.backend.failing_listings = {kit.book.rules[0].series_query}
    assert not await kit.relist()
    assert "pods/other" in await kit.discovery()


async def test_equal_series_queries_are_asked_once():
    """Rules that share a seriesQuery share its listing."""
    kit = await goroutines(rules=GOROUTINES + GOROUTINES.removeprefix("rules:\n"))
    assert kit.backend.asked == [kit.book.rules[0].series_query]


async def test_only_the_groups_that_rules_name_are_asked_for():
    """Overrides name their groups; nothing else of the cluster's discovery is read."""
    kit = await goroutines()
    assert kit.kinds.asked == [frozenset({""})]


async def test_rule_for_an_unknown_kind_is_inactive_until_the_kind_is_there():
    """An override of a kind that the cluster lacks leaves its rule out, and is asked for again at each round."""
    rules = GOROUTINES + GOROUTINES.removeprefix("rules:\n").replace(
        '"pod"', '"rollout", group: "argoproj.io"'
    )
    kit = await goroutines(rules=rules)
    assert "pods/goroutines" in await kit.discovery()
    assert [finding.word for finding in kit.flow.findings] == ["unknown-resource"]
    assert kit.kinds.asked == [frozenset({"", "argoproj.io"}), None]
    await kit.relist()
    assert len(kit.kinds.asked) == 4


async def test_unreachable_api_server_delays_the_first_catalog_only():
    """Without kinds no label can be understood: the round fails, and the next one works."""
    kit = Kit()
    kit.kinds.failure = errors.StillStarting("no kinds")
    assert not await kit.relist()
    assert not kit.flow.complete
    kit.kinds.failure = None
    assert await kit.relist()
    assert kit.flow.complete
    kit.kinds.failure = errors.StillStarting("no kinds")
    kit.clock.advance(601)
    assert await kit.relist()


async def test_rounds_follow_one_another_sooner_after_a_failure():
    """After a good round the pause is the interval; after failed ones it begins at half a second and doubles."""
    pauses: list[float] = []

    class Enough(Exception):
        pass

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        kit.backend.failing_listings = {kit.book.rules[0].series_query} if len(pauses) < 4 else set()
        if len(pauses) == 6:
            raise Enough

    kit = await goroutines(sleep=sleep)
    with pytest.raises(Enough):
        await kit.flow.for_ever(lambda _: None)
    assert pauses == [33.0, 0.5, 1.0, 2.0, 33.0, 33.0]


async def test_outage_is_told_once_however_many_rules_it_hits(caplog):
    """A backend that is down for all rules is one line with their count, and one line when it is back."""
    kit = await kit_of_two()
    caplog.set_level("INFO")
    kit.backend.failing_listings = {rule.series_query for rule in kit.book.rules}
    for _ in range(3):
        await kit.relist()
    kit.backend.failing_listings = set()
    await kit.relist()
    told = [(one.message, one.count) for one in caplog.records if one.name == "adapter.relist"]
    assert told == [("listing_failed", 2), ("listing_recovered", 2)]


async def test_first_list_is_tried_for_every_two_seconds():
    """While nothing at all is on offer, a backend that comes up late is noticed soon."""
    pauses: list[float] = []

    class Enough(Exception):
        pass

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 6:
            raise Enough

    kit = Kit(sleep=sleep)
    kit.backend.failing_listings = {kit.book.rules[0].series_query}
    with pytest.raises(Enough):
        await kit.flow.for_ever(lambda _: None)
    assert pauses == [0.5, 1.0, 2.0, 2.0, 2.0, 2.0]


async def test_names_that_no_path_can_carry_are_not_listed():
    """A metric whose name is empty or holds a slash could never be asked for; upstream lists it all the same."""
    slashed = GOROUTINES.replace('as: "goroutines"', 'as: "a/b"')
    assert await (await goroutines(rules=slashed)).discovery() == {}
    assert "pods/a/b" in await (await goroutines(rules=slashed, compat=True)).discovery()
