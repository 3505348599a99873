"""Evaluates what stands inside an action, by the rules and with the messages of Go's text/template."""

from dataclasses import dataclass

from adapter.promql.template import values
from adapter.promql.template.builtins import BUILTINS, Wants
from adapter.promql.template.frames import Frame
from adapter.promql.template.limits import MAX_DEPTH
from adapter.promql.template.nodes import (
    Boolean,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Nil,
    Number,
    Operand,
    Pipe,
    String,
    Variable,
)
from adapter.promql.template.values import INVALID, Struct

Operands = tuple[Operand, ...]


class _Missing:
    """No value comes down the pipeline: this is its first command."""


_MISSING = _Missing()


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where operands are evaluated: the frame and its current dot."""

    frame: Frame
    dot: object


def pipeline(frame: Frame, dot: object, pipe: Pipe | None) -> object:
    """This is a pipeline's value; its variables are declared or assigned."""
    if pipe is None:
        return INVALID
    frame.at(pipe)
    scope = _Scope(frame, dot)
    value: object = _MISSING
    frame.run.depth += 1
    if frame.run.depth > MAX_DEPTH:
        frame.fail(f"pipelines are nested more than {MAX_DEPTH} deep")
    for command in pipe.commands:
        value = _command(scope, command, value)
        value = INVALID if value is None else value
    frame.run.depth -= 1
    for variable in pipe.variables:
        if pipe.assigns:
            frame.assign(variable.names[0], value)
        else:
            frame.declare(variable.names[0], value)
    return value


def _command(scope: _Scope, command: Command, final: object) -> object:
    first, *rest = command.operands
    match first:
        case Field(names=names):
            scope.frame.at(first)
            return _fields(scope, scope.dot, names, has_arguments=bool(rest) or final is not _MISSING)
        case Chain():
            return _chain(scope, first, has_arguments=bool(rest) or final is not _MISSING)
        case Identifier():
            return _function(scope, first, command, final)
        case Pipe():
            _refuse_arguments(scope, command.operands, final)
            return pipeline(scope.frame, scope.dot, first)
        case Variable():
            return _variable(scope, first, command.operands, final)
    scope.frame.at(first)
    _refuse_arguments(scope, command.operands, final)
    if isinstance(first, Nil):
        scope.frame.fail("nil is not a command")
    return _literal(scope, first)


def _refuse_arguments(scope: _Scope, operands: Operands, final: object) -> None:
    if len(operands) > 1 or final is not _MISSING:
        scope.frame.fail(f"can't give argument to non-function {operands[0]}")


def _literal(scope: _Scope, operand: Dot | Boolean | Number | String) -> object:
    if isinstance(operand, Dot):
        return scope.dot
    if isinstance(operand, Number):
        scope.frame.at(operand)
        if operand.value is None:
            scope.frame.fail(f"{operand} overflows int")
    return operand.value


def _variable(scope: _Scope, variable: Variable, operands: Operands, final: object) -> object:
    scope.frame.at(variable)
    value = scope.frame.value(variable.names[0])
    if len(variable.names) == 1:
        _refuse_arguments(scope, operands, final)
        return value
    has_arguments = len(operands) > 1 or final is not _MISSING
    return _fields(scope, value, variable.names[1:], has_arguments=has_arguments)


def _chain(scope: _Scope, chain: Chain, *, has_arguments: bool) -> object:
    scope.frame.at(chain)
    value = _argument(scope, chain.base, Wants.VALUE)
    return _fields(scope, value, chain.names, has_arguments=has_arguments)


def _fields(scope: _Scope, value: object, names: tuple[str, ...], *, has_arguments: bool) -> object:
    for name in names[:-1]:
        value = _field(scope, value, name, has_arguments=False)
    return _field(scope, value, names[-1], has_arguments=has_arguments)


