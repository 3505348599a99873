"""Times and durations are written and read as Go and Prometheus do it."""

import contextlib
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter.wire import times


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_714_557_600, "2024-05-01T10:00:00Z"),
        (1_714_557_600.999, "2024-05-01T10:00:00Z"),
        (-0.5, "1969-12-31T23:59:59Z"),
        (-62_135_596_800, "0001-01-01T00:00:00Z"),
        (253_402_300_799.9, "9999-12-31T23:59:59Z"),
    ],
)
def test_times_are_whole_seconds_of_utc(seconds, text):
    """RFC 3339 with a Z, the rest of a second cut off."""
    assert times.rfc3339(seconds) == text


@pytest.mark.parametrize("seconds", [math.nan, math.inf, -math.inf, 1e300, 253_402_300_800, -62_135_596_801])
def test_times_out_of_the_calendar_are_refused(seconds):
    """Only four-digit years have a text that clients read."""
    with pytest.raises(ValueError, match="no time of a calendar"):
        times.rfc3339(seconds)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("-0", 0.0),
        ("+5s", 5.0),
        ("-1.5h", -5400.0),
        ("1h30m", 5400.0),
        (".5s", 0.5),
        ("1.s", 1.0),
        ("1ns", 1e-9),
        ("1us", 1e-6),
        ("1\u00b5s", 1e-6),
        ("1\u03bcs", 1e-6),
        ("250ms", 0.25),
        ("1m1m", 120.0),
        ("0000000000000000000000000005s", 5.0),
        ("0.33333333333333333333333333h", 1200.0),
        ("2562047h47m16.854775807s", 9223372036.854775807),
        ("-9223372036854775808ns", -9223372036.854775808),
    ],
)
def test_go_durations_are_read(text, seconds):
    """Every unit, fractions, signs and repetitions count, to the last nanosecond."""
    assert times.duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", 'time: invalid duration "x"'),
        ("", 'time: invalid duration ""'),
        ("-", 'time: invalid duration "-"'),
        (".s", 'time: invalid duration ".s"'),
        ("--1s", 'time: invalid duration "--1s"'),
        ("1s x", 'time: unknown unit "s x" in duration "1s x"'),
        ("1s-1s", 'time: unknown unit "s-" in duration "1s-1s"'),
        ("5", 'time: missing unit in duration "5"'),
        ("1.2.3s", 'time: missing unit in duration "1.2.3s"'),
        ("1d", 'time: unknown unit "d" in duration "1d"'),
        ('"\\', 'time: invalid duration "\\"\\\\"'),
        ("é\n\x7f", 'time: invalid duration "\\xc3\\xa9\\x0a\x7f"'),
        ("2562048h", 'time: invalid duration "2562048h"'),
        ("9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"'),
        ("-9223372036854775809ns", 'time: invalid duration "-9223372036854775809ns"'),
        ("99999999999999999999999", 'time: invalid duration "99999999999999999999999"'),
    ],
)
def test_bad_go_durations_are_refused_in_go_words(text, message):
    """The message is the one that upstream puts behind a bad timeout."""
    with pytest.raises(ValueError) as caught:
        times.duration(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (180, "3m0s"),
        (300, "5m0s"),
        (3661, "1h1m1s"),
        (86_400, "24h0m0s"),
        (1.5, "1.5s"),
        (0.3, "300ms"),
        (0.0005, "500\u00b5s"),
        (1e-9, "1ns"),
        (1e-12, "0s"),
        (-1e-12, "0s"),
        (-90.25, "-1m30.25s"),
        (59.999999999, "59.999999999s"),
    ],
)
def test_go_durations_are_written(seconds, text):
    """The largest unit that fits comes first; below a second it is the only one."""
    assert times.go_duration(seconds) == text


@settings(deadline=None, max_examples=200)
@given(nanoseconds=st.integers(-(10**15), 10**15))
def test_go_durations_read_back(nanoseconds):
    """What go_duration writes, duration reads."""
    assert times.duration(times.go_duration(nanoseconds / 10**9)) == nanoseconds / 10**9


@settings(deadline=None, max_examples=200)
@given(text=st.one_of(st.text(max_size=12), st.text("0123456789.-+hmsnu", max_size=25)))
def test_any_text_is_a_duration_or_refused(text):
    """No text does anything else than give a number or a ValueError."""
    for read in (times.duration, times.prometheus_duration):
        with contextlib.suppress(ValueError):
            assert math.isfinite(read(text))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("0s", 0.0),
        ("1h30m", 5400.0),
        ("1w2d5ms", 777600.005),
        ("1y", 31_536_000.0),
        ("1m1ms", 60.001),
        ("007s", 7.0),
        ("292y", 292 * 31_536_000.0),
    ],
)
def test_prometheus_durations_are_read(text, seconds):
    """Whole numbers with units from large to small; a bare 0 is allowed."""
    assert times.prometheus_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "60", "1.5m", "1h 30m", "5m1h", "-1s", "+1s", "1m1m", "ms", "1s\n", "1us"]
)
def test_bad_prometheus_durations_are_refused(text):
    """No other bare number, no fraction, sign, blank, repetition or wrong order."""
    with pytest.raises(ValueError, match="not a duration such as"):
        times.prometheus_duration(text)


@pytest.mark.parametrize("text", ["293y", "9" * 5_000 + "s"])
def test_prometheus_durations_end_with_64_bits(text):
    """What does not fit into 64 bits of nanoseconds is refused."""
    with pytest.raises(ValueError, match="longer than 292 years"):
        times.prometheus_duration(text)
