"""Templates do what Go's text/template does: every recorded run of the real one, output and message."""

import pytest

from adapter.promql import matchers, template
from adapter.wire import selectors
from tests.promql import data

FIRST = data.document("template-vectors")
MORE = data.document("template-more-vectors")
COMPAT = data.document("compat-vectors")
STRUCTS = {
    name: data.struct(fields, data.TYPES[name]) for name, fields in (FIRST["data"] | MORE["data"]).items()
}
VECTORS = FIRST["vectors"] + MORE["vectors"]
BUILDER = [case for case in COMPAT["query_builder_cases"] if "error" not in case]


@pytest.mark.parametrize(
    "vector", VECTORS, ids=[f"{one['template']!r} {one['data']}"[:70] for one in VECTORS]
)
def test_a_template_gives_what_go_gives(vector):
    """Output, stage of a failure, its whole message and what was written until then are Go's."""
    assert data.outcome(vector["template"], STRUCTS[vector["data"]]) == data.expected(vector)


@pytest.mark.parametrize("case", COMPAT["go_template_cases"]["cases"], ids=lambda case: case["template"])
def test_a_template_gives_what_the_known_adapter_gives(case):
    """The templates that were run through prometheus-adapter itself render the same text."""
    struct = data.struct(COMPAT["go_template_cases"]["data"])
    assert template.parse(case["template"]).render(struct) == case["expect"]


@pytest.mark.parametrize("case", BUILDER, ids=lambda case: f"{case['builder']}: {case['title']}")
def test_a_query_is_built_as_the_known_adapter_builds_it(case):
    """Matchers, their order and what templates see of them are those of prometheus-adapter's query builder."""
    requirements = selectors.parse(case.get("selector", "")).requirements
    found = [matchers.of_requirement(one.key, one.operator, one.values, escape=False) for one in requirements]
    if "namespace" in case and case.get("namespaced", True):
        found.append(matchers.equal("namespaces", case["namespace"]))
    if "names" in case:
        found.append(matchers.one_of(case["resource"], case["names"], escape=False))
    resource = [case["resource"]] if "resource" in case else []
    groups = case.get("group_by_slice", resource + case.get("extra_group_by", []))
    struct = template.Struct(
        "naming.queryTemplateArgs",
        {
            "Series": case.get("series", ""),
            "LabelMatchers": matchers.join(found),
            "LabelValuesByName": matchers.values_by_name(found),
            "GroupBy": case.get("group_by", ",".join(groups)),
            "GroupBySlice": groups,
        },
    )
    assert template.parse(case["template"]).render(struct) == case["expect"]
