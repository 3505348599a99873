"""`hpa-adapter rbac`: the least rights for rule files, as YAML."""

import pytest
import yaml
from click.testing import CliRunner

from adapter.cli import main
from tests.support import manifests

QUERY = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"


def rule(**resources):
    return {"seriesQuery": "a{}", "resources": resources, "metricsQuery": QUERY}


@pytest.fixture
def printed(tmp_path):
    """(exit code, standard output, standard error) for these rules."""

    def run(*rules, words: tuple[str, ...] = (), text: str = ""):
        path = tmp_path / "rules.yaml"
        path.write_text(text or yaml.safe_dump({"rules": list(rules)}))
        result = CliRunner().invoke(main.cli, ["rbac", "--config", str(path), *words])
        return result.exit_code, result.stdout, result.stderr

    return run


def rendered(text: str) -> manifests.Rendered:
    return manifests.Rendered(yaml.safe_load_all(text))


def test_shipped_rules_need_what_the_manifests_give(tmp_path):
    """The base of apiservice/ is what the command prints for @go-runtime, no right more and none less."""
    result = CliRunner().invoke(main.cli, ["rbac", "--config", "@go-runtime"])
    assert result.exit_code == 0
    base = manifests.kustomize(manifests.APISERVICE / "base")
    mine = rendered(result.stdout)
    assert mine.rights() == base.rights()
    for kind in ("ClusterRoleBinding", "RoleBinding"):
        for one in mine[kind]:
            other = base.named(kind, one["metadata"]["name"])
            assert one["roleRef"] == other["roleRef"]
            assert one["subjects"] == other["subjects"]


def test_role_has_list_and_watch_on_what_rules_name(printed):
    """One entry per API group, with the rules that want each kind beside it."""
    code, text, _ = printed(
        rule(overrides={"app": {"group": "apps", "resource": "deployment"}}),
        rule(overrides={"set": {"group": "apps", "resource": "statefulset"}, "node": {"resource": "node"}}),
    )
    assert code == 0
    assert rendered(text).one("ClusterRole")["rules"] == [
        {"apiGroups": [""], "resources": ["namespaces", "nodes", "pods"], "verbs": ["list", "watch"]},
        {"apiGroups": ["apps"], "resources": ["deployments", "statefulsets"], "verbs": ["list", "watch"]},
    ]
    assert "# deployments.apps: rules[0]\n" in text


def test_rights_are_given_to_the_account_that_is_named(printed):
    """Names follow the account, so that two adapters do not share a role."""
    _, text, _ = printed(
        rule(overrides={"pod": {"resource": "pod"}}), words=("--service-account=blue", "--namespace=ops")
    )
    documents = rendered(text)
    assert documents.one("ClusterRole")["metadata"]["name"] == "blue-objects"
    for one in (*documents["ClusterRoleBinding"], *documents["RoleBinding"]):
        assert one["subjects"] == [{"kind": "ServiceAccount", "name": "blue", "namespace": "ops"}]
        assert one["metadata"]["name"].startswith("blue-")


def test_what_cannot_be_known_is_said(printed):
    """A template, a guessed plural and a kind without its group are comments; none is a right to everything."""
    code, text, _ = printed(
        rule(template="<<.Resource>>"),
        rule(overrides={"w": {"group": "example.com", "resource": "widget"}, "g": {"resource": "gadget"}}),
    )
    assert code == 0
    assert "# NOT KNOWN HERE: rules[0] finds objects by a template" in text
    assert "by its name needs no right" in text
    assert "# MISSING: rules[1] names `gadget` without its API group" in text
    assert "# widgets.example.com: rules[1]; the plural is a guess" in text
    assert "*" not in [
        right for rule in rendered(text).one("ClusterRole")["rules"] for right in rule["resources"]
    ]


def test_rule_that_cannot_be_read_ends_with_one(printed):
    """The rights of the others are printed, and the gap is told of where nobody applies it."""
    good = yaml.safe_dump([rule(overrides={"node": {"resource": "node"}})])
    code, text, errors = printed(text=f"rules:\n{good}- seriesQuery: 7x[\n  nonsense: true\n")
    assert code == 1
    assert "nodes" in rendered(text).one("ClusterRole")["rules"][0]["resources"]
    assert "left out:" in errors


def test_hostile_names_stay_in_their_place(printed):
    """A group or a kind with line breaks and quotes adds neither a document nor a right."""
    hostile = 'x\n---\nkind: ClusterRole\nrules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]\n#'
    _, text, _ = printed(
        rule(overrides={"a": {"group": hostile, "resource": "y"}, "b": {"resource": hostile}}),
    )
    documents = rendered(text)
    (role,) = documents["ClusterRole"]
    assert {verb for one in role["rules"] for verb in one["verbs"]} == {"list", "watch"}
    assert "*" not in [name for one in role["rules"] for name in (*one["apiGroups"], *one["resources"])]
