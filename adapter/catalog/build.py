"""From rules, series and kinds to a catalog: one pure step per relist."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from adapter.catalog.catalog import Catalog, Entry, Key
from adapter.promql.vector import SeriesShape
from adapter.rulebook.mapping import BoundMapping
from adapter.rulebook.model import Rule
from adapter.wire import names
from adapter.wire.resources import Kinds


@dataclass(frozen=True, slots=True)
class Bound:
    """A rule whose labels are understood in this cluster."""

    rule: Rule
    mapping: BoundMapping


def build(
    rules: Sequence[Bound], listings: Mapping[str, Sequence[SeriesShape]], kinds: Kinds, *, askable_only: bool
) -> Catalog:
    """The catalog of `rules` in file order; `listings` holds the series of each seriesQuery (absent: none).

    Later entries overwrite earlier ones: the last rule wins per resource, and within a rule the last series of
    the listing (docs/upstream.md 2.3). `askable_only` leaves out names that no request path can carry, which
    upstream lists all the same.
    """
    entries: dict[Key, Entry] = {}
    for bound in rules:
        for shape in listings.get(bound.rule.series_query, ()):
            entries.update(_entries(bound, shape))
    if askable_only:
        entries = {key: entry for key, entry in entries.items() if _askable(key.metric)}
    return Catalog(entries, kinds)


def _entries(bound: Bound, shape: SeriesShape) -> Iterable[tuple[Key, Entry]]:
    metric = bound.rule.metric_name(shape.name)
    if metric is None:
        return
    for label in shape.labels:
        resource = bound.mapping.resource_of(label)
        if resource is not None:
            key = Key(resource.key, not resource.root_scoped, metric)
            yield key, Entry(resource, metric, shape.name, bound.rule, bound.mapping)


def _askable(metric: str) -> bool:
    return names.problem(metric, what="metric") is None
