"""The keys of a rule that upstream does not have: what becomes of a value that is none, or not one."""

import dataclasses
from typing import Any, Final

from adapter.rulebook.fields import Section
from adapter.rulebook.model import Policy

_CHOICES: Final = {
    "onNaN": ("on_nan", ("drop", "zero", "error")),
    "onMissing": ("on_missing", ("error", "empty")),
    "onOverflow": ("on_overflow", ("drop", "saturate")),
    "onDuplicate": ("on_duplicate", ("drop", "last", "sum", "max")),
    "onWarnings": ("on_warnings", ("refuse", "accept")),
}

KEYS: Final = (*_CHOICES, "selectorRegex", "maxStale")


def read(section: Section) -> Policy:
    """The policy of a rule: a key given in it wins over what compat mode or our own defaults say."""
    base = Policy.UPSTREAM if section.notes.compat else Policy.DEFAULTS
    given: dict[str, Any] = {name: section.choice(key, words) for key, (name, words) in _CHOICES.items()}
    given["selector_regex"] = section.boolean("selectorRegex")
    given["max_stale"] = section.duration("maxStale")
    return dataclasses.replace(base, **{name: value for name, value in given.items() if value is not None})
