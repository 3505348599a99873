"""`hpa-adapter register` and `unregister`: the adapter's place among the cluster's APIs, and giving it up."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, Final, NoReturn

import click
import yaml

from adapter import registrar
from adapter.flows import registering
from adapter.flows.registering import Outcome, Registrations
from adapter.rulebook import files
from adapter.rulebook.model import Rulebook
from adapter.server import own_ca
from adapter.wire import apis, registration
from adapter.wire.apis import Api
from adapter.wire.registration import Service
from adapter.wire.stored import Document, NotPermitted, StoredError

NAME: Final = "hpa-adapter"
"""Of the Service and its namespace in apiservice/base."""

EXIT_REFUSED: Final = 1
"""A group is somebody else's, or there is nothing to serve: it needs a decision."""

EXIT_CLUSTER: Final = 3
"""The API server did not answer, or did not let us: it may go well another time. (2 is click's: wrong usage.)"""

SHOWN: Final = ("created", "updated", "removed")
"""What --dry-run shows the documents of."""

Shared = Callable[[Callable[..., None]], Callable[..., None]]


def shared(command: Callable[..., None]) -> Callable[..., None]:
    """The options that both commands have."""
    options: Iterable[Shared] = (
        click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing."),
        click.option(
            "--namespace", default=NAME, show_default=True, metavar="NAME", help="Its Service's namespace."
        ),
        click.option("--service", default=NAME, show_default=True, metavar="NAME", help="Its Service."),
        click.option(
            "--kubeconfig",
            default="",
            envvar="KUBECONFIG",
            metavar="FILE",
            help="Credentials; without them ~/.kube/config, and in a pod its service account.",
        ),
    )
    for option in options:
        command = option(command)
    return command


@click.command(short_help="Register the adapter as an API of the cluster.")
@click.option(
    "--config",
    multiple=True,
    required=True,
    metavar="PATH|@NAME",
    help="The rules, as for serve: only groups for which they have something are registered.",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=443,
    show_default=True,
    help="Port of the Service.",
)
@click.option(
    "--ca-bundle",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="CAs (PEM) of the serving certificate; without it those that are there stay.",
)
@click.option(
    "--take-over", is_flag=True, help="Register also where another Service is named. Its clients come to us."
)
@shared
def register(**flags: Any) -> None:
    """Create or update the APIServices of the groups that --config has rules for.

    A group that another program serves is left to it, with advice, unless --take-over. Ends with 0 when all is as
    wanted, with 1 when it is refused, with 3 when the API server does not answer or does not permit it.
    """
    service = Service(flags["service"], flags["namespace"], flags["port"])
    wanted = registration.documents(_groups(flags["config"]), service, _bundle(flags["ca_bundle"]))
    dry_run, take_over = flags["dry_run"], flags["take_over"]

    def run(found: Registrations) -> Awaitable[list[Outcome]]:
        return registering.register(found, wanted, take_over=take_over, dry_run=dry_run)

    _show(_run(flags["kubeconfig"], run), dry_run=dry_run)


@click.command(short_help="Take the registration away.")
@shared
def unregister(**flags: Any) -> None:
    """Remove the APIServices that `register` made for this Service, and no other.

    Do this before the adapter is removed: as long as an API that nobody answers is registered, no namespace of the
    cluster can be deleted. Ends with 0 when none of ours is left, else as register does.
    """
    service = Service(flags["service"], flags["namespace"])
    names, dry_run = registration.names(apis.SERVED), flags["dry_run"]

    def run(found: Registrations) -> Awaitable[list[Outcome]]:
        return registering.unregister(found, names, service, dry_run=dry_run)

    _show(_run(flags["kubeconfig"], run), dry_run=dry_run)


# -- what is wanted


def _groups(config: tuple[str, ...]) -> tuple[Api, ...]:
    """The groups that have rules; the command ends where there are none."""
    book = files.load(config, compat=False)
    for finding in book.findings:
        if finding.severity == "error":
            click.echo(str(finding), err=True)
    found = tuple(api for api in apis.SERVED if _has_rules(api, book))
    if not found:
        _end(
            "no group is registered: --config has no usable rule for one; see `hpa-adapter check`",
            EXIT_REFUSED,
        )
    return found


def _has_rules(api: Api, book: Rulebook) -> bool:
    return api is apis.CUSTOM and bool(book.rules)


def _bundle(path: Path | None) -> bytes:
    """The certificates of this file and nothing else of it: a key that lies beside them must not be published."""
    if path is None:
        return b""
    try:
        return b"".join(own_ca.pem(one) for one in own_ca.certificates(path.read_bytes()))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it holds no PEM certificate"
        raise click.BadParameter(f"{path}: {why}", param_hint="--ca-bundle") from error


# -- doing it


def _run(kubeconfig: str, run: Callable[[Registrations], Awaitable[list[Outcome]]]) -> list[Outcome]:
    async def connected() -> list[Outcome]:
        async with registrar.registrations(kubeconfig or _usual_kubeconfig()) as found:
            return await run(found)

    try:
        return asyncio.run(connected())
    except registering.Taken as error:
        _end(f"{error}\nnothing was changed; --take-over registers all the same", EXIT_REFUSED)
    except NotPermitted as error:
        _end(f"{error}\ngrant get, create, update and delete on apiservices", EXIT_CLUSTER)
    except StoredError as error:
        _end(f"{error}\nwhat was done before this is done; repeat the command", EXIT_CLUSTER)


def _usual_kubeconfig() -> str:
    """Where kubectl looks too; "" if there is none, as in a pod."""
    path = Path.home() / ".kube" / "config"
    return str(path) if path.is_file() else ""


def _show(outcomes: Iterable[Outcome], *, dry_run: bool) -> None:
    for one in outcomes:
        would = "would be " if dry_run and one.does in SHOWN else ""
        click.echo(f"{one.name}: {would}{one.does}" + (f" ({one.note})" if one.note else ""))
        if would and one.does != "removed":
            click.echo(yaml.safe_dump(_without_noise(one.document), sort_keys=False))


def _without_noise(document: Document) -> Document:
    """What a person would write into a file."""
    metadata = {key: value for key, value in document["metadata"].items() if key in ("name", "labels")}
    return {key: document[key] for key in ("apiVersion", "kind")} | {
        "metadata": metadata,
        "spec": document["spec"],
    }


def _end(text: str, code: int) -> NoReturn:
    click.echo(f"hpa-adapter: {text}", err=True)
    sys.exit(code)
