"""`hpa-adapter check`: what is wrong in rule files, and, with a backend, which series each rule finds."""

import datetime
import sys
from collections.abc import Iterable
from typing import Final

import click

from adapter.cli import options
from adapter.rulebook import files, findings
from adapter.rulebook.findings import Finding

LINE_CHARACTERS: Final = 1000
"""A line of the output is cut to this: room for a long query, and no flood."""


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
        from adapter.cli import backend  # noqa: PLC0415 - `serve` is the same program, and must not load it

        asked = backend.Backend(prometheus_url, prometheus_header)
        for rule in rules:
            good, line = backend.judge(asked, rule, datetime.timedelta(seconds=metrics_max_age))
            click.echo(_line(line))
            failed = failed or not good
    click.echo(f"{len(rules)} usable rules, {_counted(book.findings)}")
    sys.exit(1 if failed else 0)


def _drawn(finding: Finding) -> str:
    try:
        source = files.read(finding.position.file)
    except files.CannotRead:
        return _line(str(finding))  # that it cannot be read is the finding
    drawing = findings.caret(finding, source)
    return f"{_line(str(finding))}\n{drawing}" if drawing else _line(str(finding))


def _line(text: str) -> str:
    """This as a line of a terminal: rules, file names and the backend's words are others' texts."""
    return findings.escaped(text if len(text) <= LINE_CHARACTERS else text[:LINE_CHARACTERS] + "...")


def _counted(found: Iterable[Finding]) -> str:
    severities = [one.severity for one in found]
    return f"{severities.count('error')} errors, {severities.count('warning')} warnings"
