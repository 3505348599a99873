"""Log lines: one JSON object per event, bounded and escaped."""

import json
import logging

from adapter.telemetry import logs


def line(**facts: object) -> dict[str, object]:
    record = logging.getLogger("adapter.room").makeRecord(
        "adapter.room", logging.WARNING, __file__, 1, "an_event", (), None, extra=facts
    )
    text = logs.JsonLines().format(record)
    assert "\n" not in text
    return json.loads(text)


def test_event_and_facts_are_members():
    """The message is the event's stable word; facts stand beside it; the room is where it happened."""
    found = line(cause="BackendTimeout", count=3, up=False)
    assert found["event"] == "an_event"
    assert found["level"] == "warning"
    assert found["room"] == "room"
    assert (found["cause"], found["count"], found["up"]) == ("BackendTimeout", 3, False)


def test_long_value_is_cut():
    """Foreign text cannot flood the log."""
    assert len(line(text="x" * 100_000)["text"]) == logs.MAX_VALUE_CHARACTERS + 3


def test_control_characters_are_escaped():
    """A value with a line break or a terminal escape stays on its line."""
    assert line(text="a\nb\x1b[31m")["text"] == "a\nb\x1b[31m"
