"""Label selectors: text in, a matcher out, and the forms in which one is shown again.

`parse` takes Kubernetes' whole grammar, and raises nothing but SelectorSyntaxError.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from adapter.wire import selector_syntax
from adapter.wire.selector_syntax import ABSENT, EXISTS, GREATER, LESS, SelectorSyntaxError

__all__ = [
    "EVERYTHING",
    "Requirement",
    "Selector",
    "SelectorSyntaxError",
    "as_label_selector",
    "echo_as_upstream",
    "parse",
    "too_large",
]

MAX_BYTES = 16 * 1024
"""Of a selector's text. Anything longer was made to cost us something (docs/faults.md 3)."""

MAX_REQUIREMENTS = 64
MAX_VALUES = 512
"""Of all requirements together: each becomes a part of the query that the backend has to run."""

Values = frozenset[str]
_Test = Callable[[str | None, Values], bool]


def _greater(value: str | None, values: Values) -> bool:
    return _compare(value, values, int.__gt__)


def _less(value: str | None, values: Values) -> bool:
    return _compare(value, values, int.__lt__)


def _compare(value: str | None, values: Values, holds: Callable[[int, int], bool]) -> bool:
    if value is None:
        return False
    number = selector_syntax.integer(value)
    bound = next(map(selector_syntax.integer, values), None)
    return number is not None and bound is not None and holds(number, bound)


_TESTS: dict[str, _Test] = {
    "=": lambda value, values: value in values,
    "==": lambda value, values: value in values,
    "in": lambda value, values: value in values,
    "!=": lambda value, values: value not in values,
    "notin": lambda value, values: value not in values,
    EXISTS: lambda value, _: value is not None,
    ABSENT: lambda value, _: value is None,
    GREATER: _greater,
    LESS: _less,
}
"""Whether a label's value (None: the object has no such label) is one that is asked for."""

_SIGNS = {"=": "=", "==": "==", "!=": "!=", GREATER: ">", LESS: "<"}


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition of a selector. `values` are sorted, each once."""

    key: str
    operator: str
    values: tuple[str, ...]
    _test: _Test = field(init=False, repr=False, compare=False)
    _members: Values = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_test", _TESTS[self.operator])
        object.__setattr__(self, "_members", frozenset(self.values))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels meets this condition."""
        return self._test(labels.get(self.key), self._members)

    def __str__(self) -> str:
        if self.operator == EXISTS:
            return self.key
        if self.operator == ABSENT:
            return f"!{self.key}"
        values = ",".join(self.values)
        if self.operator in _SIGNS:
            return f"{self.key}{_SIGNS[self.operator]}{values}"
        return f"{self.key} {self.operator} ({values})"


@dataclass(frozen=True, slots=True)
class Selector:
    """All conditions that an object has to meet, sorted by key; none of them: everything is meant."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is meant."""
        # Neither all() nor Requirement.matches: this runs for every object of a question, in half their time.
        for one in self.requirements:  # noqa: SIM110
            if not one._test(labels.get(one.key), one._members):  # noqa: SLF001 - its own file
                return False
        return True

    def __str__(self) -> str:
        """The canonical form: it parses to this selector again."""
        return ",".join(map(str, self.requirements))


EVERYTHING = Selector()


def parse(text: str) -> Selector:
    """This is the selector that `text` writes; raises SelectorSyntaxError with the Go library's words."""
    found = [Requirement(*parts) for parts in selector_syntax.requirements(text)]
    return Selector(tuple(sorted(found, key=lambda one: one.key)))


def too_large(text: str) -> str | None:
    """This is why a selector's text asks for too much, or None. What does not parse is left to `parse`."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return f"a selector may have at most {MAX_BYTES} bytes"
    if text.count(",") < MAX_REQUIREMENTS:
        return None  # too few parts to pass either limit
    try:
        requirements = selector_syntax.requirements(text)
    except SelectorSyntaxError:
        return None
    if len(requirements) > MAX_REQUIREMENTS:
        return f"a selector may have at most {MAX_REQUIREMENTS} requirements"
    if sum(len(parts.values) for parts in requirements) > MAX_VALUES:
        return f"a selector may have at most {MAX_VALUES} values"
    return None


_WORDS = {"in": "In", "notin": "NotIn", EXISTS: "Exists", ABSENT: "DoesNotExist", "!=": "NotIn"}
_WORDS |= {GREATER: "Gt", LESS: "Lt"}


def as_label_selector(selector: Selector) -> dict[str, Any] | None:
    """This is the selector as a LabelSelector object, members in Go's order; None if it has no requirement.

    A LabelSelector has no word for `!=`; `NotIn` with one value means the same.
    """
    exact = {one.key: one.values[0] for one in selector.requirements if one.operator in ("=", "==")}
    others = [_expression(one) for one in selector.requirements if one.operator not in ("=", "==")]
    members: dict[str, Any] = {}
    if exact:
        members["matchLabels"] = exact
    if others:
        members["matchExpressions"] = others
    return members or None


def echo_as_upstream(selector: Selector) -> dict[str, Any] | None:
    """This is the same as upstream has it: what a LabelSelector cannot say is a ValueError with its text."""
    for one in selector.requirements:
        if one.operator == "!=":
            raise ValueError('"!=" is not a valid label selector operator')
        if one.operator in (GREATER, LESS):
            raise ValueError(f'"{one.operator}" isn\'t supported in label selectors')
    return as_label_selector(selector)


def _expression(one: Requirement) -> dict[str, Any]:
    expression: dict[str, Any] = {"key": one.key, "operator": _WORDS[one.operator]}
    return expression | {"values": list(one.values)} if one.values else expression
