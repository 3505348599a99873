"""What a label key and a label value may be, with the words that Kubernetes has for a bad one.

Lengths count bytes of UTF-8 and every pattern is ASCII, as in Go.
"""

import re

MAX_NAME_BYTES = 63
"""A label's value, and its key without the prefix: a DNS label."""

MAX_PREFIX_BYTES = 253
"""The part of a key before its slash: a DNS name."""

_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_NAME})?"
_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_NAME = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"

_is_name = re.compile(_NAME).fullmatch
_is_value = re.compile(_VALUE).fullmatch
# One label at a time: the nested repetitions of _DNS_NAME would take a backtracking engine exponential time.
_is_dns_label = re.compile("[a-z0-9](?:[-a-z0-9]*[a-z0-9])?").fullmatch

_ENDS = "and must start and end with an alphanumeric character"
_NAME_RULE = (
    f"must consist of alphanumeric characters, '-', '_' or '.', {_ENDS} "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
_VALUE_RULE = (
    f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', {_ENDS} "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{_VALUE}')"
)
_PREFIX_RULE = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {_ENDS} "
    f"(e.g. 'example.com', regex used for validation is '{_DNS_NAME}')"
)
_KEY_RULE = (
    f"a valid label key {_NAME_RULE} "
    "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)
_EMPTY = "must be non-empty"


def key_problem(key: str) -> str | None:
    """This is why `key` is no label key (all reasons, joined by "; "), or None."""
    prefix, slash, name = key.partition("/")
    if not slash:
        prefix, name = "", key
    elif "/" in name:
        return _KEY_RULE
    found = _prefix_problems(prefix) if slash else []
    return "; ".join(found + _name_problems(name)) or None


def value_problem(value: str) -> str | None:
    """This is why `value` is no label value, or None. The empty value is one."""
    found = []
    if _bytes(value) > MAX_NAME_BYTES:
        found.append(_too_long(MAX_NAME_BYTES))
    if not _is_value(value):
        found.append(_VALUE_RULE)
    return "; ".join(found) or None


def _prefix_problems(prefix: str) -> list[str]:
    if not prefix:
        return [f"prefix part {_EMPTY}"]
    found = []
    if _bytes(prefix) > MAX_PREFIX_BYTES:
        found.append(f"prefix part {_too_long(MAX_PREFIX_BYTES)}")
    if not all(map(_is_dns_label, prefix.split("."))):
        found.append(f"prefix part {_PREFIX_RULE}")
    return found


def _name_problems(name: str) -> list[str]:
    found = []
    if not name:
        found.append(f"name part {_EMPTY}")
    elif _bytes(name) > MAX_NAME_BYTES:
        found.append(f"name part {_too_long(MAX_NAME_BYTES)}")
    if not _is_name(name):
        found.append(f"name part {_NAME_RULE}")
    return found


def _too_long(limit: int) -> str:
    return f"must be no more than {limit} bytes"


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
