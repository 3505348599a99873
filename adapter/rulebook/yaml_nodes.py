"""A YAML document as a tree of nodes that know their places, and what YAML 1.1 makes of a scalar."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

TAG: Final = "tag:yaml.org,2002:"
NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
TRUES: Final = frozenset({"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
FALSES: Final = frozenset({"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands: line and column from 1, and how many characters of that line are its."""

    line: int
    column: int
    length: int = 1


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a node as YAML, whatever the rule format says of it."""

    word: str
    message: str
    suggestion: str = ""


@dataclass(slots=True, eq=False)
class Node:
    """What the three kinds of node have in common. `size` and `height` count what aliases stand for."""

    place: Place
    fault: Fault | None = None
    size: int = 1
    height: int = 1


@dataclass(slots=True, eq=False)
class Scalar(Node):
    """A text as written, with what YAML makes of it."""

    value: str = ""
    tag: str | None = None
    plain: bool = False
    literal: bool = False

    @property
    def is_null(self) -> bool:
        """Whether this is YAML's null, which the rule format takes for absence."""
        return self.tag == f"{TAG}null" or (self.tag is None and self.plain and self.value in NULLS)

    @property
    def is_merge(self) -> bool:
        """Whether this is the key << that merges another mapping."""
        return self.tag is None and self.plain and self.value == "<<"

    @property
    def boolean(self) -> bool | None:
        """The boolean that YAML 1.1 sees here, None for anything else."""
        if self.tag != f"{TAG}bool" and not (self.tag is None and self.plain):
            return None
        return True if self.value in TRUES else False if self.value in FALSES else None

    @property
    def text(self) -> str:
        """The text that a text field or a key gets."""
        return "" if self.is_null else self.value


@dataclass(slots=True, eq=False)
class Sequence(Node):
    """A list."""

    items: list[Node] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Mapping(Node):
    """Pairs as written: repeated keys and merge keys are still here."""

    pairs: list[tuple[Node, Node]] = field(default_factory=list)

    def merged(self) -> Iterator[tuple[Scalar, Node]]:
        """The pairs with merge keys expanded where they stand, as upstream does: what comes later wins."""
        for key, value in self.pairs:
            if not isinstance(key, Scalar):
                continue
            if not key.is_merge:
                yield key, value
                continue
            for source in reversed(value.items) if isinstance(value, Sequence) else [value]:
                if isinstance(source, Mapping):
                    yield from source.merged()
