"""Whether a segment of a path can be the name of anything in Kubernetes."""

from adapter import errors

MAX_CHARACTERS = 253
"""No name of Kubernetes is longer: that is the limit of DNS."""

_RESERVED = (".", "..")
_FORBIDDEN = {"/": "'/'", "%": "'%'", "\N{REPLACEMENT CHARACTER}": "bytes that are no UTF-8"}


def problem(segment: str, *, what: str) -> str | None:
    """This is why `segment`, decoded, cannot be the name of `what` ("namespace", "metric"), or None.

    Strict on purpose: names go into queries, URLs and logs (docs/faults.md F50).
    """
    if not segment:
        return f"{what} may not be empty"
    if len(segment) > MAX_CHARACTERS:
        return f'{what} "{errors.shown(segment)}" may not be longer than {MAX_CHARACTERS} characters'
    if segment in _RESERVED:
        return f"{what} may not be '{segment}'"
    for character, words in _FORBIDDEN.items():
        if character in segment:
            return f'{what} "{errors.shown(segment)}" may not contain {words}'
    if not segment.isprintable():
        return f'{what} "{errors.shown(segment)}" may not contain control characters'
    return None
