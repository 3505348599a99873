"""Label matchers: the only place where a caller's text becomes part of a query."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adapter.promql import gostrings

_OPERATORS = re.compile(r"[\\.+*?()|\[\]{}^$]")
_KEY = re.compile(r"[A-Za-z0-9_.\-/]+")
"""Every key that the selector grammar lets through: a key stands in the query unquoted."""

_EQUALITY = {"=": "=", "==": "=", "!=": "!="}
_SETS = {"in": "=~", "notin": "!~"}
_PRESENCE = {"exists": "!=", "!": "="}


class NotExpressible(ValueError):
    """This requirement has no PromQL matcher: `a>1`, `a<1`, or a key that no label can have."""


@dataclass(frozen=True, slots=True)
class Matcher:
    """One `label="value"`."""

    label: str
    operator: str
    value: str
    """What goes between the quotes, before quoting: regular expression text for =~ and !~."""
    shown: str
    """What LabelValuesByName shows: the values as they were given, joined by |."""

    def __str__(self) -> str:
        return self.label + self.operator + quote(self.value)


def quote(text: str) -> str:
    """Go's strconv.Quote: what Prometheus reads back as exactly `text`."""
    return gostrings.quote(text)


def escape_regex(text: str) -> str:
    r"""This is a regular expression that matches exactly `text`: each of \.+*?()|[]{}^$ escaped."""
    return _OPERATORS.sub(r"\\\g<0>", text)


def equal(label: str, value: str) -> Matcher:
    """label="value"."""
    return Matcher(label, "=", value, value)


def one_of(label: str, names: Sequence[str], *, escape: bool) -> Matcher:
    """One name by equality, several as a regular expression in the order given (docs/upstream.md 3.1)."""
    if not names:
        raise ValueError(
            f"no name for label {label}: an empty list would match every series without the label"
        )
    return equal(label, names[0]) if len(names) == 1 else _alternatives(label, "=~", names, escape=escape)


def of_requirement(key: str, operator: str, values: Sequence[str], *, escape: bool) -> Matcher:
    """One requirement of a metric selector as a matcher, by the table of docs/upstream.md 3.1."""
    if not _KEY.fullmatch(key):
        raise NotExpressible(f"{quote(key)} is not a label name")
    if operator in _SETS:
        return _alternatives(key, _SETS[operator], sorted(set(values)), escape=escape)
    if operator in _PRESENCE:
        return Matcher(key, _PRESENCE[operator], "", "")
    if operator in _EQUALITY and len(values) == 1:
        return Matcher(key, _EQUALITY[operator], values[0], values[0])
    raise NotExpressible(
        f"operator {quote(operator)} on {key} with {len(values)} values has no PromQL matcher"
    )


def join(matchers: Iterable[Matcher]) -> str:
    """The inside of the braces."""
    return ",".join(map(str, matchers))


def values_by_name(matchers: Iterable[Matcher]) -> dict[str, str]:
    """Label to what it is compared with; of two matchers of one label the later."""
    return {one.label: one.shown for one in matchers}


def _alternatives(label: str, operator: str, values: Sequence[str], *, escape: bool) -> Matcher:
    shown = "|".join(values)
    return Matcher(label, operator, "|".join(map(escape_regex, values)) if escape else shown, shown)
