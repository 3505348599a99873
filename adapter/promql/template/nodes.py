"""The syntax tree of a template. `str()` of a node is how Go prints it in its messages."""

from collections.abc import Iterator
from dataclasses import dataclass, fields

from adapter.promql import gostrings


@dataclass(frozen=True, slots=True)
class Node:
    """Anything that stands somewhere: `at` counts characters of the source."""

    at: int


@dataclass(frozen=True, slots=True)
class Text(Node):
    """What is written as it stands."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Dot(Node):
    """The current value."""

    def __str__(self) -> str:
        return "."


@dataclass(frozen=True, slots=True)
class Nil(Node):
    """The untyped nil."""

    def __str__(self) -> str:
        return "nil"


@dataclass(frozen=True, slots=True)
class Boolean(Node):
    """true or false."""

    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(frozen=True, slots=True)
class String(Node):
    """A quoted or raw string."""

    source: str
    value: str

    def __str__(self) -> str:
        return self.source


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A number; `value` is None where it fits no int."""

    source: str
    value: int | float | complex | None

    def __str__(self) -> str:
        return self.source


@dataclass(frozen=True, slots=True)
class Field(Node):
    """.A.B of the current value."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return "".join("." + name for name in self.names)


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """$x, or $x.A.B."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.names)


@dataclass(frozen=True, slots=True)
class Identifier(Node):
    """A function's name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Chain(Node):
    """.A.B of what stands before it: a parenthesis or a function."""

    base: "Operand"
    names: tuple[str, ...]

    def __str__(self) -> str:
        return _enclosed(self.base) + "".join("." + name for name in self.names)


@dataclass(frozen=True, slots=True)
class Command(Node):
    """An operand and its arguments."""

    operands: tuple["Operand", ...]

    def __str__(self) -> str:
        return " ".join(map(_enclosed, self.operands))


@dataclass(frozen=True, slots=True)
class Pipe(Node):
    """Commands, each giving its value to the next, and the variables that take the last one."""

    variables: tuple[Variable, ...]
    assigns: bool
    commands: tuple[Command, ...]

    def __str__(self) -> str:
        names = ", ".join(map(str, self.variables))
        sign = f"{names} {'=' if self.assigns else ':='} " if names else ""
        return sign + " | ".join(map(str, self.commands))


Operand = Dot | Nil | Boolean | String | Number | Field | Variable | Identifier | Chain | Pipe


@dataclass(frozen=True, slots=True)
class Action(Node):
    """A pipeline whose value is printed."""

    pipe: Pipe

    def __str__(self) -> str:
        return f"<<{self.pipe}>>"


@dataclass(frozen=True, slots=True)
class Leave(Node):
    """break or continue."""

    word: str

    def __str__(self) -> str:
        return f"<<{self.word}>>"


@dataclass(frozen=True, slots=True)
class Listing(Node):
    """Nodes one after the other."""

    nodes: tuple["Statement", ...]

    def __str__(self) -> str:
        return "".join(map(str, self.nodes))


@dataclass(frozen=True, slots=True)
class Branch(Node):
    """if, with or range."""

    word: str
    pipe: Pipe
    body: Listing
    otherwise: Listing | None

    def __str__(self) -> str:
        other = "" if self.otherwise is None else f"<<else>>{self.otherwise}"
        return f"<<{self.word} {self.pipe}>>{self.body}{other}<<end>>"


@dataclass(frozen=True, slots=True)
class Call(Node):
    """The place of another template."""

    name: str
    pipe: Pipe | None

    def __str__(self) -> str:
        argument = "" if self.pipe is None else f" {self.pipe}"
        return f"<<template {gostrings.quote(self.name)}{argument}>>"


@dataclass(frozen=True, slots=True)
class End(Node):
    """What closes a body; never part of the tree."""

    word: str

    def __str__(self) -> str:
        return f"<<{self.word}>>"


Statement = Text | Action | Leave | Branch | Call


def is_blank(listing: Listing) -> bool:
    """Whether it is nothing but white space: such a definition gives way to another one."""
    return all(isinstance(node, Text) and not node.text.strip() for node in listing.nodes)


def mentioned(node: Node) -> Iterator[str]:
    """The first field names of all chains under this node."""
    match node:
        case Field(names=names):
            yield names[0]
        case Variable(names=names):
            yield from names[1:2]
        case Chain(base=base, names=names):
            yield names[0]
            yield from mentioned(base)
        case _:
            for inner in _inside(node):
                yield from mentioned(inner)


def _inside(node: Node) -> Iterator[Node]:
    for part in fields(node):
        value = getattr(node, part.name)
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Node):
                yield inner


def _enclosed(operand: Operand) -> str:
    return f"({operand})" if isinstance(operand, Pipe) else str(operand)
