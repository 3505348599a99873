"""Builds a template's tree, by the grammar and with the messages of Go's text/template/parse."""

from collections.abc import Callable

from adapter.promql import gostrings
from adapter.promql.template import expressions
from adapter.promql.template.lexer import Kind, Lexer, Token
from adapter.promql.template.nodes import Action, Branch, Call, End, Leave, Listing, Statement, Text, is_blank
from adapter.promql.template.tokens import Source, Tokens

_TOO_DEEP = "actions are nested too deeply"


def parse(text: str, name: str) -> dict[str, Listing]:
    """The templates that the text defines; the one called `name` is the text itself."""
    source = Source(name, Lexer(text))
    tokens = Tokens(source)
    found: list[Statement] = []
    at = tokens.peek().at
    while (token := tokens.next()).kind is not Kind.EOF:
        if token.kind is Kind.LEFT:
            word = tokens.next_solid()
            if word.is_word("define"):
                _definition(Tokens(source))
                continue
            tokens.back(word)
        tokens.back(token)
        node = _statement(tokens)
        if isinstance(node, End):
            tokens.fail(f"unexpected {node}")
        found.append(node)
    _add(tokens, name, Listing(at, tuple(found)))
    return source.templates


def _add(tokens: Tokens, name: str, listing: Listing) -> None:
    """Keeps a definition; a blank one gives way to any other, two others are a mistake."""
    old = tokens.source.templates.get(name)
    if old is None or is_blank(old):
        tokens.source.templates[name] = listing
    elif not is_blank(listing):
        tokens.fail(f"template: multiple definition of template {gostrings.quote(name)}")


def _definition(tokens: Tokens) -> None:
    context = "define clause"
    name = _template_name(tokens, tokens.expect(context, Kind.STRING, Kind.RAW_STRING), context)
    tokens.expect(context, Kind.RIGHT)
    body, end = _body(tokens)
    if end.word != "end":
        tokens.fail(f"unexpected {end} in {context}")
    _add(tokens, name, body)


def _body(tokens: Tokens) -> tuple[Listing, End]:
    """Statements up to <<end>> or <<else>>."""
    found: list[Statement] = []
    at = tokens.peek_solid().at
    while True:
        if tokens.peek_solid().kind is Kind.EOF:
            tokens.fail("unexpected EOF")
        node = _statement(tokens)
        if isinstance(node, End):
            return Listing(at, tuple(found)), node
        found.append(node)


def _statement(tokens: Tokens) -> Statement | End:
    token = tokens.next_solid()
    if token.kind is Kind.TEXT:
        return Text(token.at, token.text)
    if token.kind is not Kind.LEFT:
        tokens.unexpected(token, "input")
    tokens.action_at = token.at
    node = _action(tokens)
    tokens.action_at = None
    return node


def _action(tokens: Tokens) -> Statement | End:
    token = tokens.next_solid()
    parse_rest = _AFTER.get(token.text) if token.kind is Kind.KEYWORD else None
    if parse_rest is not None:
        return parse_rest(tokens, token)
    tokens.back(token)
    return Action(token.at, expressions.pipeline(tokens, "command"))


def _end(tokens: Tokens, _: Token) -> End:
    return End(tokens.expect("end", Kind.RIGHT).at, "end")


def _else(tokens: Tokens, _: Token) -> End:
    token = tokens.peek_solid()
    if not token.is_word("if", "with"):  # those two stay, for the branch that this else belongs to
        tokens.expect("else", Kind.RIGHT)
    return End(token.at, "else")


def _leave(tokens: Tokens, word: Token) -> Leave:
    shown = "{{" + word.text + "}}"
    token = tokens.next_solid()
    if token.kind is not Kind.RIGHT:
        tokens.unexpected(token, shown)
    if not tokens.ranges:
        tokens.fail(f"{shown} outside {{{{range}}}}")
    return Leave(word.at, word.text)


def _branch(tokens: Tokens, keyword: Token) -> Branch:
    """An if, with or range, whose word is past. Its variables end with it."""
    word, mark = keyword.text, len(tokens.variables)
    with tokens.deeper(_TOO_DEEP):
        pipe = expressions.pipeline(tokens, word)
        tokens.ranges += word == "range"
        body, end = _body(tokens)
        tokens.ranges -= word == "range"
        otherwise = _otherwise(tokens, word, end) if end.word == "else" else None
    del tokens.variables[mark:]
    return Branch(pipe.at, word, pipe, body, otherwise)


def _otherwise(tokens: Tokens, word: str, start: End) -> Listing:
    """What follows <<else>>; `else if` is a branch of its own, which takes the <<end>> of both."""
    if word != "range" and tokens.peek().is_word(word):
        return Listing(start.at, (_branch(tokens, tokens.next()),))
    body, end = _body(tokens)
    if end.word != "end":
        tokens.fail(f"expected end; found {end}")
    return body


def _call(tokens: Tokens, _: Token) -> Call:
    context = "template clause"
    token = tokens.next_solid()
    name = _template_name(tokens, token, context)
    after = tokens.next_solid()
    if after.kind is Kind.RIGHT:
        return Call(token.at, name, None)
    tokens.back(after)
    return Call(token.at, name, expressions.pipeline(tokens, context))


def _block(tokens: Tokens, _: Token) -> Call:
    """A definition and its call in one."""
    context = "block clause"
    token = tokens.next_solid()
    name = _template_name(tokens, token, context)
    pipe = expressions.pipeline(tokens, context)
    inner = Tokens(tokens.source)
    with tokens.deeper(_TOO_DEEP):
        body, end = _body(inner)
    if end.word != "end":
        tokens.fail(f"unexpected {end} in {context}")
    _add(inner, name, body)
    return Call(token.at, name, pipe)


def _template_name(tokens: Tokens, token: Token, context: str) -> str:
    if token.kind not in (Kind.STRING, Kind.RAW_STRING):
        tokens.unexpected(token, context)
    try:
        return gostrings.unquote(token.text)
    except ValueError as problem:
        tokens.fail(str(problem))


_AFTER: dict[str, Callable[[Tokens, Token], Statement | End]] = {
    "if": _branch,
    "with": _branch,
    "range": _branch,
    "else": _else,
    "end": _end,
    "break": _leave,
    "continue": _leave,
    "template": _call,
    "block": _block,
}
"""What follows each word that may begin an action."""
