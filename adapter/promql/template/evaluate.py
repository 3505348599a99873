"""Renders a template's tree: text, branches, loops and calls."""

from collections.abc import Iterable

from adapter.promql import gostrings
from adapter.promql.template import commands, formatting, values
from adapter.promql.template.frames import Frame, Run
from adapter.promql.template.limits import MAX_DEPTH, LimitError, TemplateError
from adapter.promql.template.nodes import Action, Branch, Call, Leave, Listing, Node, Statement, Text
from adapter.promql.template.values import INVALID, Byte, Slice, Struct

_NOTHING, _BREAK = "", "break"
"""What a statement says to the loop around it."""


def render(name: str, source: str, templates: dict[str, Listing], data: Struct) -> str:
    """This is the text of the template called `name` with this data."""
    run = Run(name, source, templates)
    try:
        _walk(Frame(run, name, data), data, templates[name])
        return _valid(run.written())
    except RecursionError:
        problem = TemplateError(f"template: {name}: nested too deeply")
        problem.partial = run.written()
        raise problem from None
    except TemplateError as problem:
        problem.partial = run.written()
        raise


def _valid(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise TemplateError("the rendered text is not valid UTF-8: a slice cut a character in two") from None
    return text


def _walk(frame: Frame, dot: object, node: Node) -> str:
    frame.at(node)
    match node:
        case Text(text=text):
            _write(frame, text)
        case Action():
            _action(frame, dot, node)
        case Listing(nodes=nodes):
            return _walk_all(frame, dot, nodes)
        case Leave(word=word):
            return word
        case Branch(word="range"):
            return _range(frame, dot, node)
        case Branch():
            return _if_or_with(frame, dot, node)
        case Call():
            _call(frame, dot, node)
    return _NOTHING


def _walk_all(frame: Frame, dot: object, nodes: tuple[Statement, ...]) -> str:
    for node in nodes:
        if (signal := _walk(frame, dot, node)) != _NOTHING:
            return signal
    return _NOTHING


def _action(frame: Frame, dot: object, action: Action) -> None:
    value = commands.pipeline(frame, dot, action.pipe)
    if not action.pipe.variables:
        frame.at(action)
        _write(frame, "<no value>" if value is INVALID else formatting.show(value))


def _write(frame: Frame, text: str) -> None:
    try:
        frame.run.write(text)
    except LimitError as problem:
        frame.fail(str(problem))


def _if_or_with(frame: Frame, dot: object, branch: Branch) -> str:
    mark = frame.mark()
    value = commands.pipeline(frame, dot, branch.pipe)
    signal = _NOTHING
    if values.truth(value):
        signal = _walk(frame, value if branch.word == "with" else dot, branch.body)
    elif branch.otherwise is not None:
        signal = _walk(frame, dot, branch.otherwise)
    frame.drop(mark)
    return signal


def _range(frame: Frame, dot: object, branch: Branch) -> str:
    mark = frame.mark()
    value = commands.pipeline(frame, dot, branch.pipe)
    inner_mark = frame.mark()
    empty = True
    for index, item in _items(frame, value, len(branch.pipe.variables)):
        empty = False
        _set_variables(frame, branch, index, item)
        signal = _walk(frame, item, branch.body)
        frame.drop(inner_mark)
        if signal == _BREAK:
            break
    signal = _NOTHING
    if empty and branch.otherwise is not None:
        signal = _walk(frame, dot, branch.otherwise)
    frame.drop(mark)
    return signal


def _items(frame: Frame, value: object, variables: int) -> Iterable[tuple[object, object]]:
    """What a range goes over: pairs of index and element."""
    if value is INVALID:
        return ()
    if isinstance(value, Slice):
        return enumerate(value.items)
    if isinstance(value, dict):
        return values.sorted_items(value)
    count = values.integer(value)
    if count is None:
        frame.fail(f"range can't iterate over {formatting.show(value)}")
    if variables > 1:
        frame.fail(f"can't use {count} to iterate over more than one variable")
    is_byte = isinstance(value, Byte)
    return ((INVALID, Byte(number) if is_byte else number) for number in range(count))


def _set_variables(frame: Frame, branch: Branch, index: object, item: object) -> None:
    names = [variable.names[0] for variable in branch.pipe.variables]
    new = [item] if len(names) == 1 else [index, item]
    for place, (name, value) in enumerate(zip(names, new, strict=False)):
        if branch.pipe.assigns:
            frame.assign(name, value)
        else:
            frame.assign_top(len(names) - place, value)


def _call(frame: Frame, dot: object, call: Call) -> None:
    run = frame.run
    if call.name not in run.templates:
        frame.fail(f"template {gostrings.quote(call.name)} not defined")
    if run.depth >= MAX_DEPTH:
        frame.fail(f"exceeded maximum template depth ({MAX_DEPTH})")
    value = commands.pipeline(frame, dot, call.pipe)
    run.depth += 1
    _walk(Frame(run, call.name, value), value, run.templates[call.name])
    run.depth -= 1
