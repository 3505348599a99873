"""Which of a caller's accepted media types we can give: JSON, or nothing (docs/contract.md 5)."""

from collections.abc import Mapping
from dataclasses import dataclass

from adapter.wire import discovery

JSON_RANGES = frozenset({"application/json", "application/*", "*/*"})


@dataclass(frozen=True, slots=True)
class _Clause:
    """One media range with its parameters, all in lower case."""

    range: str
    parameters: Mapping[str, str]

    @property
    def quality(self) -> float:
        """How welcome it is; what cannot be read counts as nothing said."""
        try:
            said = float(self.parameters.get("q", "1"))
        except ValueError:
            return 1.0
        return said if 0.0 <= said <= 1.0 else 1.0


def json_accepted(accept: str | None) -> bool:
    """Whether a plain JSON answer is acceptable: `accept` is the header, None where it is absent.

    A clause with `as=` (Table, PartialObjectMetadata, aggregated discovery) asks for another shape and is passed
    over, as the Go server does; so is one with q=0.
    """
    return any("as" not in clause.parameters for clause in _welcome(accept))


def aggregated(accept: str | None) -> str | None:
    """The version of aggregated discovery that the caller likes best; None where plain JSON is as good or better."""
    for clause in sorted(_welcome(accept), key=lambda one: (-one.quality, one.range.count("*"))):
        if "as" not in clause.parameters:
            return None
        version = clause.parameters.get("v", "")
        if _asks_aggregated(clause) and version in discovery.AGGREGATED:
            return version
    return None


def _welcome(accept: str | None) -> list[_Clause]:
    """The clauses that JSON of some shape could serve, in the order in which they stand."""
    if accept is None or not accept.strip():
        return [_Clause("*/*", {})]
    clauses = (_clause(text) for text in accept.lower().split(","))
    return [one for one in clauses if one.range in JSON_RANGES and one.quality > 0]


def _clause(text: str) -> _Clause:
    kind, *parameters = text.split(";")
    pairs = (one.partition("=") for one in parameters)
    return _Clause(kind.strip(), {name.strip(): value.strip().strip('"') for name, _, value in pairs})


def _asks_aggregated(clause: _Clause) -> bool:
    shape = (clause.parameters.get("g"), clause.parameters.get("as"))
    return shape == ("apidiscovery.k8s.io", "apigroupdiscoverylist")
