"""From a rule and what is asked to PromQL, and the shape of that PromQL for hostile names."""

import promql_parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.rulebook import mapping, parse, query
from adapter.wire import selectors
from tests.support.kit import GOROUTINES, USUAL_KINDS

RULE = parse.parse(GOROUTINES, "rules.yaml", compat=False).rules[0]
MAPPING = mapping.bind(RULE.mapping, USUAL_KINDS)
POD = USUAL_KINDS.parse("pods")


def built(namespace: str, *names: str, selector: str = "") -> str:
    wanted = query.Wanted(namespace, names, selectors.parse(selector))
    return query.build(RULE, "go_goroutines", wanted, query.labels(MAPPING, POD, namespaced=True))


def test_matchers_come_in_upstreams_order():
    """Metric selector by key, then namespace, then object."""
    assert built("shop", "web-1", selector="z=1,a!=2") == (
        'sum(go_goroutines{a!="2",z="1",namespace="shop",pod="web-1"}) by (pod)'
    )


def test_several_names_are_an_alternative_in_their_order():
    """Dots in names are escaped: as regular expressions they would match any character."""
    assert 'pod=~"a\\\\.b|c"' in built("shop", "a.b", "c")


@given(
    namespace=st.text(min_size=1, max_size=20),
    names=st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=3),
)
def test_hostile_names_never_change_the_shape_of_a_query(namespace, names):
    """Whatever a name holds, the query is the same aggregation of one selector with the same labels."""
    text = built(namespace, *names)
    tree = promql_parser.parse(text)
    assert isinstance(tree, promql_parser.AggregateExpr)
    selector = tree.expr
    assert isinstance(selector, promql_parser.VectorSelector)
    assert [one.name for one in selector.matchers.matchers] == ["namespace", "pod"]
    assert selector.matchers.matchers[0].value == namespace


def test_rule_without_a_label_for_the_object_says_so():
    """A resource that no label stands for cannot be asked: the cause word tells."""
    with pytest.raises(query.CannotBuild, match="services") as caught:
        query.labels(MAPPING, USUAL_KINDS.parse("services"), namespaced=True)
    assert caught.value.cause == "LabelMapsToNothing"


@pytest.mark.parametrize(
    ("template", "cause"), [("<<.Nope>>", "TemplateFails"), ("<<if false>>x<<end>>", "EmptyQuery")]
)
def test_template_that_gives_no_query_says_so(template, cause):
    """An execution error and an empty text are told apart, with the rule's id."""
    rule = parse.parse(
        GOROUTINES.replace("sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)", f"'{template}'"),
        "rules.yaml",
        compat=True,
    ).rules[0]
    wanted = query.Wanted("shop", ("a",), selectors.EVERYTHING)
    with pytest.raises(query.CannotBuild, match="rules") as caught:
        query.build(rule, "m", wanted, ("pod", "namespace"))
    assert caught.value.cause == cause


@given(
    lengths=st.lists(st.integers(1, 253), min_size=1, max_size=400),
    fixed=st.integers(0, 20_000),
)
def test_cut_names_are_all_there_in_their_order(lengths, fixed):
    """Every name is in just one part, and a part is as long as allowed, bar the last and a single long name."""
    names = [f"{at}".ljust(length, "x") for at, length in enumerate(lengths)]
    size = sum(len(name) + 1 for name in names)
    parts = query.cut(names, whole=fixed + size, fixed=fixed)
    assert [name for part in parts for name in part] == names
    room = max(query.MAX_CHARACTERS - fixed, query.MIN_ROOM)
    assert all(sum(len(name) + 1 for name in part) <= room for part in parts)
    assert len(parts) <= size // (room - 254) + 1
