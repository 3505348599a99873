"""Parses what stands inside an action: pipelines of commands of operands."""

from adapter.promql import gostrings
from adapter.promql.template import literals
from adapter.promql.template.builtins import BUILTINS
from adapter.promql.template.lexer import Kind, Token
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
from adapter.promql.template.tokens import Tokens

_STARTS_OPERAND = frozenset(
    (
        Kind.BOOLEAN,
        Kind.CHARACTER,
        Kind.COMPLEX,
        Kind.DOT,
        Kind.FIELD,
        Kind.IDENTIFIER,
        Kind.NUMBER,
        Kind.NIL,
        Kind.RAW_STRING,
        Kind.STRING,
        Kind.VARIABLE,
        Kind.OPEN,
    )
)


def pipeline(tokens: Tokens, context: str, end: Kind = Kind.RIGHT) -> Pipe:
    """Parses a pipeline up to and with its end: >> or a closing parenthesis."""
    at = tokens.peek_solid().at
    variables, assigns = _variables(tokens, context)
    commands: list[Command] = []
    while (token := tokens.next_solid()).kind is not end:
        if token.kind not in _STARTS_OPERAND:
            tokens.unexpected(token, context)
        tokens.back(token)
        commands.append(_command(tokens))
    _check(tokens, commands, context)
    return Pipe(at, tuple(variables), assigns, tuple(commands))


def _variables(tokens: Tokens, context: str) -> tuple[list[Variable], bool]:
    """The variables that the pipeline sets, and whether they exist already."""
    found: list[Variable] = []
    while (token := tokens.peek_solid()).kind is Kind.VARIABLE:
        tokens.next()
        after = tokens.peek()
        sign = tokens.peek_solid()
        comma = sign.kind is Kind.PUNCTUATION and sign.text == ","
        if not comma and sign.kind not in (Kind.ASSIGN, Kind.DECLARE):
            # an operand: the space behind it counts, for it parts operands
            tokens.back(*((token, after) if after.kind is Kind.SPACE else (token,)))
            break
        tokens.next()
        found.append(Variable(token.at, (token.text,)))
        tokens.variables.append(token.text)
        if not comma:
            return found, sign.kind is Kind.ASSIGN
        _check_comma(tokens, context, len(found))
    return found, False


def _check_comma(tokens: Tokens, context: str, count: int) -> None:
    if context != "range" or count > 1:
        tokens.fail(f"too many declarations in {context}")
    if tokens.peek_solid().kind not in (Kind.VARIABLE, Kind.RIGHT, Kind.CLOSE):
        tokens.fail("range can only initialize variables")


def _check(tokens: Tokens, commands: list[Command], context: str) -> None:
    if not commands:
        tokens.fail(f"missing value for {context}")
    for stage, command in enumerate(commands[1:], start=2):
        if isinstance(command.operands[0], Boolean | Dot | Nil | Number | String):
            tokens.fail(f"non executable command in pipeline stage {stage}")


def _command(tokens: Tokens) -> Command:
    at = tokens.peek_solid().at
    operands: list[Operand] = []
    while True:
        tokens.peek_solid()
        operand = _operand(tokens)
        if operand is not None:
            operands.append(operand)
        token = tokens.next()
        if token.kind is Kind.SPACE:
            continue
        if token.kind in (Kind.RIGHT, Kind.CLOSE):
            tokens.back(token)
        elif token.kind is not Kind.PIPE:
            tokens.unexpected(token, "operand")
        break
    if not operands:
        tokens.fail("empty command")
    return Command(at, tuple(operands))


def _operand(tokens: Tokens) -> Operand | None:
    """A term and the fields that follow it."""
    term = _term(tokens)
    first = tokens.peek() if term is not None else None
    if term is None or first is None or first.kind is not Kind.FIELD:
        return term
    names: list[str] = []
    while tokens.peek().kind is Kind.FIELD:
        names.append(tokens.next().text[1:])
    if isinstance(term, Field):
        return Field(first.at, (*term.names, *names))
    if isinstance(term, Variable):
        return Variable(first.at, (*term.names, *names))
    if isinstance(term, Boolean | String | Number | Nil | Dot):
        tokens.fail(f"unexpected . after term {gostrings.quote(str(term))}")
    return Chain(first.at, term, tuple(names))


def _term(tokens: Tokens) -> Operand | None:
    token = tokens.next_solid()
    match token.kind:
        case Kind.DOT | Kind.NIL | Kind.FIELD | Kind.BOOLEAN:
            return _simple(token)
        case Kind.OPEN:
            with tokens.deeper("max expression depth exceeded"):
                return pipeline(tokens, "parenthesized pipeline", Kind.CLOSE)
        case Kind.IDENTIFIER | Kind.VARIABLE:
            return _name(tokens, token)
        case Kind.CHARACTER | Kind.COMPLEX | Kind.NUMBER | Kind.STRING | Kind.RAW_STRING:
            return _literal(tokens, token)
    tokens.back(token)
    return None


def _simple(token: Token) -> Operand:
    match token.kind:
        case Kind.DOT:
            return Dot(token.at)
        case Kind.NIL:
            return Nil(token.at)
        case Kind.FIELD:
            return Field(token.at, (token.text[1:],))
    return Boolean(token.at, token.text == "true")


def _name(tokens: Tokens, token: Token) -> Operand:
    if token.kind is Kind.IDENTIFIER:
        if token.text not in BUILTINS:
            tokens.fail(f"function {gostrings.quote(token.text)} not defined")
        return Identifier(token.at, token.text)
    if token.text not in tokens.variables:
        tokens.fail(f"undefined variable {gostrings.quote(token.text)}")
    return Variable(token.at, (token.text,))


def _literal(tokens: Tokens, token: Token) -> Operand:
    try:
        match token.kind:
            case Kind.CHARACTER:
                return Number(token.at, token.text, literals.character(token.text))
            case Kind.COMPLEX:
                return Number(token.at, token.text, literals.complex_number(token.text))
            case Kind.NUMBER:
                return Number(token.at, token.text, literals.number(token.text))
        return String(token.at, token.text, gostrings.unquote(token.text))
    except ValueError as problem:
        tokens.fail(str(problem))
