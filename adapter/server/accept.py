"""Which of a caller's accepted media types we can give: JSON, or nothing (docs/contract.md 5)."""

JSON_RANGES = frozenset({"application/json", "application/*", "*/*"})


def json_accepted(accept: str | None) -> bool:
    """Whether a plain JSON answer is acceptable: `accept` is the header, None where it is absent.

    A clause with `as=` (Table, PartialObjectMetadata, aggregated discovery) asks for another shape and is passed
    over, as the Go server does; so is one with q=0.
    """
    if accept is None or not accept.strip():
        return True
    return any(_plain_json(clause) for clause in accept.split(","))


def _plain_json(clause: str) -> bool:
    kind, *parameters = (part.strip().lower() for part in clause.split(";"))
    return kind in JSON_RANGES and not any(_excludes(one) for one in parameters)


def _excludes(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name.strip() == "as" or (name.strip() == "q" and value.strip().rstrip("0") in ("0.", ""))
