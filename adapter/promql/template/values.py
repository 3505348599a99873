"""Go's values as far as a template meets them, and what Go's reflection says of them.

string, bool, int, float64, complex128 and map[string]string are Python's own; a nil interface is None.
"""

import operator
from collections.abc import Mapping
from dataclasses import dataclass

from adapter.promql import gostrings


class Invalid:
    """Go's zero reflect.Value: what a missing map key gives by its field form."""


INVALID = Invalid()


@dataclass(frozen=True, slots=True)
class Byte:
    """A uint8: what indexing a string gives."""

    value: int


@dataclass(frozen=True, slots=True)
class Slice:
    """A []string: a window of an array, which may be widened up to the array's end (or `limit`)."""

    array: tuple[str, ...]
    start: int
    end: int
    limit: int
    nil: bool = False

    @classmethod
    def of(cls, items: tuple[str, ...]) -> "Slice":
        """All of these items; none are Go's nil slice."""
        return cls(items, 0, len(items), len(items), nil=not items)

    @property
    def items(self) -> tuple[str, ...]:
        """What it holds."""
        return self.array[self.start : self.end]

    def cut(self, low: int, high: int, limit: int | None = None) -> "Slice":
        """s[low:high:limit], all counted from this slice's start."""
        end = self.limit if limit is None else self.start + limit
        return Slice(self.array, self.start + low, self.start + high, end)


@dataclass(frozen=True)
class Struct:
    """A Go struct: its type's name as Go prints it (`main.Q`) and its fields in order; it has no others."""

    name: str
    fields: Mapping[str, object]


_NAMES: dict[type, str] = {
    str: "string",
    bool: "bool",
    int: "int",
    float: "float64",
    complex: "complex128",
    Byte: "uint8",
    Slice: "[]string",
    type(None): "interface {}",
}


def of(raw: object) -> object:
    """This is a field's value as the evaluation knows it; a type that Go's side has not is our own mistake."""
    if raw is None or type(raw) in _NAMES:
        return raw
    if isinstance(raw, list | tuple):
        return Slice.of(tuple(raw))
    if isinstance(raw, Mapping):
        return dict(raw)
    raise TypeError(f"a template takes no {type(raw).__name__}")


def type_name(value: object) -> str:
    """Go's name of its type."""
    if isinstance(value, Struct):
        return value.name
    return _NAMES.get(type(value), "map[string]string")


def truth(value: object) -> bool:
    """Whether `if` takes it for true: everything but nothing, zero and empty."""
    if isinstance(value, Slice):
        return value.end > value.start
    if isinstance(value, Byte):
        return value.value != 0
    return value is not None and value is not INVALID and (isinstance(value, Struct) or bool(value))


def integer(value: object) -> int | None:
    """Its number, if Go calls it an integer of any size."""
    if isinstance(value, Byte):
        return value.value
    return value if type(value) is int else None


def sorted_items(mapping: Mapping[str, str]) -> list[tuple[str, str]]:
    """The pairs in the order in which Go prints and ranges over a map: by the keys' bytes."""
    if all(map(str.isascii, mapping)):
        return sorted(mapping.items(), key=operator.itemgetter(0))
    return sorted(mapping.items(), key=lambda pair: gostrings.to_bytes(pair[0]))
