"""Places for questions in flight."""

import pytest

from adapter import errors
from adapter.server.limits import InFlight


def test_a_question_beyond_the_places_is_refused_at_once():
    """Nobody waits: who finds no place is told so, and a place that was left can be taken again."""
    places = InFlight(1)
    with places.place("one"), pytest.raises(errors.Overloaded), places.place("other"):
        pass
    with places.place("other"):
        assert places.taken == 1
    assert places.taken == 0


def test_equal_questions_share_a_place():
    """A thousand callers with the same question are one question."""
    places = InFlight(1)
    with places.place("one"), places.place("one"):
        assert places.taken == 1
    with pytest.raises(ZeroDivisionError), places.place("one"):
        raise ZeroDivisionError
    assert places.taken == 0
