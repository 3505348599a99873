"""A question, what it is about, and its answer: the plain data that the story of `answer.py` hands on."""

from dataclasses import dataclass, field

from adapter.catalog.catalog import Entry
from adapter.snapshots.snapshot import Snapshot
from adapter.wire import selectors
from adapter.wire.lists import Item
from adapter.wire.selectors import Selector

ALL = "*"

BYTES_OF_ITS_OWN = 2048
BYTES_OF_A_NAME = 1200
"""A sample, an item, and its text in both versions."""


@dataclass(frozen=True, slots=True)
class Question:
    """One request. `resource` is as written in the path; `name` may be "*"; `namespace` is None without one."""

    resource: str
    name: str
    metric: str
    namespace: str | None = None
    objects: Selector = selectors.EVERYTHING
    series: Selector = selectors.EVERYTHING


@dataclass(frozen=True, slots=True)
class Answer:
    """The values of a question, in the order of the objects; `stale_seconds` > 0: how old, and `stale_cause` why.

    Answers to the same question with the same items share one `written`: whoever makes bytes of the items keeps
    them there, by the form they have.
    """

    items: tuple[Item, ...]
    written: dict[str, bytes] = field(default_factory=dict)
    stale_seconds: float = 0.0
    stale_cause: str | None = None


@dataclass(slots=True)
class Meant:
    """What a question is about: its metric, its objects, the labels that stand for them, the queries to ask.

    It holds for as long as the entry and the objects (`revision`) stay the same, and remembers what was made of
    the last snapshots.
    """

    question: Question
    entry: Entry
    names: tuple[str, ...]
    labels: tuple[str, str | None]
    revision: int | None = None
    queries: tuple[str, ...] = ()
    snapshots: tuple[Snapshot, ...] = ()
    items: tuple[Item, ...] = ()
    written: dict[str, bytes] = field(default_factory=dict)

    @property
    def single(self) -> bool:
        """Whether one object was named."""
        return self.question.name != ALL

    def made_with(self, snapshots: tuple[Snapshot, ...]) -> bool:
        """Whether `items` are those of these very snapshots."""
        same = (one is other for one, other in zip(snapshots, self.snapshots, strict=False))
        return len(snapshots) == len(self.snapshots) and all(same)

    def weight(self) -> int:
        """About how many bytes this takes, with the snapshots, items and bytes that it may come to hold."""
        selectors = len(str(self.question.objects)) + len(str(self.question.series))
        return (
            BYTES_OF_ITS_OWN + BYTES_OF_A_NAME * len(self.names) + sum(map(len, self.queries)) + 4 * selectors
        )
