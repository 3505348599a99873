"""What a rendering knows while it runs: output and budget for all of it, variables for each call."""

from typing import NoReturn

from adapter.promql import gostrings
from adapter.promql.template.limits import Budget, LimitError, TemplateError, refuse_long
from adapter.promql.template.nodes import Listing, Node

SHOWN_CHARACTERS = 1000
"""How much of the failing action a message shows: a range shows its whole body."""


class Run:
    """One rendering."""

    def __init__(self, name: str, source: str, templates: dict[str, Listing]) -> None:
        self.name = name
        self.templates = templates
        self.budget = Budget()
        self.depth = 0
        self.node: Node | None = None
        self._source = source
        self._output: list[str] = []
        self._size = 0

    def write(self, text: str) -> None:
        """Adds to the output."""
        self._size += len(text)
        refuse_long(self._size)
        self._output.append(text)

    def written(self) -> str:
        """The output so far."""
        return gostrings.normal("".join(self._output))

    def place(self, node: Node) -> str:
        """name:line:column of a node, the column in bytes from 0."""
        start = self._source.rfind("\n", 0, node.at) + 1
        line = self._source.count("\n", 0, start) + 1
        return f"{self.name}:{line}:{len(gostrings.to_bytes(self._source[start : node.at]))}"


class Frame:
    """One template being executed: what it declares is its own."""

    def __init__(self, run: Run, name: str, dot: object) -> None:
        self.run = run
        self.name = name
        self._names = ["$"]
        self._values = [dot]

    def at(self, node: Node) -> None:
        """Goes on to a node: messages name the last one."""
        self.run.node = node
        try:
            self.run.budget.spend()
        except LimitError as problem:
            self.fail(str(problem))

    def fail(self, message: str) -> NoReturn:
        """Ends the rendering."""
        node = self.run.node
        if node is None:
            raise TemplateError(f"template: {self.name}: {message}")
        shown = str(node)
        shown = shown if len(shown) <= SHOWN_CHARACTERS else shown[:SHOWN_CHARACTERS] + "..."
        where = f"template: {self.run.place(node)}: executing {gostrings.quote(self.name)} at <{shown}>"
        raise TemplateError(f"{where}: {message}")

    def declare(self, name: str, value: object) -> None:
        """A new variable."""
        self._names.append(name)
        self._values.append(value)

    def assign(self, name: str, value: object) -> None:
        """A new value for the youngest variable of this name."""
        self._values[self._find(name)] = value

    def assign_top(self, depth: int, value: object) -> None:
        """A new value for the variable declared last (1) or before it (2)."""
        self._values[-depth] = value

    def value(self, name: str) -> object:
        """The value of the youngest variable of this name."""
        return self._values[self._find(name)]

    def mark(self) -> int:
        """How many variables there are."""
        return len(self._names)

    def drop(self, mark: int) -> None:
        """Forgets those declared after the mark."""
        del self._names[mark:], self._values[mark:]

    def _find(self, name: str) -> int:
        places = reversed(range(len(self._names)))
        index = next((place for place in places if self._names[place] == name), None)
        if index is None:
            self.fail(f"undefined variable: {name}")
        return index
