import pytest
import yaml

from adapter.rulebook import mapping, parse
from adapter.rulebook.mapping import BoundMapping
from adapter.rulebook.model import LabelMapping
from adapter.wire.resources import GroupResource, Resource
from tests.rulebook import upstream

VECTORS = upstream.vectors()["label_mapping"]
TO_RESOURCE = [
    (one, label, key) for one in VECTORS for label, key in one.get("label_to_resource", {}).items()
]
TO_LABEL = [(one, key, label) for one in VECTORS for key, label in one.get("resource_to_label", {}).items()]


def read(resources: dict) -> LabelMapping:
    text = yaml.safe_dump(
        {"rules": [{"seriesQuery": "m", "metricsQuery": "m", "resources": resources}]}, sort_keys=False
    )
    book = parse.parse(text, "rules.yaml", compat=True)
    assert not book.findings
    return book.rules[0].mapping


def bound(resources: dict) -> BoundMapping:
    result = mapping.bind(read(resources), upstream.kinds())
    assert isinstance(result, BoundMapping), result
    return result


def of_vector(vector: dict) -> BoundMapping:
    return bound({"template": vector["template"], "overrides": vector.get("overrides", {})})


def named(key: str) -> Resource:
    found = upstream.kinds().parse(key)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("vector", "label", "key"),
    TO_RESOURCE,
    ids=[f"{one['template']}-{label}" for one, label, _ in TO_RESOURCE],
)
def test_a_label_stands_for_the_resource_that_upstream_finds(vector, label, key):
    """Overrides come first, then the template read backwards; everything else is a label like any other."""
    found = of_vector(vector).resource_of(label)
    assert (found and str(found.key)) == key


@pytest.mark.parametrize(
    ("vector", "key", "label"), TO_LABEL, ids=[f"{one['template']}-{key}" for one, key, _ in TO_LABEL]
)
def test_a_resource_is_asked_for_by_the_label_that_upstream_uses(vector, key, label):
    """The template gets the singular and the group with underscores, empty for core."""
    assert of_vector(vector).label_of(named(key)) == label


def test_an_override_is_asked_for_by_its_own_label():
    """The override's label goes before the template's, whatever spelling of the resource it uses."""
    both = bound(
        {"template": "kube_<<.Resource>>", "overrides": {"app": {"group": "apps", "resource": "Deployments"}}}
    )
    assert both.label_of(named("deployments.apps")) == "app"
    assert both.label_of(named("pods")) == "kube_pod"


def test_of_two_overrides_for_one_resource_the_first_is_used():
    """Both labels are discovered, and queries use the first in the file on every start."""
    two = bound({"overrides": {"pod": {"resource": "pod"}, "exported_pod": {"resource": "pods"}}})
    assert two.resource_of("exported_pod") == two.resource_of("pod") == named("pods")
    assert two.label_of(named("pods")) == "pod"
    swapped = bound({"overrides": {"exported_pod": {"resource": "pods"}, "pod": {"resource": "pod"}}})
    assert swapped.label_of(named("pods")) == "exported_pod"


def test_a_group_prefix_or_no_group_finds_the_resource():
    """Old files leave the group out, or shorten it."""
    one = bound(
        {
            "overrides": {
                "a": {"resource": "ingress"},
                "b": {"resource": "virtualservice", "group": "networking"},
            }
        }
    )
    assert one.by_label["a"].key == GroupResource("networking.k8s.io", "ingresses")
    assert one.by_label["b"].key == GroupResource("networking.istio.io", "virtualservices")


def test_without_template_and_override_there_is_no_label():
    """A rule that overrides pods alone has no label for namespaces: its requests cannot be built."""
    one = bound({"overrides": {"pod": {"resource": "pod"}}})
    assert one.label_of(named("namespaces")) is None
    assert one.resource_of("namespace") is None


def test_a_template_that_fails_or_gives_nothing_for_a_resource_has_no_label_for_it():
    """Conditions may leave a resource without a label; that is no failure of the program."""
    empty = bound({"template": '<<if ne .Group "apps">><<.Resource>><<end>>'})
    assert empty.label_of(named("deployments.apps")) is None
    failing = bound({"template": '<<if eq .Group "apps">><<.Nope>><<end>><<.Resource>>'})
    assert failing.label_of(named("deployments.apps")) is None
    assert failing.label_of(named("pods")) == "pod"


def test_a_named_group_written_by_hand_counts_as_upstream_has_it():
    """The literal text of a template is part of the regular expression, named groups included."""
    one = bound({"template": "(?P<resource>pod|node)s?"})
    assert one.resource_of("nodes") == named("nodes")
    assert one.resource_of("service") is None


@pytest.mark.parametrize(
    ("override", "advice"),
    [
        (
            {"resource": "nosuch"},
            "is its CRD installed? `kubectl api-resources` lists what the cluster knows",
        ),
        ({"resource": "deploiments"}, "did you mean `deployments`?"),
        ({"resource": "deployments.apps"}, "write `{group: apps, resource: deployments}`"),
        ({"resource": "deployment", "group": "extensions"}, "write `{group: apps, resource: deployments}`"),
    ],
)
def test_an_unknown_resource_is_a_finding_with_its_place(override, advice):
    """Upstream dies of a CRD that is not installed yet; here the rule is named, and what to write."""
    found = mapping.bind(read({"overrides": {"x": override, "pod": {"resource": "pod"}}}), upstream.kinds())
    assert isinstance(found, list)
    (finding,) = found
    assert (finding.word, finding.rule, finding.suggestion) == ("unknown-resource", "rules[0]", advice)
    assert finding.position.line > 1
    assert finding.length == 1


@pytest.mark.parametrize(
    ("resources", "groups"),
    [
        ({"overrides": {"ns": {"resource": "namespace"}, "pod": {"resource": "Pods"}}}, {""}),
        (
            {"overrides": {"d": {"resource": "deployment", "group": "apps"}, "pod": {"resource": "pod"}}},
            {"", "apps"},
        ),
        ({"overrides": {"r": {"resource": "rollouts", "group": "argoproj.io"}}}, {"argoproj.io"}),
        ({"overrides": {"d": {"resource": "deployment"}}}, None),
        ({"overrides": {"i": {"resource": "ingress", "group": "networking"}}}, None),
        ({"template": "<<.Resource>>"}, None),
        ({}, set()),
    ],
)
def test_only_the_groups_that_overrides_name_need_to_be_known(resources, groups):
    """A template, a missing group and a shortened one need all groups."""
    assert mapping.groups_needed(read(resources)) == groups
