"""`hpa-adapter serve`: the server. Flags that prometheus-adapter has too bear its names and mean the same."""

import asyncio
import sys
from collections.abc import Mapping
from typing import Any

import click

from adapter import app
from adapter.cli import options, upstream_flags
from adapter.cli.flags import backend, callers, cluster, door
from adapter.rulebook import findings
from adapter.settings import Settings
from adapter.telemetry import logs

COMPAT = "prometheus-adapter"

EXIT_REFUSED = 1
EXIT_REFUSED_UPSTREAM = 255
"""What klog's Fatal gives; scripts around prometheus-adapter may look for it."""

OTHERS = "Whatever else prometheus-adapter takes is accepted, does nothing, and is named in the log at start."

log = logs.get("cli")

FIRST = (
    click.option(
        "--config",
        multiple=True,
        required=True,
        metavar="PATH|@NAME",
        help="Rule file, directory of rule files, or @NAME of a shipped set (@go-runtime). May be repeated.",
    ),
)
LAST = (
    click.option(
        "--compat",
        type=click.Choice([COMPAT]),
        default=None,
        help="Answer exactly as prometheus-adapter does, in every status and value.",
    ),
    click.option(
        "--v",
        "verbosity",
        type=int,
        default=0,
        show_default=True,
        help="Log level as klog counts: 4 and more shows debug lines. Also -v=4, -v4.",
    ),
)


@click.command(cls=options.PflagCommand, short_help="Run the server.", epilog=OTHERS)
@options.all_of(FIRST, backend.OPTIONS, door.OPTIONS, callers.OPTIONS, cluster.OPTIONS, LAST)
@click.pass_context
def serve(ctx: click.Context, /, **flags: Any) -> None:
    """Serve custom.metrics.k8s.io (v1beta2, v1beta1) from the rules of --config."""
    compat = _compat(flags)
    logs.start(flags["verbosity"])
    try:
        chosen = settings(flags)
        tell(ctx)
        asyncio.run(app.serve(chosen))
    except app.Refused as error:
        click.echo(f"hpa-adapter: {findings.escaped(str(error))}", err=True)
        sys.exit(EXIT_REFUSED_UPSTREAM if compat else EXIT_REFUSED)


def settings(flags: Mapping[str, Any]) -> Settings:
    """The settings that these flags mean; keys are the names of the options. Raises app.Refused."""
    compat = _compat(flags)
    return Settings(
        config=flags["config"],
        compat=compat,
        verbosity=flags["verbosity"],
        serving=door.serving(flags),
        limits=door.limits(flags),
        prometheus=backend.prometheus(flags, compat=compat),
        relisting=backend.relisting(flags, compat=compat),
        snapshots=backend.snapshots(flags),
        access=callers.access(flags),
        kubernetes=cluster.kubernetes(flags),
    )


def tell(ctx: click.Context) -> None:
    """What of the arguments does nothing, once: whoever relies on it should know."""
    parsed, flags = options.parsed(ctx), ctx.params
    without = upstream_flags.without_effect([one.name for one in parsed.flags])
    if without:
        log.warning("flags_without_effect", extra={**without, "next": "docs/flags.md says why"})
    for name, reason in backend.idle(flags, compat=_compat(flags)).items():
        log.warning("flag_ignored", extra={"flag": f"--{name}", "text": reason})
    if parsed.words:
        facts: dict[str, object] = {"count": parsed.words}
        if parsed.after_switches:
            switches = ", ".join(f"--{one}" for one in parsed.after_switches)
            facts |= {"after": switches, "next": "a switch takes its value after =, as in --name=false"}
        log.warning("words_ignored", extra=facts)


def _compat(flags: Mapping[str, Any]) -> bool:
    return bool(flags["compat"] == COMPAT)
