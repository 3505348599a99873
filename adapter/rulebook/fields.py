"""Typed readers of YAML nodes. Each takes what fits and notes what does not: no mistake hides another."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from adapter.rulebook import findings, hints
from adapter.rulebook.findings import Finding, Position, Severity
from adapter.rulebook.yaml_nodes import Fault, Node, Place, Scalar, Sequence
from adapter.rulebook.yaml_nodes import Mapping as MappingNode
from adapter.wire import times

MAX_FINDINGS: Final = 1000
"""A file with more mistakes is no rule file; the rest is only counted."""

_KIND: Final = {Scalar: "a text", Sequence: "a list", MappingNode: "a mapping"}


class Notes:
    """The findings of one file while it is read."""

    def __init__(self, file: str, source: str, *, compat: bool, prefix: str = "") -> None:
        self.file, self.compat = file, compat
        self._lines, self._prefix = findings.lines(source), prefix
        self.rule: str | None = None
        self._found: dict[Finding, None] = {}
        self._errors = 0
        self._left_out: Finding | None = None

    @contextlib.contextmanager
    def about(self, rule: str) -> Iterator[Callable[[], bool]]:
        """Findings inside belong to this rule; what is given tells whether it is still free of errors."""
        outer, before = self.rule, self._errors
        self.rule = f"{self._prefix}{rule}"
        try:
            yield lambda: self._errors == before
        finally:
            self.rule = outer

    def error(self, at: Node | Place, word: str, message: str, suggestion: str = "") -> None:
        """This notes a mistake for which its rule is left out."""
        self._errors += 1
        self._note(at, Fault(word, message, suggestion), "error")

    def warn(self, at: Node | Place, word: str, message: str, suggestion: str = "") -> None:
        """This notes what is legal, and hardly meant. Upstream says nothing, so neither does compat mode."""
        if not self.compat:
            self._note(at, Fault(word, message, suggestion), "warning")

    def position(self, node: Node) -> Position:
        """Where a node stands, with the file."""
        return Position(self.file, node.place.line, node.place.column)

    def line_of(self, node: Node, line: int) -> Place:
        """The place of the `line`-th line of a text; known for literal blocks only, else that of the text."""
        number = node.place.line + line
        if not (isinstance(node, Scalar) and node.literal and line > 0 and number <= len(self._lines)):
            return node.place
        while number > node.place.line + 1 and not self._lines[number - 1].strip():
            number -= 1  # the end of a text is noticed below its last line
        content = self._lines[number - 1]
        return Place(number, len(content) - len(content.lstrip()) + 1, max(len(content.strip()), 1))

    @property
    def has_room(self) -> bool:
        """Whether a further finding would be shown: advice is worth computing only then."""
        return len(self._found) < MAX_FINDINGS

    @property
    def found(self) -> tuple[Finding, ...]:
        """All findings in the order of the file."""
        last = [] if self._left_out is None else [self._left_out]
        return findings.in_order([*self._found, *last])

    def _note(self, at: Node | Place, fault: Fault, severity: Severity) -> None:
        place = at.place if isinstance(at, Node) else at
        position = Position(self.file, place.line, place.column)
        if self.has_room:
            one = Finding(
                position,
                fault.word,
                fault.message,
                fault.suggestion,
                severity,
                self.rule,
                length=place.length,
            )
            self._found[one] = None
        elif self._left_out is None and severity == "error":
            self._left_out = Finding(position, "too-many-findings", "mistakes after this one are not shown")


class Section:
    """One mapping of the rule format; several nodes where merge keys lay them on top: the last one wins."""

    def __init__(self, notes: Notes, nodes: Iterable[Node], known: Iterable[str]) -> None:
        self.notes = notes
        self._known = tuple(known)
        self._values: dict[str, list[Node]] = {key: [] for key in self._known}
        self._keys: dict[str, Scalar] = {}
        self.given = False
        self.meant: set[str] = set()
        for node in nodes:
            self._take(node)

    def _take(self, node: Node) -> None:
        if not isinstance(node, MappingNode):
            if not is_absent(node):
                wrong_type(self.notes, node, "a mapping")
            return
        self.given = True
        for key, value in node.merged():
            values = self._values.get(key.text)
            if values is None:
                self._unknown(key)
            elif is_absent(value):
                values.clear()
            else:
                values.append(value)
                self._keys[key.text] = key

    def _unknown(self, key: Scalar) -> None:
        if key.fault:
            return
        near = findings.nearest(key.text, self._known) if self.notes.has_room else ""
        if near:
            self.meant.add(near)
        advice = f"did you mean `{near}`?" if near else hints.misplaced(key.text)
        advice = advice or f"known here: {', '.join(self._known)}"
        self.notes.error(key, "unknown-key", f"unknown key `{findings.shown(key.text)}`", advice)

    def node(self, key: str) -> Node | None:
        """The value of a key, None if it is absent."""
        return self._values[key][-1] if self._values[key] else None

    def nodes(self, key: str) -> list[Node]:
        """All values of a key that merge keys lay one over the other, the last one in force."""
        return self._values[key]

    def key(self, key: str) -> Node | None:
        """The key itself as it stands in the file."""
        return self._keys.get(key)

    def text(self, key: str) -> str:
        """A text: the scalar's own characters, whatever type YAML sees in it; empty if absent."""
        scalars = [one for one in self.nodes(key) if self._is_scalar(one, "a text")]
        return scalars[-1].text if scalars and isinstance(scalars[-1], Scalar) else ""

    def boolean(self, key: str) -> bool | None:
        """A boolean as YAML 1.1 spells it; None if absent."""
        result = None
        for node in self.nodes(key):
            if not self._is_scalar(node, "true or false") or not isinstance(node, Scalar):
                continue
            result = node.boolean
            if result is None:
                message = f"`{key}` is true or false, not `{findings.shown(node.value)}`"
                quoted = "write it without quotes" if node.value.lower() in ("true", "false") else ""
                self.notes.error(node, "wrong-type", message, quoted)
        return result

    def choice(self, key: str, words: Iterable[str]) -> str | None:
        """One of some words; None if absent or another."""
        words = tuple(words)
        text, node = self.text(key), self.node(key)
        if not isinstance(node, Scalar) or node.fault or text in words:
            return text or None
        near = findings.nearest(text, words)
        advice = f"did you mean `{near}`?" if near else f"one of {', '.join(words)}"
        self.notes.error(node, "bad-value", f"`{findings.shown(text)}` is no value of `{key}`", advice)
        return None

    def duration(self, key: str) -> float | None:
        """Seconds, written as Prometheus does; None if absent."""
        text, node = self.text(key), self.node(key)
        if not isinstance(node, Scalar) or node.fault:
            return None
        try:
            return times.prometheus_duration(text)
        except ValueError:
            advice = "write 30s, 5m or 1h30m: whole numbers, largest unit first"
            self.notes.error(node, "bad-duration", f"`{findings.shown(text)}` is no duration", advice)
            return None

    def section(self, key: str, known: Iterable[str]) -> "Section":
        """The mapping under a key; one without values if absent."""
        return Section(self.notes, self.nodes(key), known)

    def items(self, key: str) -> list[Node]:
        """The entries of a list; empty if absent."""
        result: list[Node] = []
        for node in self.nodes(key):
            if isinstance(node, Sequence):
                result = node.items
            else:
                wrong_type(self.notes, node, "a list")
        return result

    def _is_scalar(self, node: Node, expected: str) -> bool:
        if isinstance(node, Scalar) and not node.fault:
            return True
        wrong_type(self.notes, node, expected)
        return False


