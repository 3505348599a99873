"""`hpa-adapter check`: what is wrong in rule files, and, with a backend, which series each rule finds."""

import datetime
import sys
from collections.abc import Iterable

import click

from adapter.cli import backend, options
from adapter.rulebook import files, findings
from adapter.rulebook.findings import Finding
from adapter.rulebook.model import Rule

SHOWN_NAMES = 5
"""How many metric names a rule's line shows: enough to see the pattern."""


@click.command(short_help="Read rule files and show what is wrong.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH|@NAME...")
@click.option(
    "--prometheus-url", default="", metavar="URL", help="Also ask this backend which series each rule finds."
)
@click.option(
    "--prometheus-header",
    type=options.Header(),
    multiple=True,
    help="Header of every request to the backend. May be repeated.",
)
@click.option(
    "--metrics-max-age",
    type=options.GoDuration(),
    default="10m",
    show_default=True,
    help="How far back series are looked for.",
)
def check(
    paths: tuple[str, ...],
    prometheus_url: str,
    prometheus_header: tuple[tuple[str, str], ...],
    metrics_max_age: float,
) -> None:
    """Read rule files (directories, @NAME of a shipped set) and show every mistake under its word.

    Ends with 0 if there is none, with 1 if there is an error, or a rule that finds no series.
    """
    book = files.load(paths, compat=False)
    for finding in book.findings:
        click.echo(_drawn(finding))
    rules = (*book.rules, *book.external)
    failed = any(finding.severity == "error" for finding in book.findings)
    if prometheus_url:
        asked = backend.Backend(prometheus_url, prometheus_header)
        lines = [_asked(asked, rule, datetime.timedelta(seconds=metrics_max_age)) for rule in rules]
        for good, line in lines:
            click.echo(line)
            failed = failed or not good
    click.echo(f"{len(rules)} usable rules, {_counted(book.findings)}")
    sys.exit(1 if failed else 0)


def _drawn(finding: Finding) -> str:
    try:
        source = files.read(finding.position.file)
    except files.CannotRead:
        return str(finding)  # that it cannot be read is the finding
    drawing = findings.caret(finding, source)
    return f"{finding}\n{drawing}" if drawing else str(finding)


def _asked(asked: backend.Backend, rule: Rule, max_age: datetime.timedelta) -> tuple[bool, str]:
    try:
        found = asked.found(rule.series_query, max_age=max_age)
    except backend.BackendError as error:
        return False, f"{rule.id}: {error}"
    if not found.count:
        return False, f"{rule.id}: no series matches {rule.series_query}"
    offered = {metric for name in found.labels if (metric := rule.metric_name(name)) is not None}
    if not offered:
        return False, f"{rule.id}: {found.count} series, but the filters and name.matches keep none of them"
    seen = set().union(*found.labels.values())
    missing = [one.label for one in rule.mapping.overrides if one.label not in seen]
    if missing:
        words = f"label {', '.join(missing)} occurs on none of {found.count} series; seen: {', '.join(sorted(seen))}"
        return False, f"{rule.id}: {words}"
    return True, f"{rule.id}: {found.count} series, offered as {_some(sorted(offered))}"


def _some(names: list[str]) -> str:
    rest = len(names) - SHOWN_NAMES
    return ", ".join(names[:SHOWN_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def _counted(found: Iterable[Finding]) -> str:
    severities = [one.severity for one in found]
    return f"{severities.count('error')} errors, {severities.count('warning')} warnings"
