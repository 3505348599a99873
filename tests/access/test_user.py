"""Users that Kubernetes itself gives a meaning."""

import pytest

from adapter.access import user as users
from adapter.wire.identity import User


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ((), ("system:authenticated",)),
        (("dev",), ("dev", "system:authenticated")),
        (("system:authenticated", "dev"), ("system:authenticated", "dev")),
        (("system:unauthenticated",), ("system:unauthenticated",)),
    ],
)
def test_who_is_known_is_authenticated(groups, expected):
    """The group is added once, and not to who is said to be unknown."""
    assert users.with_authenticated(User("jane", groups=groups)).groups == expected


def test_nothing_else_changes():
    """Uid, extras and who vouches stay."""
    jane = User("jane", "7", ("dev",), {"a": ("b",)}, proxied=True)
    found = users.with_authenticated(jane)
    assert (found.name, found.uid, found.extra, found.proxied) == ("jane", "7", {"a": ("b",)}, True)


def test_the_anonymous_user_is_not_authenticated():
    """Whatever groups he brings."""
    assert users.with_authenticated(users.ANONYMOUS) == users.ANONYMOUS
    named = User("system:anonymous", groups=("dev",))
    assert users.with_authenticated(named) == named


@pytest.mark.parametrize(
    ("user", "nobody"),
    [
        (users.ANONYMOUS, True),
        (User("system:anonymous"), True),
        (User("jane", groups=("dev", "system:unauthenticated")), True),
        (User("jane", groups=("system:authenticated",)), False),
    ],
)
def test_who_is_nobody(user, nobody):
    """By his name, or by his group."""
    assert users.is_nobody(user) is nobody
