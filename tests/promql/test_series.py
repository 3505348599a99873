"""A listing of series becomes the shapes of metrics: names of metrics and labels, never values."""

import json

import pytest

from adapter.promql.vector import NotAnAnswer, SeriesShape
from tests.promql.listings import listing, shapes_of


def test_a_listing_is_shapes():
    """Each name with its label names once, without the name's own label and without any value."""
    found = shapes_of(
        listing(
            {"__name__": "a", "pod": "1", "ns": "x"},
            {"ns": "y", "pod": "2", "__name__": "a"},
            {"__name__": "b"},
        )
    )
    assert found == (SeriesShape("a", frozenset({"pod", "ns"})), SeriesShape("b", frozenset()))


def test_of_repeated_shapes_the_last_place_counts():
    """Upstream lets the later series win, so their order is that of their last appearance."""
    names = ["a", "b", "a", "c", "b"]
    assert [one.name for one in shapes_of(listing(*({"__name__": name} for name in names)))] == [
        "a",
        "c",
        "b",
    ]


def test_a_series_without_a_name_is_skipped():
    """It is no metric that a rule could name."""
    assert shapes_of(listing({"pod": "1"}, {"__name__": ""}, {"__name__": "a"})) == (
        SeriesShape("a", frozenset()),
    )


@pytest.mark.parametrize(
    "series", [[{"__name__": 1}], [None], ["a"], {}, None, [{"__name__": "a", "b": None}]]
)
def test_a_listing_of_something_else_is_no_answer(series):
    """Null data too: it would empty the catalog."""
    with pytest.raises(NotAnAnswer):
        shapes_of(json.dumps({"status": "success", "data": series}).encode())


def test_an_empty_listing_is_no_failure():
    """No series is an answer."""
    assert shapes_of(listing()) == ()
