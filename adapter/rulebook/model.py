"""Rules as checked data. Nothing here can be wrong: what was wrong is a finding, and its rule is not here."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from adapter.promql.template import Template
from adapter.rulebook import findings as notes
from adapter.rulebook.findings import Finding, Position
from adapter.rulebook.naming import Pattern


@dataclass(frozen=True, slots=True)
class Policy:
    """What becomes of a value that is none, or not one: the keys that a rule may have beyond upstream's."""

    on_nan: Literal["drop", "zero", "error"] = "drop"
    """NaN and infinities. An autoscaler must not scale on a number that nobody measured."""
    on_missing: Literal["error", "empty"] = "error"
    """A list without any value: 404 with its cause, or 200 without items."""
    on_overflow: Literal["drop", "saturate", "wrap"] = "drop"
    """A finite value beyond the largest quantity. "wrap" is Go's conversion on amd64, for compatibility only:
    with it infinities turn into the smallest number as well."""
    on_duplicate: Literal["drop", "last", "sum", "max"] = "drop"
    """Several samples for one object."""
    on_warnings: Literal["refuse", "accept"] = "refuse"
    """Warnings of the backend mean partial data on Thanos and Mimir."""
    selector_regex: bool = False
    """Whether values of `in` and `notin` are regular expressions."""
    max_stale: float = 30.0
    """Seconds that an old snapshot may answer for a failing backend: two autoscaler rounds; 0 is never."""

    DEFAULTS: ClassVar["Policy"]
    UPSTREAM: ClassVar["Policy"]


Policy.DEFAULTS = Policy()
Policy.UPSTREAM = Policy(
    on_nan="zero",
    on_missing="empty",
    on_overflow="wrap",
    on_duplicate="last",
    on_warnings="accept",
    selector_regex=True,
    max_stale=0.0,
)


@dataclass(frozen=True, slots=True)
class Filter:
    """One entry of seriesFilters: names in which the pattern is found (`is`), or is not (`isNot`)."""

    pattern: Pattern
    wanted: bool


@dataclass(frozen=True, slots=True)
class Override:
    """One label that stands for a resource, as written: mapping.bind() finds the cluster's name of it."""

    label: str
    group: str
    resource: str
    position: Position
    length: int = 1


@dataclass(frozen=True, slots=True)
class LabelTemplate:
    """A resource template and the pattern derived from it (docs/upstream.md 2.3).

    `resource` and `group` expand the pattern's match to what it captured; `group` is empty without one.
    """

    template: Template
    pattern: Pattern
    resource: str
    group: str


@dataclass(frozen=True, slots=True)
class LabelMapping:
    """Which labels stand for which resources: overrides in file order, then the template for all others."""

    overrides: tuple[Override, ...] = ()
    derived: LabelTemplate | None = None
    rule: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no label stands for any resource."""
        return self.derived is None and not self.overrides

    @property
    def template(self) -> Template | None:
        """The resource template, if there is one."""
        return self.derived.template if self.derived else None

    @property
    def pattern(self) -> Pattern | None:
        """The pattern derived from the resource template."""
        return self.derived.pattern if self.derived else None


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of `rules` or `externalRules`. `namespaced` means something for external rules only."""

    id: str
    position: Position
    series_query: str
    filters: tuple[Filter, ...]
    mapping: LabelMapping
    namespaced: bool
    name_matches: Pattern
    name_as: str
    metrics_query: Template
    policy: Policy

    def metric_name(self, series_name: str) -> str | None:
        """The API's name of a series, or None if this rule does not keep it."""
        if any(one.pattern.search(series_name) != one.wanted for one in self.filters):
            return None
        return self.name_matches.expand(self.name_as, series_name)


@dataclass(frozen=True, slots=True)
class ResourceRule:
    """How CPU or memory is asked for: of pods by container, of nodes as a whole."""

    container_query: Template
    node_query: Template
    mapping: LabelMapping
    container_label: str


@dataclass(frozen=True, slots=True)
class ResourceRules:
    """The entry `resourceRules`; its presence switches metrics.k8s.io on."""

    position: Position
    cpu: ResourceRule
    memory: ResourceRule
    window_seconds: float


@dataclass(frozen=True, slots=True)
class Rulebook:
    """The rules that can be used, and everything that was found on the way."""

    rules: tuple[Rule, ...] = ()
    external: tuple[Rule, ...] = ()
    resource: ResourceRules | None = None
    findings: tuple[Finding, ...] = ()


def merge(books: Iterable[Rulebook]) -> Rulebook:
    """One rulebook of several files. Of two resourceRules the first counts, the other is a finding."""
    books = tuple(books)
    holders = [one.resource for one in books if one.resource]
    found = [finding for book in books for finding in book.findings]
    found += [_second(other, holders[0]) for other in holders[1:]]
    return Rulebook(
        rules=tuple(rule for book in books for rule in book.rules),
        external=tuple(rule for book in books for rule in book.external),
        resource=holders[0] if holders else None,
        findings=notes.in_order(found),
    )


def _second(other: ResourceRules, first: ResourceRules) -> Finding:
    return Finding(
        other.position,
        "duplicate-key",
        f"`resourceRules` stands in {first.position} already",
        "there is one source of CPU and memory: keep one of the two",
        length=len("resourceRules"),
    )
