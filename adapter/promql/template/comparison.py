"""eq, ne, lt, le, gt, ge by Go's rules: only like kinds compare; integers of all sizes are one kind."""

from adapter.promql import gostrings
from adapter.promql.template import formatting, values
from adapter.promql.template.values import INVALID, Slice, Struct

_BAD_TYPE = "invalid type for comparison"


def equal(arguments: list[object]) -> bool:
    """Whether the first equals any of the others."""
    first, *others = arguments
    if not others:
        raise ValueError("missing argument for comparison")
    return any(_same(first, other) for other in others)


def unequal(arguments: list[object]) -> bool:
    """The opposite of equal."""
    return not equal(arguments)


def less(arguments: list[object]) -> bool:
    """Whether the first is below the second."""
    first, second = arguments
    kinds = [_kind(first), _kind(second)]
    if "" in kinds:
        raise ValueError(_BAD_TYPE)
    if kinds[0] != kinds[1]:
        raise ValueError(_incompatible(first, second))
    match first, second:
        case str(), str():
            return gostrings.to_bytes(first) < gostrings.to_bytes(second)
        case float(), float():
            return first < second
    low, high = values.integer(first), values.integer(second)
    if low is None or high is None:
        raise ValueError(_BAD_TYPE)
    return low < high


def less_or_equal(arguments: list[object]) -> bool:
    """Below or equal."""
    return less(arguments) or equal(arguments)


def greater(arguments: list[object]) -> bool:
    """Neither below nor equal: a NaN is greater than everything."""
    return not less_or_equal(arguments)


def greater_or_equal(arguments: list[object]) -> bool:
    """Not below."""
    return not less(arguments)


def _kind(value: object) -> str:
    """The kind that comparisons tell apart; "" for what has no order."""
    if values.integer(value) is not None:
        return "integer"
    return values.type_name(value) if isinstance(value, bool | str | float | complex) else ""


def _same(first: object, other: object) -> bool:
    first, other = _bare(first), _bare(other)
    kind = _kind(first)
    if kind != _kind(other):
        if first is INVALID or other is INVALID:
            return False
        raise ValueError(_incompatible(first, other))
    if kind == "integer":
        return values.integer(first) == values.integer(other)
    return first == other if kind else _same_composite(first, other)


def _same_composite(first: object, other: object) -> bool:
    """Slices, maps and structs compare to nil only, but for structs of plain fields."""
    if first is not INVALID and other is not INVALID and type(first) is not type(other):
        left = f"{formatting.show(first, 's')}: {values.type_name(first)}"
        raise ValueError(f"non-comparable types {left}, {values.type_name(other)}: {formatting.show(other)}")
    if _is_nil(first) or _is_nil(other):
        return _is_nil(first) == _is_nil(other)
    if not _comparable(other):
        raise ValueError(f"non-comparable type {formatting.show(other, 's')}: {values.type_name(other)}")
    return first == other


def _bare(value: object) -> object:
    return INVALID if value is None else value


def _is_nil(value: object) -> bool:
    if isinstance(value, Slice):
        return value.nil
    return value is INVALID or (isinstance(value, dict) and not value)


def _comparable(value: object) -> bool:
    if not isinstance(value, Struct):
        return False
    return not any(isinstance(field, list | tuple | dict) for field in value.fields.values())


def _incompatible(first: object, second: object) -> str:
    names = values.type_name(first), values.type_name(second)
    return f"incompatible types for comparison: {names[0]} and {names[1]}"
