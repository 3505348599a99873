"""Upstream's own judgement of whole files: what it starts with and what it dies of."""

import pytest
import yaml

from adapter.rulebook import mapping, parse
from adapter.rulebook.model import Rulebook
from tests.rulebook import upstream

CHECKS = upstream.vectors()["config_checks"]
NEEDS_CLUSTER = {"unknown resource in externalRules overrides also stops the start"}


def stops_upstream(book: Rulebook) -> bool:
    mappings = [rule.mapping for rule in (*book.rules, *book.external)]
    if book.resource:
        mappings += [book.resource.cpu.mapping, book.resource.memory.mapping]
    return parse.fatal(book) or any(isinstance(mapping.bind(one, upstream.kinds()), list) for one in mappings)


@pytest.mark.parametrize("check", CHECKS, ids=[one["title"] for one in CHECKS])
def test_compat_mode_agrees_with_upstream_on_what_stops_the_start(check):
    """Every file of the vectors is accepted or refused as prometheus-adapter does it."""
    book = parse.parse(check["config"], "config.yaml", compat=True)
    assert stops_upstream(book) is not check["ok"], book.findings
    if check["title"] not in NEEDS_CLUSTER:
        assert parse.fatal(book) is not check["ok"], book.findings


@pytest.mark.parametrize(
    "check", [one for one in CHECKS if not one["ok"]], ids=[one["title"] for one in CHECKS if not one["ok"]]
)
def test_what_upstream_refuses_is_an_error_in_default_mode_as_well(check):
    """Our own reading is never laxer than upstream's."""
    assert stops_upstream(parse.parse(check["config"], "config.yaml", compat=False))


@pytest.mark.parametrize(
    "check",
    [one for one in CHECKS if "groups" in one],
    ids=[one["title"] for one in CHECKS if "groups" in one],
)
def test_the_sections_that_switch_an_api_on_are_seen(check):
    """External rules and the mere presence of resourceRules decide which APIs upstream serves."""
    book = parse.parse(check["config"], "config.yaml", compat=True)
    served = {"external.metrics.k8s.io": bool(book.external), "metrics.k8s.io": book.resource is not None}
    assert [name for name, is_served in served.items() if is_served] == check["groups"]


@pytest.mark.parametrize("compat", [True, False])
@pytest.mark.parametrize(
    "entry", upstream.vectors()["rules"], ids=[one["id"] for one in upstream.vectors()["rules"]]
)
def test_every_rule_that_upstream_runs_with_is_kept(entry, compat):
    """No rule of the vectors is left out, in either mode, but for those without a metricsQuery in default mode."""
    key = "rules" if entry["api"] == "custom" else "externalRules"
    book = parse.parse(yaml.safe_dump({key: entry["rules"]}), "rules.yaml", compat=compat)
    kept = book.rules if key == "rules" else book.external
    usable = [one for one in entry["rules"] if compat or one.get("metricsQuery")]
    assert [one.series_query for one in kept] == [one["seriesQuery"] for one in usable]
    assert [one.metrics_query.source for one in kept] == [one.get("metricsQuery", "") for one in usable]
    assert len(kept) == len(entry["rules"]) or {
        one.word for one in book.findings if one.severity == "error"
    } == {"missing-key"}


@pytest.mark.parametrize("compat", [True, False])
@pytest.mark.parametrize(
    "entry",
    upstream.vectors()["resource_rules"],
    ids=[one["id"] for one in upstream.vectors()["resource_rules"]],
)
def test_every_resource_rule_that_upstream_runs_with_is_kept(entry, compat):
    """Resource rules of the vectors load without a finding."""
    book = parse.parse(yaml.safe_dump({"resourceRules": entry["resourceRules"]}), "rules.yaml", compat=compat)
    assert book.findings == ()
    assert book.resource is not None
    assert book.resource.cpu.node_query.source == entry["resourceRules"]["cpu"]["nodeQuery"]
    assert not isinstance(mapping.bind(book.resource.cpu.mapping, upstream.kinds()), list)


@pytest.mark.parametrize("vector", upstream.vectors()["naming"])
def test_names_of_series_are_upstreams(vector):
    """`matches` and `as` keep and name a series as Go does; two groups without `as` are an error."""
    rule = {
        "seriesQuery": "m",
        "metricsQuery": "m",
        "name": {"matches": vector["matches"], "as": vector["as"]},
    }
    book = parse.parse(yaml.safe_dump({"rules": [rule]}), "rules.yaml", compat=True)
    if vector.get("error"):
        assert [one.word for one in book.findings] == ["needs-as"]
        return
    expected = vector["name"] if vector["kept"] else None
    assert book.rules[0].metric_name(vector["series"]) == expected
