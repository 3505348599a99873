"""Go's fmt: how values print, and printf's directives with all that can be wrong with them."""

from dataclasses import replace

from adapter.promql import gostrings
from adapter.promql.template import directives, numbers, values
from adapter.promql.template.directives import Directive
from adapter.promql.template.limits import Budget, LimitError, refuse_long
from adapter.promql.template.numbers import Flags
from adapter.promql.template.values import Byte, Slice, Struct

_INTEGER_VERBS = "vdboOxX"
_FLOAT_VERBS = "vbgGxXfFeE"
_NIL = "<nil>"


def sprint(budget: Budget, arguments: list[object]) -> str:
    """fmt.Sprint: a space between two operands of which neither is a string."""
    pieces: list[str] = []
    for index, value in enumerate(arguments):
        if index and not isinstance(value, str) and not isinstance(arguments[index - 1], str):
            pieces.append(" ")
        pieces.append(show(value))
    return budget.made("".join(pieces))


def sprintln(budget: Budget, arguments: list[object]) -> str:
    """fmt.Sprintln: a space between all operands, and a newline."""
    return budget.made(" ".join(map(show, arguments)) + "\n")


def sprintf(budget: Budget, template: str, arguments: list[object]) -> str:
    """fmt.Sprintf."""
    pieces: list[str] = []
    size = 0
    for piece in directives.parse(template, arguments):
        text = piece if isinstance(piece, str) else _formatted(piece)
        size += len(text)
        refuse_long(size)
        pieces.append(text)
    return budget.made("".join(pieces))


def show(value: object, verb: str = "v") -> str:
    """%v, or another verb without flags."""
    return _argument(value, verb, Flags())


def _formatted(directive: Directive) -> str:
    if directive.extra:
        return (
            f"{values.type_name(directive.value)}={show(directive.value)}"
            if directive.value is not None
            else _NIL
        )
    return _argument(directive.value, directive.verb, directive.flags)


def _argument(value: object, verb: str, flags: Flags) -> str:
    if value is None:
        return numbers.pad(flags, _NIL) if verb in "Tv" else _bad_verb(value, verb, flags)
    if verb == "T":
        return _string(values.type_name(value), "s", flags)
    if verb == "p":
        return _address(value, flags)
    if verb == "w" and isinstance(value, Slice | dict | Struct):
        return _bad_verb(value, verb, flags)
    return _value(value, verb, flags)


def _value(value: object, verb: str, flags: Flags) -> str:
    """Go's printValue: what is inside prints by the same verb and flags."""
    if isinstance(value, Slice):
        return _slice(value, verb, flags)
    if isinstance(value, Struct):
        return _struct(value, verb, flags)
    if isinstance(value, dict):
        return _map(value, verb, flags)
    if value is None:
        return "interface {}(nil)" if flags.sharp_v else _NIL
    text = _scalar(value, verb, flags)
    return _bad_verb(value, verb, flags) if text is None else text


def _scalar(value: object, verb: str, flags: Flags) -> str | None:
    """A value without parts; None if the verb is not for it."""
    if isinstance(value, bool):
        return numbers.pad(flags, "true" if value else "false") if verb in "tv" else None
    if isinstance(value, str):
        return _string(value, verb, flags) if verb in "vsxXq" else None
    if isinstance(value, float):
        return numbers.floating(flags, value, verb) if verb in _FLOAT_VERBS else None
    if isinstance(value, complex):
        return numbers.complex_number(flags, value, verb) if verb in _FLOAT_VERBS else None
    number = values.integer(value)
    return None if number is None else _integer(number, verb, flags, unsigned=isinstance(value, Byte))


def _integer(value: int, verb: str, flags: Flags, *, unsigned: bool) -> str | None:
    if verb == "v" and flags.sharp_v and unsigned:
        return numbers.integer(replace(flags, sharp=True), value, "x")
    if verb in _INTEGER_VERBS:
        return numbers.integer(flags, value, verb)
    match verb:
        case "c":
            return numbers.character(flags, value)
        case "q":
            return numbers.pad(flags, gostrings.quote_rune(value, ascii_only=flags.plus))
        case "U":
            return numbers.code_point(flags, value)
    return None


def _string(value: str, verb: str, flags: Flags) -> str:
    if verb in "xX":
        return _hexadecimal(value, verb, flags)
    if flags.precision is not None:
        value = value[: flags.precision]
    if verb == "q" or flags.sharp_v:
        if flags.sharp and gostrings.can_backquote(value):
            return numbers.pad(flags, f"`{value}`")
        return numbers.pad(flags, gostrings.quote(value, ascii_only=flags.plus))
    return numbers.pad(flags, value)


def _hexadecimal(value: str, verb: str, flags: Flags) -> str:
    raw = gostrings.to_bytes(value)
    raw = raw if flags.precision is None else raw[: flags.precision]
    prefix = "0x" if flags.sharp and raw else ""
    text = prefix + (raw.hex(" ").replace(" ", " " + prefix) if flags.space else raw.hex())
    return numbers.pad(flags, text.upper() if verb == "X" else text)


def _slice(value: Slice, verb: str, flags: Flags) -> str:
    inside = (_value(item, verb, flags) for item in value.items)
    if not flags.sharp_v:
        return f"[{' '.join(inside)}]"
    return "[]string(nil)" if value.nil else f"[]string{{{', '.join(inside)}}}"


def _map(value: dict[str, str], verb: str, flags: Flags) -> str:
    pairs = values.sorted_items(value)
    inside = (f"{_value(key, verb, flags)}:{_value(item, verb, flags)}" for key, item in pairs)
    if not flags.sharp_v:
        return f"map[{' '.join(inside)}]"
    return f"map[string]string{{{', '.join(inside)}}}" if pairs else "map[string]string(nil)"


def _struct(value: Struct, verb: str, flags: Flags) -> str:
    named = flags.plus_v or flags.sharp_v
    inside = (
        (f"{name}:" if named else "") + _value(values.of(item), verb, flags)
        for name, item in value.fields.items()
    )
    if flags.sharp_v:
        return f"{value.name}{{{', '.join(inside)}}}"
    return f"{{{' '.join(inside)}}}"


def _address(value: object, flags: Flags) -> str:
    """%p. Go prints an address, which is another one every time: only that of nothing is known."""
    if isinstance(value, Slice | dict):
        if value.end > value.start if isinstance(value, Slice) else value:
            raise LimitError("%p prints an address, and there is none here")
        return numbers.integer(replace(flags, sharp=not flags.sharp), 0, "x")
    return _bad_verb(value, "p", flags)


def _bad_verb(value: object, verb: str, flags: Flags) -> str:
    if value is None:
        return f"%!{verb}({_NIL})"
    return f"%!{verb}({values.type_name(value)}={_value(value, 'v', flags)})"
