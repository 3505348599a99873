"""Which kinds rules name, looked up among the usual ones."""

import pytest

from adapter.rulebook import parse, rights
from adapter.wire.resources import NAMESPACES, PODS, GroupResource, Kinds, Resource

DEPLOYMENTS = Resource("apps", "v1", "deployments", "deployment", "Deployment", namespaced=True)
KINDS = Kinds.of((PODS, NAMESPACES, DEPLOYMENTS))
ALWAYS = {GroupResource("", "namespaces"), GroupResource("", "pods")}


def rules(*mappings: str):
    text = "rules:\n" + "".join(
        f"- {{seriesQuery: 'a', resources: {mapping}, metricsQuery: 'sum(<<.Series>>) by (<<.GroupBy>>)'}}\n"
        for mapping in mappings
    )
    book = parse.parse(text, "rules.yaml", compat=False)
    assert not book.findings
    return book.rules


def overriding(*resources: str) -> str:
    return "{overrides: {" + ", ".join(f"l{at}: {{{one}}}" for at, one in enumerate(resources)) + "}}"


def test_pods_and_namespaces_are_always_needed():
    """They are followed whatever the rules say."""
    assert rights.of((), KINDS).resources == dict.fromkeys(sorted(ALWAYS), ())


def test_each_kind_is_named_with_the_rules_that_want_it():
    """Singular or plural, any case, and the beginning of a group mean the same kind, as in a cluster."""
    needs = rights.of(
        rules(
            overriding("resource: Deployment, group: apps"),
            overriding("resource: deployments, group: app", "resource: pod"),
        ),
        KINDS,
    )
    assert needs.resources[GroupResource("apps", "deployments")] == ("rules[0]", "rules[1]")
    assert needs.resources[GroupResource("", "pods")] == ("rules[1]",)
    assert needs.resources.keys() == ALWAYS | {GroupResource("apps", "deployments")}
    assert not needs.guessed


def test_rule_that_names_a_kind_twice_is_told_of_once():
    """Two labels for one kind are one need."""
    needs = rights.of(rules(overriding("resource: pod", "resource: pods")), KINDS)
    assert needs.resources[GroupResource("", "pods")] == ("rules[0]",)


@pytest.mark.parametrize(
    ("written", "plural"),
    [
        ("widget", "widgets"),
        ("widgets", "widgets"),
        ("Proxy", "proxies"),
        ("gateway", "gateways"),
        ("box", "boxes"),
    ],
)
def test_plural_of_an_unusual_kind_is_a_guess(written, plural):
    """Its group is known, and its plural as most custom resources have it."""
    needs = rights.of(rules(overriding(f"resource: {written}, group: Example.com")), KINDS)
    assert needs.guessed == {GroupResource("example.com", plural)}
    assert GroupResource("example.com", plural) in needs.resources


def test_unusual_kind_without_its_group_is_no_right():
    """Which group it has only a cluster can say: a wrong right is worse than a remark."""
    needs = rights.of(rules(overriding("resource: widget")), KINDS)
    assert needs.unknown == {"widget": ("rules[0]",)}
    assert needs.resources.keys() == ALWAYS


def test_rule_with_a_template_leaves_its_kinds_open():
    """Its labels decide, and they are in the series."""
    needs = rights.of(rules("{template: '<<.Resource>>'}", overriding("resource: pod")), KINDS)
    assert needs.open == ("rules[0]",)
