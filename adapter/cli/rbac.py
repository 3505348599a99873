"""`hpa-adapter rbac`: the least rights that an adapter with these rules needs, as YAML to apply. Asks no cluster."""

import itertools
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

import click
import yaml

from adapter import app
from adapter.rulebook import files, findings, rights
from adapter.rulebook.rights import Needs

GROUP: Final = "rbac.authorization.k8s.io"

LIST_AND_WATCH: Final = ["list", "watch"]
"""What the mirror of objects does, and all that it does."""

HEAD: Final = """\
# Least rights for the rules of {files}: list and watch on the objects that they name, asking the API server who a
# caller is and what he may do, and reading which certificate the aggregator shows.
"""


@click.command(short_help="Print the least rights that rule files need.")
@click.option(
    "--config",
    "paths",
    multiple=True,
    required=True,
    metavar="PATH|@NAME",
    help="Rule file, directory of rule files, or @NAME of a shipped set. May be repeated.",
)
@click.option(
    "--service-account", "account", default="hpa-adapter", show_default=True, help="Whom to give them to."
)
@click.option("--namespace", default="hpa-adapter", show_default=True, help="Where that account is.")
def rbac(paths: tuple[str, ...], account: str, namespace: str) -> None:
    """Print the role and the bindings that an adapter with these rules needs, and not a right more.

    What rules name by a kind that is not usual, or by a template, is said in comments.
    Ends with 1 if a rule cannot be read: its rights are missing then.
    """
    book = files.load(paths, compat=False)
    mistakes = [one for one in book.findings if one.severity == "error"]
    for finding in mistakes:
        click.echo(f"left out: {finding}", err=True)
    needs = rights.of(book.rules, app.usual_kinds())
    click.echo(HEAD.format(files=", ".join(findings.shown(one) for one in paths)), nl=False)
    for text in itertools.chain(_remarks(needs), _role(needs, account), _bindings(account, namespace)):
        click.echo(text, nl=False)
    sys.exit(1 if mistakes else 0)


def _remarks(needs: Needs) -> Iterator[str]:
    """What the role cannot have in it."""
    for name, ids in needs.unknown.items():
        yield f"""\
#
# MISSING: {_listed(ids)} names `{findings.shown(name)}` without its API group, and it is no usual kind.
# Write {{group: ..., resource: ...}} in the rule, and ask again.
"""
    if needs.open:
        yield f"""\
#
# NOT KNOWN HERE: {_listed(needs.open)} finds objects by a template: any label may mean a kind.
# A question about one object by its name needs no right. One about all objects of a kind, as autoscalers ask
# about pods, needs list and watch on it: add what you use beyond the kinds below.
"""


def _role(needs: Needs, account: str) -> Iterator[str]:
    yield yaml.safe_dump(_head("ClusterRole", f"{account}-objects"), sort_keys=False)
    yield "rules:\n"
    for group, keys in itertools.groupby(needs.resources, key=lambda one: one.group):
        resources = list(keys)
        for key in resources:
            if needs.resources[key]:
                guess = "; the plural is a guess, see kubectl api-resources" if key in needs.guessed else ""
                yield f"# {findings.shown(str(key))}: {_listed(needs.resources[key])}{guess}\n"
        right = {
            "apiGroups": [group],
            "resources": [one.resource for one in resources],
            "verbs": LIST_AND_WATCH,
        }
        yield yaml.safe_dump([right], sort_keys=False, default_flow_style=None)


def _bindings(account: str, namespace: str) -> Iterator[str]:
    subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
    reader = _head("RoleBinding", f"{account}-auth-reader")
    reader["metadata"]["namespace"] = "kube-system"
    for head, kind, role in (
        (_head("ClusterRoleBinding", f"{account}-objects"), "ClusterRole", f"{account}-objects"),
        (
            _head("ClusterRoleBinding", f"{account}-auth-delegator"),
            "ClusterRole",
            "system:auth-delegator",
        ),
        (reader, "Role", "extension-apiserver-authentication-reader"),
    ):
        role_ref = {"apiGroup": GROUP, "kind": kind, "name": role}
        yield "---\n"
        yield yaml.safe_dump(head | {"roleRef": role_ref, "subjects": [subject]}, sort_keys=False)


def _head(kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name}}


def _listed(ids: Iterable[str]) -> str:
    return ", ".join(findings.shown(one) for one in ids)
