"""Log lines: one JSON object per event, cut and escaped, the same words each time.

`log.info("backend_down", extra={"cause": "..."})`: the message is the event's stable word, `extra` its facts.
"""

import json
import logging
import math
import sys
from typing import Final

MAX_VALUE_CHARACTERS: Final = 256
"""A value longer than this is cut: foreign text must not flood the log."""

MAX_TRACE_CHARACTERS: Final = 16 * 1024
"""A deep trace has a third of this. What is more is foreign text: of a longer one both ends stay."""

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def get(room: str) -> logging.Logger:
    """The logger of a room, under the adapter's own root."""
    return logging.getLogger(f"adapter.{room}")


class JsonLines(logging.Formatter):
    """This writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, whatever the record holds."""
        line: dict[str, object] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "room": record.name.removeprefix("adapter."),
        }
        line |= {key: value for key, value in vars(record).items() if key not in _STANDARD}
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps({key: _cut(key, value) for key, value in line.items()}, default=str)


def _cut(key: str, value: object) -> object:
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    text = str(value)  # NaN and the infinities too: JSON has none
    if key == "trace":
        half = MAX_TRACE_CHARACTERS // 2
        return text if len(text) <= MAX_TRACE_CHARACTERS else f"{text[:half]}...{text[-half:]}"
    return text if len(text) <= MAX_VALUE_CHARACTERS else text[:MAX_VALUE_CHARACTERS] + "..."


def start(verbosity: int) -> None:
    """This sends all logging to stderr; `verbosity` is klog's: 0 to 3 shows info, 4 and more debug."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("adapter").setLevel(logging.DEBUG if verbosity >= 4 else logging.INFO)  # noqa: PLR2004
