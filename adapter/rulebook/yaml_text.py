"""The first YAML document of a text as a tree of nodes.

PyYAML's events are read directly, because its own tree forgets what upstream's parser knows (a quoted scalar
from a plain one, YAML 1.1's `y` and `n`), looks at the second document, and follows aliases without bound. An
alias is the very node it names; nothing is expanded, but its expanded size counts.
"""

from typing import Final

import yaml
from yaml import events

from adapter.rulebook import findings, hints
from adapter.rulebook.yaml_nodes import TAG, Fault, Mapping, Node, Place, Scalar, Sequence

MAX_BYTES: Final = 1024 * 1024
"""As large as a ConfigMap may be; 1,000 rules take a third of it."""
MAX_DEPTH: Final = 20
"""The deepest honest value lies at 7; deeper ones only cost stack."""
MAX_NODES: Final = 100_000
"""1,000 rules with ten overrides each have 50,000 nodes; aliases of aliases reach thousands of millions."""

MAX_GUESSES: Final = 100
"""Among more anchors none is searched for a likeness: that is quadratic."""

_SCALAR_TAGS: Final = frozenset({"!"} | {TAG + one for one in ("str", "int", "float", "bool", "null")})


class Unreadable(ValueError):
    """The text as a whole is refused."""

    def __init__(self, place: Place, fault: Fault) -> None:
        super().__init__(fault.message)
        self.place, self.fault = place, fault


def compose(text: str) -> Node | None:
    """The root node of the first document, or None if there is none. Raises Unreadable."""
    text = text.removeprefix("\ufeff")
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise Unreadable(
            Place(1, 1),
            Fault("too-large", "the file is larger than 1 MiB", "split it: --config may be repeated"),
        )
    composer = _Composer(text)
    try:
        return composer.document()
    except yaml.MarkedYAMLError as error:
        raise _syntax(error) from error
    except yaml.reader.ReaderError as error:
        before = text.encode("utf-8", "surrogatepass")[: error.position].decode("utf-8", "replace")
        raise _bad_character(before, str(error.reason)) from error
    except UnicodeEncodeError as error:
        raise _bad_character(text[: error.start], "half of a surrogate pair") from error


def _syntax(error: yaml.MarkedYAMLError) -> Unreadable:
    """Where the parser stumbled; a quote that is never closed is better shown where it was opened."""
    problem = error.problem or error.context or "not YAML"
    mark = error.context_mark if "end of stream" in problem else error.problem_mark
    mark = mark or error.problem_mark or error.context_mark
    place = Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)
    since = f" {error.context}" if error.context else ""
    if error.context_mark and error.context_mark.line + 1 != place.line:
        since += f" of line {error.context_mark.line + 1}"
    return Unreadable(place, Fault("syntax", f"not YAML: {problem}{since}", hints.syntax(problem)))


def _bad_character(before: str, reason: str) -> Unreadable:
    above = findings.lines(before)
    return Unreadable(
        Place(len(above), len(above[-1]) + 1),
        Fault(
            "bad-character",
            f"not YAML: {reason}",
            "remove it, or write it as \\u.. in double quotes",
        ),
    )


