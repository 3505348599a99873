"""Listings of series for the tests of this room, and what is read of them."""

import json

from adapter.promql import vector


def listing(*series, **members):
    """As a backend writes it: without blanks."""
    return json.dumps({"status": "success", "data": series} | members, separators=(",", ":")).encode()


def read(body):
    """(how many steps were made before the last one, the shapes)."""
    steps, count = vector.decode_series(body), 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return count, end.value
        count += 1


def shapes_of(body):
    """The shapes, however many steps they take."""
    return read(body)[1]