def _field(scope: _Scope, receiver: object, name: str, *, has_arguments: bool) -> object:
    if receiver is None:
        scope.frame.fail(f"nil pointer evaluating interface {{}}.{name}")
    if isinstance(receiver, Struct) and name in receiver.fields:
        if has_arguments:
            scope.frame.fail(f"{name} has arguments but cannot be invoked as function")
        return values.of(receiver.fields[name])
    if isinstance(receiver, dict):
        if has_arguments:
            scope.frame.fail(f"{name} is not a method but has arguments")
        return receiver.get(name, INVALID)
    if receiver is not INVALID:
        scope.frame.fail(f"can't evaluate field {name} in type {values.type_name(receiver)}")
    return INVALID


def _function(scope: _Scope, name: Identifier, place: Command | Identifier, final: object) -> object:
    """Calls a function: with arguments if it begins a command, without if it is itself an argument."""
    scope.frame.at(name)
    builtin = BUILTINS[name.name]
    operands = place.operands[1:] if isinstance(place, Command) else ()
    _check_count(scope, name.name, len(operands), final)
    if name.name in ("and", "or"):
        return _first_decisive(scope, operands, final, stop=name.name == "or")
    arguments = [_argument(scope, operand, builtin.wants(index)) for index, operand in enumerate(operands)]
    if final is not _MISSING:
        arguments.append(_checked(scope, final, builtin.wants(len(arguments))))
    try:
        if name.name == "call":
            _refuse_call(arguments[0], str(operands[0]) if operands else None)
        return builtin.apply(scope.frame.run.budget, arguments)
    except ValueError as problem:
        scope.frame.at(place)
        scope.frame.fail(f"error calling {name}: {problem}")


def _check_count(scope: _Scope, name: str, given: int, final: object) -> None:
    builtin = BUILTINS[name]
    fixed, count = len(builtin.fixed), given + (final is not _MISSING)
    if builtin.more is not None and count < fixed:
        scope.frame.fail(f"wrong number of args for {name}: want at least {fixed} got {given}")
    if builtin.more is None and count != fixed:
        scope.frame.fail(f"wrong number of args for {name}: want {fixed} got {count}")


def _first_decisive(scope: _Scope, operands: Operands, final: object, *, stop: bool) -> object:
    """`and` and `or` evaluate no further than they need."""
    value: object = INVALID
    for operand in operands:
        value = _argument(scope, operand, Wants.VALUE)
        if values.truth(value) == stop:
            return value
    return value if final is _MISSING else final


def _refuse_call(callee: object, name: str | None) -> None:
    """No data of ours holds a function."""
    if callee is None or callee is INVALID:
        raise ValueError("call of nil")
    type_name = values.type_name(callee)
    if name is None:
        name = callee if isinstance(callee, str) else f"<{type_name} Value>"
    raise ValueError(f"non-function {name} of type {type_name}")


def _argument(scope: _Scope, operand: Operand, wanted: Wants) -> object:
    scope.frame.at(operand)
    match operand:
        case Nil() | Boolean() | Number() | String():
            return _constant(scope, operand, wanted)
        case Dot():
            value = scope.dot
        case Field(names=names):
            value = _fields(scope, scope.dot, names, has_arguments=False)
        case Variable():
            value = _variable(scope, operand, (), _MISSING)
        case Pipe():
            value = pipeline(scope.frame, scope.dot, operand)
        case Identifier():
            value = _function(scope, operand, operand, _MISSING)
        case Chain():
            value = _chain(scope, operand, has_arguments=False)
    return _checked(scope, value, wanted)


def _constant(scope: _Scope, operand: Nil | Boolean | Number | String, wanted: Wants) -> object:
    if isinstance(operand, Nil):
        if wanted is Wants.STRING:
            scope.frame.fail("cannot assign nil to string")
        return None if wanted is Wants.ANY else INVALID
    if wanted is Wants.STRING and not isinstance(operand, String):
        scope.frame.fail(f"expected string; found {operand}")
    return _literal(scope, operand)


def _checked(scope: _Scope, value: object, wanted: Wants) -> object:
    """A value as a parameter takes it."""
    if wanted is Wants.VALUE:
        return value
    if value is INVALID:
        if wanted is Wants.STRING:
            scope.frame.fail("invalid value; expected string")
        return None
    if wanted is Wants.STRING and not isinstance(value, str):
        scope.frame.fail(f"wrong type for value; expected string; got {values.type_name(value)}")
    return value
