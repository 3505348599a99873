"""The family of errors is complete, and drawn as it is."""

import re

import pytest

from adapter import errors

TREE_LINE = re.compile(r"^ {4}([│ ]*(?:├── |└── )?)([A-Z]\w+)(?: (\d{3}))?(?:  |$)", re.MULTILINE)


def family(cls=errors.AdapterError):
    """Every class of the family, the head first; rooms may have finer ones of their own."""
    found = [cls]
    for child in cls.__subclasses__():
        if child.__module__ == errors.__name__:
            found += family(child)
    return found


def drawn():
    """(class name, name of its parent, status or None) of each line of the tree in the docstring."""
    parents, found = {}, []
    for indent, name, status in TREE_LINE.findall(errors.__doc__):
        depth = len(indent) // 4
        parents[depth] = name
        found.append((name, parents.get(depth - 1), int(status) if status else None))
    return found


def example(cls):
    """One error of the class."""
    return cls("text", cause="NoSample") if cls is errors.NoValue else cls("text")


@pytest.mark.parametrize("cls", family())
def test_each_error_knows_what_to_say(cls):
    """Each has a status of HTTP, a reason, a cause word and a next step."""
    error = example(cls)
    assert 400 <= error.status <= 599
    assert re.fullmatch("[A-Z][A-Za-z]+", error.reason)
    assert re.fullmatch("[A-Z][A-Za-z]+", error.cause)
    assert len(error.next_step) > 3
    assert str(error) == error.message == "text"


@pytest.mark.parametrize("cls", family())
def test_each_form_of_upstream_is_an_error_too(cls):
    """What upstream answers instead is an error as well, and where it has a cause it has a text."""
    form = cls.upstream
    if form is not None:
        assert 400 <= form.status <= 599
        assert form.internal is None or form.message == f"Internal error occurred: {form.internal}"


def test_the_tree_names_every_class():
    """The docstring draws all classes of the family, each once, under its parent."""
    expected = {
        (cls.__name__, cls.__base__.__name__ if cls is not errors.AdapterError else None) for cls in family()
    }
    found = [(name, parent) for name, parent, _ in drawn()]
    assert set(found) == expected
    assert len(found) == len(expected)


def test_the_tree_names_the_statuses():
    """A status that the docstring gives is the class's own, and its children's that give none."""
    statuses = {}
    for name, parent, status in drawn():
        statuses[name] = status if status is not None else statuses.get(parent)
        if parent is not None:
            assert getattr(errors, name).status == statuses[name]


@pytest.mark.parametrize(("cause", "step"), errors.NO_VALUE_STEPS.items())
def test_each_missing_value_has_its_next_step(cause, step):
    """The cause word of a missing value decides what to do."""
    error = errors.NoValue("text", cause=cause)
    assert (error.cause, error.next_step) == (cause, step)
    assert re.fullmatch("[A-Z][A-Za-z]+", cause)


def test_a_next_step_can_be_given():
    """Who raises an error may know better what to do."""
    assert errors.RuleUnusable("text", next_step="mend rules[3]").next_step == "mend rules[3]"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a", "a"),
        ("é\n\0", "\\xe9\\n\\x00"),
        ("x" * 64, "x" * 64),
        ("x" * 65, "x" * 64 + "..."),
        ("\udcff", "\\udcff"),
    ],
)
def test_callers_text_is_shown_escaped_and_cut(text, shown):
    """At most 64 characters, all of them printable ASCII."""
    assert errors.shown(text) == shown
