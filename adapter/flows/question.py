"""A question, what it is about, and its answer: the plain data that the story of `answer.py` hands on."""

from dataclasses import dataclass, field

from adapter.catalog.catalog import Entry
from adapter.snapshots.snapshot import Snapshot
from adapter.wire import selectors
from adapter.wire.lists import Item
from adapter.wire.selectors import Selector

ALL = "*"


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

    Equal answers to the same question share one `items`, so that who wrote them once can tell by identity.
    """

    items: tuple[Item, ...]
    stale_seconds: float = 0.0
    stale_cause: str | None = None


@dataclass(slots=True)
class Meant:
    """What a question is about: its metric, its objects, the labels that stand for them.

    It holds for as long as the entry and the objects stay the same (`made_of`), and remembers what was worked out
    of it: the queries, and the items of the last snapshots.
    """

    question: Question
    entry: Entry
    names: tuple[str, ...]
    labels: tuple[str, str | None]
    made_of: tuple[object, int] = (None, 0)
    queries: list[str] = field(default_factory=list)
    snapshots: tuple[Snapshot, ...] = ()
    items: tuple[Item, ...] = ()

    @property
    def single(self) -> bool:
        """Whether one object was named."""
        return self.question.name != ALL

    def made_with(self, snapshots: tuple[Snapshot, ...]) -> bool:
        """Whether `items` are those of these very snapshots."""
        same = (one is other for one, other in zip(snapshots, self.snapshots, strict=True))
        return len(snapshots) == len(self.snapshots) and all(same)
