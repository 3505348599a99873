"""Kubernetes objects as plain data: what a list and a watch say of them, and the ways in which either fails.

    FeedError
    ├── Unreachable    no answer came: refused, reset, too slow
    ├── Refused        an answer came, but no list: 401, 429, 5xx, broken JSON
    ├── NotListable    this kind is forbidden to us, or the cluster has no such kind
    └── Gone           the version that we know is too old to go on from: list again

`flows/mirror.py` consumes this; `kube/watch.py` and `kube/static.py` make it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"
BOOKMARK: Final = "BOOKMARK"


class Object(msgspec.Struct, frozen=True, gc=False):
    """The metadata of one object. `namespace` is "" for a cluster-wide one.

    A Struct outside the garbage collector's sight: 150,000 pods would else be walked at each full collection.
    """

    namespace: str
    name: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a list: `next_page` is "" on the last one; a watch goes on from `version`."""

    objects: Sequence[Object]
    version: str
    next_page: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One event of a watch. A BOOKMARK has no object: all up to `version` was told."""

    kind: str
    version: str
    object: Object | None = None


class FeedError(Exception):
    """This is a list or a watch that did not come. `cause` is a stable word, the text is for the log only."""

    def __init__(self, cause: str, text: str = "") -> None:
        super().__init__(text or cause)
        self.cause = cause


class Unreachable(FeedError):
    """No answer."""


class Refused(FeedError):
    """An answer, but no list."""


class NotListable(FeedError):
    """This kind is not for us; the other kinds are not touched. `absent`: the cluster does not know it."""

    def __init__(self, cause: str, text: str = "", *, absent: bool = False) -> None:
        super().__init__(cause, text)
        self.absent = absent


class Gone(FeedError):
    """The version is too old (410)."""

    def __init__(self, text: str = "") -> None:
        super().__init__("Gone", text)