class _Composer:
    """This builds the tree of one document from events, without recursion."""

    def __init__(self, text: str) -> None:
        self._lines = findings.lines(text)
        self._text = text
        self._anchors: dict[str, Node | None] = {}
        self._open: list[tuple[Node, str | None]] = []
        self._halves: list[Node | None] = []
        self._root: Node | None = None
        self._nodes = 0

    def document(self) -> Node | None:
        loader = yaml.CSafeLoader(self._text)
        try:
            while event := loader.get_event():
                if isinstance(event, events.DocumentEndEvent | events.StreamEndEvent):
                    break
                self._take(event)
        finally:
            loader.dispose()
        return self._root

    def _take(self, event: events.Event) -> None:
        place = self._place(event)
        if isinstance(event, events.CollectionStartEvent):
            self._enter(event, place)
        elif isinstance(event, events.CollectionEndEvent):
            self._leave(event)
        elif isinstance(event, events.AliasEvent):
            self._add(self._alias(event.anchor or "", place), place)
        elif isinstance(event, events.ScalarEvent):
            scalar = Scalar(
                place,
                _tag_fault(event.tag, event.tag is None or event.tag in _SCALAR_TAGS),
                value=event.value,
                tag=event.tag if event.tag != "!" else f"{TAG}str",
                plain=not event.style,
                literal=event.style == "|",
            )
            if event.anchor:
                self._anchors[event.anchor] = scalar
            self._add(scalar, place)

    def _enter(self, event: events.CollectionStartEvent, place: Place) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise _too_deep(place)
        is_list = isinstance(event, events.SequenceStartEvent)
        fault = _tag_fault(event.tag, event.tag in (None, "!", TAG + ("seq" if is_list else "map")))
        node: Node = Sequence(place, fault) if is_list else Mapping(place, fault)
        if event.anchor:
            self._anchors[event.anchor] = None
        self._open.append((node, event.anchor))
        self._halves.append(None)

    def _leave(self, event: events.CollectionEndEvent) -> None:
        node, anchor = self._open.pop()
        self._halves.pop()
        end = self._place(event)
        if end.line == node.place.line:
            node.place = Place(end.line, node.place.column, end.column + end.length - node.place.column)
        if anchor:
            self._anchors[anchor] = node
        self._nodes -= node.size - 1  # they were counted one by one, and _add counts them again
        self._add(node, node.place)

    def _alias(self, name: str, place: Place) -> Node:
        target = self._anchors.get(name)
        if target is not None:
            return target
        if name in self._anchors:
            return Scalar(place, Fault("self-alias", f"`*{name}` stands inside what it names"))
        known = findings.nearest(name, self._anchors) if len(self._anchors) <= MAX_GUESSES else ""
        advice = f"did you mean `*{known}`?" if known else f"if `*{name}` is a text, put it in quotes"
        return Scalar(
            place, Fault("unknown-anchor", f"no anchor `&{findings.shown(name)}` stands above", advice)
        )

    def _add(self, node: Node, place: Place) -> None:
        """This puts a finished node where it belongs, and refuses a tree that grew too large or too deep."""
        self._nodes += node.size
        if self._nodes > MAX_NODES:
            raise Unreadable(
                place,
                Fault("too-many-nodes", f"the file has more than {MAX_NODES:,} values, aliases expanded"),
            )
        if len(self._open) + node.height > MAX_DEPTH + 1:
            raise _too_deep(place)
        if not self._open:
            self._root = node
            return
        parent = self._open[-1][0]
        parent.size += node.size
        parent.height = max(parent.height, node.height + 1)
        if isinstance(parent, Sequence):
            parent.items.append(node)
        elif isinstance(parent, Mapping):
            key, self._halves[-1] = self._halves[-1], node if self._halves[-1] is None else None
            if key is not None:
                parent.pairs.append((key, node))

    def _place(self, event: events.Event) -> Place:
        start, end = event.start_mark, event.end_mark
        if start is None or end is None:  # no parser of a text leaves these out
            return Place(1, 1)
        if start.line == end.line:
            length = end.column - start.column
        else:
            length = len(self._lines[start.line].rstrip()) - start.column
        return Place(start.line + 1, start.column + 1, max(length, 1))


def _tag_fault(tag: str | None, known: bool) -> Fault | None:  # noqa: FBT001 - private, and the second of two
    if known:
        return None
    name = findings.shown((tag or "").replace(TAG, "!!"))
    return Fault("tag", f"the YAML tag `{name}` has no meaning in a rule file", "remove it")


def _too_deep(place: Place) -> Unreadable:
    return Unreadable(place, Fault("too-deep", f"the file is nested more than {MAX_DEPTH} levels deep"))
