"""The functions that every template has. What is wrong with a call is a ValueError with Go's text."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from urllib import parse

from adapter.promql import gostrings
from adapter.promql.template import comparison, formatting, values
from adapter.promql.template.limits import Budget
from adapter.promql.template.values import INVALID, Byte, Slice


class Wants(Enum):
    """What a function takes. VALUE is anything, a missing value too; of ANY a missing value becomes nil."""

    VALUE = "reflect.Value"
    ANY = "interface {}"
    STRING = "string"


Function = Callable[[Budget, list[object]], object]


@dataclass(frozen=True, slots=True)
class Builtin:
    """A function: how it is called, its fixed parameters and what more it takes."""

    apply: Function
    fixed: tuple[Wants, ...]
    more: Wants | None = None

    def wants(self, index: int) -> Wants:
        """What the parameter at this place takes."""
        return self.fixed[index] if index < len(self.fixed) else self.more or self.fixed[-1]


def _index(budget: Budget, arguments: list[object]) -> object:
    item, *indexes = arguments
    if item is None or item is INVALID:
        raise ValueError("index of untyped nil")
    for index in (INVALID if one is None else one for one in indexes):
        if isinstance(item, dict):
            item = item.get(_map_key(index), "")
        elif isinstance(item, str):
            raw = budget.read(item)
            item = Byte(raw[_position(index, len(raw), "string")])
        elif isinstance(item, Slice):
            item = item.items[_position(index, len(item.items), "slice")]
        else:
            raise ValueError(f"can't index item of type {values.type_name(item)}")  # noqa: TRY004  Go's message
    return item


def _map_key(index: object) -> str:
    if index is INVALID:
        raise ValueError("value is nil; should be of type string")
    if not isinstance(index, str):
        raise ValueError(f"value has type {values.type_name(index)}; should be string")  # noqa: TRY004  Go's message
    return index


def _position(index: object, length: int, what: str) -> int:
    position = _bound(index, length)
    if position == length:
        raise ValueError(f"reflect: {what} index out of range")
    return position


def _bound(index: object, most: int) -> int:
    if index is INVALID:
        raise ValueError("cannot index slice/array with nil")
    number = values.integer(index)
    if number is None:
        raise ValueError(f"cannot index slice/array with type {values.type_name(index)}")
    if not 0 <= number <= most:
        raise ValueError(f"index out of range: {number}")
    return number


def _slice(budget: Budget, arguments: list[object]) -> object:
    item, *indexes = arguments
    if item is None or item is INVALID:
        raise ValueError("slice of untyped nil")
    if len(indexes) > 3:  # noqa: PLR2004  [low:high:limit]
        raise ValueError(f"too many slice indexes: {len(indexes)}")
    if isinstance(item, str):
        if len(indexes) == 3:  # noqa: PLR2004
            raise ValueError("cannot 3-index slice a string")
        raw = budget.read(item)
        low, high, _ = _bounds(indexes, len(raw), len(raw))
        return budget.made(gostrings.from_bytes(raw[low:high]))
    if isinstance(item, Slice):
        return item.cut(*_bounds(indexes, len(item.items), item.limit - item.start))
    raise ValueError(f"can't slice item of type {values.type_name(item)}")


def _bounds(indexes: list[object], length: int, most: int) -> tuple[int, int, int | None]:
    found = [_bound(index, most) for index in indexes]
    low, high, *limit = found + [0, length][len(found) :]
    for lower, upper in ((low, high), *((high, last) for last in limit)):
        if lower > upper:
            raise ValueError(f"invalid slice index: {lower} > {upper}")
    return low, high, limit[0] if limit else None


def _len(budget: Budget, arguments: list[object]) -> object:
    (item,) = arguments
    if item is None:
        raise ValueError("len of nil pointer")
    if item is INVALID:
        raise ValueError("reflect: call of reflect.Value.Type on zero Value")
    if isinstance(item, str):
        return len(budget.read(item))
    if isinstance(item, Slice):
        return len(item.items)
    if isinstance(item, dict):
        return len(item)
    raise ValueError(f"len of type {values.type_name(item)}")


def _not(_: Budget, arguments: list[object]) -> object:
    return not values.truth(arguments[0])


def _printf(budget: Budget, arguments: list[object]) -> object:
    template, *rest = arguments
    return formatting.sprintf(budget, str(template), rest)


def _text(budget: Budget, arguments: list[object]) -> str:
    """What the escaping functions escape: one string itself, else all arguments as `print` has them."""
    return formatting.sprint(budget, ["<no value>" if one is None else one for one in arguments])


_HTML = str.maketrans(
    {"\0": "\ufffd", '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"},
)
_JS = {ord(char): "\\" + char for char in "\\'\""}
_JS |= {code: f"\\u{code:04X}" for code in (*range(32), *b"<>&=")}


def _html(budget: Budget, arguments: list[object]) -> object:
    return budget.made(_text(budget, arguments).translate(_HTML))


def _js(budget: Budget, arguments: list[object]) -> object:
    text = _text(budget, arguments).translate(_JS)
    if not text.isascii():
        text = "".join(map(_js_character, text))
    return budget.made(text)


def _js_character(char: str) -> str:
    plain = char < "\x80" or gostrings.is_surrogate(ord(char)) or gostrings.is_printable(ord(char))
    return char if plain else f"\\u{ord(char):04X}"


def _urlquery(budget: Budget, arguments: list[object]) -> object:
    return budget.made(parse.quote_plus(budget.read(_text(budget, arguments)), safe=""))


def _special(_: Budget, __: list[object]) -> object:
    """`and`, `or` and `call` are the evaluation's: two leave arguments out, one needs the name of its argument."""
    raise TypeError("evaluated in place, never called")


def _comparing(compare: Callable[[list[object]], bool], *, any_number: bool = False) -> Builtin:
    def apply(budget: Budget, arguments: list[object]) -> object:
        budget.look(*(one for one in arguments if isinstance(one, str)))
        return compare(arguments)

    fixed = (Wants.VALUE,) if any_number else (Wants.VALUE, Wants.VALUE)
    return Builtin(apply, fixed, Wants.VALUE if any_number else None)


BUILTINS: dict[str, Builtin] = {
    "and": Builtin(_special, (Wants.VALUE,), Wants.VALUE),
    "or": Builtin(_special, (Wants.VALUE,), Wants.VALUE),
    "call": Builtin(_special, (Wants.VALUE,), Wants.VALUE),
    "not": Builtin(_not, (Wants.VALUE,)),
    "len": Builtin(_len, (Wants.VALUE,)),
    "index": Builtin(_index, (Wants.VALUE,), Wants.VALUE),
    "slice": Builtin(_slice, (Wants.VALUE,), Wants.VALUE),
    "print": Builtin(formatting.sprint, (), Wants.ANY),
    "println": Builtin(formatting.sprintln, (), Wants.ANY),
    "printf": Builtin(_printf, (Wants.STRING,), Wants.ANY),
    "html": Builtin(_html, (), Wants.ANY),
    "js": Builtin(_js, (), Wants.ANY),
    "urlquery": Builtin(_urlquery, (), Wants.ANY),
    "eq": _comparing(comparison.equal, any_number=True),
    "ne": _comparing(comparison.unequal),
    "lt": _comparing(comparison.less),
    "le": _comparing(comparison.less_or_equal),
    "gt": _comparing(comparison.greater),
    "ge": _comparing(comparison.greater_or_equal),
}
