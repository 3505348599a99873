"""Pauses grow, scatter, and end."""

from adapter.flows.backoff import FIRST_SECONDS, LONGEST_SECONDS, Backoff


def test_pauses_double_up_to_the_longest():
    """From half a second to half a minute."""
    backoff = Backoff(lambda: 1.0)
    assert [backoff.next() for _ in range(9)] == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]


def test_a_pause_is_scattered_over_half_of_its_length():
    """Replicas that failed together do not come back together."""
    assert Backoff(lambda: 0.0).next() == FIRST_SECONDS / 2
    assert Backoff(lambda: 1.0).next() == FIRST_SECONDS


def test_after_a_reset_the_pause_is_short_again():
    """A good time wipes out what was before."""
    backoff = Backoff(lambda: 1.0)
    for _ in range(9):
        backoff.next()
    backoff.reset()
    assert backoff.next() == FIRST_SECONDS < LONGEST_SECONDS
