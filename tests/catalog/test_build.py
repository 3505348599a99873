"""The catalog: which rule's series offer which metric of which resource."""

import pytest

from adapter import errors
from adapter.catalog import build
from adapter.promql.vector import SeriesShape
from adapter.rulebook import mapping, parse
from tests.support.kit import USUAL_KINDS, shapes

ONE_RULE = """\
rules:
- seriesQuery: a
  resources: {overrides: {namespace: {resource: namespace}, pod: {resource: pod}}}
  name: {matches: "^(.*)_total$"}
  metricsQuery: first
"""
RULES = (
    ONE_RULE
    + """\
- seriesQuery: a
  resources: {overrides: {namespace: {resource: namespace}, app: {group: apps, resource: deployment}}}
  name: {matches: "^(.*)_total$"}
  metricsQuery: second
"""
)


def bound(text: str) -> list[build.Bound]:
    found = []
    for rule in parse.parse(text, "rules.yaml", compat=False).rules:
        one = mapping.bind(rule.mapping, USUAL_KINDS)
        assert isinstance(one, mapping.BoundMapping)
        found.append(build.Bound(rule, one))
    return found


def made(listing: tuple[SeriesShape, ...], *, askable_only: bool = True):
    return build.build(bound(RULES), {"a": listing}, USUAL_KINDS, askable_only=askable_only)


def test_later_rule_wins_per_resource():
    """Two rules of one name meet only where they stand for the same resource: there the last in the file wins."""
    catalog = made(shapes({"x_total": ("namespace", "pod", "app")}))
    queries = {
        name: entry.rule.metrics_query.source
        for name, entry in zip(dict(catalog.names()), catalog.entries.values(), strict=True)
    }
    assert queries == {"namespaces/x": "second", "pods/x": "first", "deployments.apps/x": "second"}


def test_last_series_of_a_listing_wins_within_a_rule():
    """Two series names that give one metric: the one listed last is asked for."""
    text = ONE_RULE.replace("^(.*)_total$", "^x").replace("matches", "as: same, matches")
    catalog = build.build(
        bound(text),
        {"a": (SeriesShape("x1", frozenset({"pod"})), SeriesShape("x2", frozenset({"pod"})))},
        USUAL_KINDS,
        askable_only=True,
    )
    assert [entry.series for entry in catalog.entries.values()] == ["x2"]


def test_series_without_a_resource_label_is_not_listed():
    """A series whose labels stand for nothing offers nothing."""
    assert made(shapes({"x_total": ("job", "instance")})).names() == ()


def test_resources_of_a_metric_are_the_union_over_its_series():
    """One series has a pod, another only a namespace: both resources are offered."""
    catalog = made(
        (SeriesShape("x_total", frozenset({"pod"})), SeriesShape("x_total", frozenset({"namespace"})))
    )
    assert dict(catalog.names()) == {"pods/x": True, "namespaces/x": False}


@pytest.mark.parametrize("resource", ["pods", "pod", "Pod", "PODS"])
def test_resource_is_understood_as_a_rest_mapper_does(resource):
    """Singular, plural and any case of a resource mean the same; a short name means nothing."""
    catalog = made(shapes({"x_total": ("pod",)}))
    assert catalog.find(resource=resource, namespaced=True, metric="x").series == "x_total"
    with pytest.raises(errors.MetricUnknown, match="metric x for po"):
        catalog.find(resource="po", namespaced=True, metric="x")


def test_scope_of_the_path_is_part_of_what_is_asked():
    """A namespaced metric is not found without a namespace, nor a root-scoped one with it."""
    catalog = made(shapes({"x_total": ("pod", "namespace")}))
    for resource, namespaced in (("pods", False), ("namespaces", True)):
        with pytest.raises(errors.MetricUnknown):
            catalog.find(resource=resource, namespaced=namespaced, metric="x")
