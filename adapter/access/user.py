"""Users that mean something to Kubernetes itself. Pure."""

from dataclasses import replace
from typing import Final

from adapter.wire.identity import User

__all__ = [
    "ANONYMOUS",
    "AUTHENTICATED",
    "MASTERS",
    "UNAUTHENTICATED",
    "User",
    "is_nobody",
    "with_authenticated",
]

AUTHENTICATED: Final = "system:authenticated"
UNAUTHENTICATED: Final = "system:unauthenticated"
MASTERS: Final = "system:masters"

ANONYMOUS: Final = User("system:anonymous", groups=(UNAUTHENTICATED,))
"""Who showed nothing, as Go's servers name him."""


def is_nobody(user: User) -> bool:
    """Whether this is the user that stands for "not known"."""
    return user.name == ANONYMOUS.name or UNAUTHENTICATED in user.groups


def with_authenticated(user: User) -> User:
    """The user with the group of all who are known.

    Without it the API server's own callers, who come without any group, are refused the discovery (docs/contract.md
    3.5).
    """
    if is_nobody(user) or AUTHENTICATED in user.groups:
        return user
    return replace(user, groups=(*user.groups, AUTHENTICATED))
