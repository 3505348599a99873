"""What the log is told of the backend."""

import logging
from types import SimpleNamespace

import aiohttp
import pytest
from yarl import URL

from adapter import errors
from adapter.prometheus import faults
from adapter.prometheus.journal import Journal
from adapter.promql.vector import NotAnAnswer, Refused, Result, Sample
from tests.support.clock import FakeClock


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def journal(clock, caplog):
    caplog.set_level(logging.INFO, logger="adapter.prometheus")
    return Journal(clock, "http://p")


def _events(caplog) -> list[str]:
    return [one.getMessage() for one in caplog.records]


def _result(time: float, *, warnings: tuple[str, ...] = ()) -> Result:
    return Result(kind="vector", samples=(Sample({}, 1.0, time),), warnings=warnings, histograms=0)


def test_an_outage_is_two_lines(journal, caplog):
    """One line when it begins and one when it ends, however many questions fail."""
    journal.good()
    for _ in range(200):
        journal.bad(faults.unavailable("connection refused"), "query")
    assert not journal.up
    for _ in range(200):
        journal.good()
    assert journal.up
    assert _events(caplog) == ["backend_down", "backend_up"]
    assert caplog.records[0].cause == "BackendUnavailable"
    assert "connection refused" in caplog.records[0].fault


def test_a_good_start_is_no_line(journal, caplog):
    """Nobody waits for the news that all is well."""
    journal.good()
    assert _events(caplog) == []


def test_a_failing_start_is_a_line(journal, caplog):
    """A backend that never answered is down, slow or not."""
    journal.bad(faults.slow(), "query")
    assert _events(caplog) == ["backend_down"]


def test_one_slow_query_among_good_ones_does_not_make_the_backend_down(journal, clock, caplog):
    """A time-out counts only if no good answer came within ten seconds."""
    for _ in range(5):
        journal.good()
        clock.advance(9)
        journal.bad(faults.slow(), "query")
    assert journal.up
    clock.advance(1)
    journal.bad(faults.slow(), "query")
    assert _events(caplog) == ["backend_down"]


def test_a_refused_query_means_that_the_backend_is_up(journal, caplog):
    """A backend that refuses a query answers."""
    journal.bad(faults.unavailable("x"), "query")
    journal.bad(faults.rejected("y"), "query")
    assert journal.up
    assert _events(caplog) == ["backend_down", "backend_up", "query_rejected"]


def test_our_own_overload_says_nothing_of_the_backend(journal, caplog):
    """Overloaded is about us."""
    journal.bad(errors.Overloaded("x"), "query")
    assert journal.up
    assert _events(caplog) == []


def _rejected(words: str) -> errors.RuleRejected:
    error = faults.rejected("the backend refuses the query")
    error.__cause__ = Refused("", words)
    return error


def test_the_same_words_are_told_once_in_ten_minutes(journal, clock, caplog):
    """A rule that fails each round is one line, another fault another one; after ten minutes it is told again."""
    for words in ("one", "two", "one", "one", "two"):
        journal.bad(_rejected(words), "query")
    clock.advance(601)
    journal.bad(_rejected("one"), "query")
    assert [one.words for one in caplog.records] == ["one", "two", "one"]


def test_the_same_complaint_with_another_number_is_no_news(journal, caplog):
    """A request id or a count in the backend's words does not make a line per request."""
    for number in range(100):
        error = errors.RuleRejected("the backend refuses the query")
        error.__cause__ = Refused("execution", f"query {number} failed, trace 7f3a{number:08x}")
        journal.bad(error, "query")
    assert len(caplog.records) == 1


def test_foreign_words_are_escaped(journal, caplog):
    """Control characters and terminal escapes of a backend never reach the log."""
    journal.bad(_rejected("a\nb\x1b[31m\u202e"), "query")
    assert caplog.records[0].words == "a\\nb\\x1b[31m\\u202e"


def test_a_bad_answer_shows_its_beginning(journal, clock, caplog):
    """What is no answer is logged with what the decoder said of it."""
    error = faults.bad_answer("not that of a Prometheus API")
    error.__cause__ = NotAnAnswer(b"<html>", "malformed")
    journal.bad(error, "series")
    assert _events(caplog) == ["backend_bad_answer", "backend_down"]
    assert (caplog.records[0].words, caplog.records[0].endpoint) == ("malformed: <html>", "series")


@pytest.mark.parametrize(
    "error", [faults.bad_answer("not HTTP"), faults.rejected("no")], ids=["bad", "rejected"]
)
def test_the_words_of_other_causes_are_not_logged(journal, caplog, error):
    """The HTTP library's own words are the whole address, with the token in its query."""
    url = URL("http://p/api/v1/query?apikey=canary")
    error.__cause__ = aiohttp.ClientResponseError(
        SimpleNamespace(real_url=url), (), status=400, message="Bad"
    )
    assert "canary" in str(error.__cause__)
    journal.bad(error, "query")
    assert caplog.records[0].words == error.message
    assert "canary" not in str([vars(one) for one in caplog.records])


def test_warnings_are_told_once(journal, clock, caplog):
    """The texts of warnings stand in the log, not in answers."""
    for _ in range(3):
        journal.answered(_result(clock.now(), warnings=("store x is away",)))
    assert [one.words for one in caplog.records] == ["store x is away"]


def test_clock_skew_is_a_line_when_it_begins(journal, clock, caplog):
    """More than five seconds of difference are told once, and again only after they were gone."""
    for skew in (1.0, -4.0, 8.0, 7.0, 0.0, -6.0):
        journal.answered(_result(clock.now() + skew))
    assert [one.seconds for one in caplog.records] == [8.0, -6.0]
    assert journal.skew_seconds == pytest.approx(-6.0)


def test_an_empty_result_says_nothing_of_the_clock(journal, caplog):
    """No sample, no time."""
    journal.answered(Result(kind="vector", samples=(), warnings=(), histograms=0))
    assert _events(caplog) == []