def is_absent(node: Node) -> bool:
    """Whether a value counts as not given."""
    return isinstance(node, Scalar) and node.is_null and not node.fault


def wrong_type(notes: Notes, node: Node, expected: str) -> None:
    """This notes a value of another kind; one that is faulty as YAML was noted by check() already."""
    if node.fault:
        return
    found = f"`{findings.shown(node.value)}`" if isinstance(node, Scalar) else _KIND[type(node)]
    advice = ""
    if expected == "a list" and isinstance(node, MappingNode):
        advice = "begin each entry with `- `"
    elif expected == "a text" and isinstance(node, MappingNode | Sequence):
        advice = "put a text that begins with { or [ in quotes"
    notes.error(node, "wrong-type", f"expected {expected}, found {found}", advice)


def check(notes: Notes, node: Node, *, deep: bool = True) -> None:
    """This notes what is wrong as YAML: faults, repeated keys, keys that are no text, bad merges."""
    if node.fault:
        notes.error(node, node.fault.word, node.fault.message, node.fault.suggestion)
    if isinstance(node, MappingNode):
        _check_keys(notes, node)
    if not deep:
        return
    if isinstance(node, MappingNode):
        for _, value in node.pairs:
            check(notes, value)
    elif isinstance(node, Sequence):
        for item in node.items:
            check(notes, item)


def _check_keys(notes: Notes, node: MappingNode) -> None:
    first: dict[str, Scalar] = {}
    for key, value in node.pairs:
        if not isinstance(key, Scalar):
            notes.error(key, "wrong-type", f"a key is a text, found {_KIND[type(key)]}", "put it in quotes")
        elif key.fault:
            notes.error(key, key.fault.word, key.fault.message, key.fault.suggestion)
        elif key.is_merge:
            _check_merge(notes, value)
        elif key.text in first:
            note_repeated(notes, key, first[key.text])
        else:
            first[key.text] = key


def _check_merge(notes: Notes, value: Node) -> None:
    sources: Iterable[Node] = value.items if isinstance(value, Sequence) else [value]
    for source in sources:
        if not isinstance(source, MappingNode) and not source.fault:
            notes.error(source, "bad-merge", "the merge key << takes a mapping or a list of mappings")


def note_repeated(notes: Notes, key: Scalar, first: Scalar) -> None:
    """This notes a key that was given before."""
    message = f"the key `{findings.shown(key.text)}` stands in {notes.position(first)} already"
    if key is first:
        message = f"the key `{findings.shown(key.text)}` comes in twice by merge keys"
    notes.error(key, "duplicate-key", message, "keep one of the two")
