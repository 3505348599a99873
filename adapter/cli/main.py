"""The command `hpa-adapter`: nothing but the list of its commands."""

import sys

import click

from adapter import __version__
from adapter.cli import check, demo, rbac, register, serve


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="hpa-adapter")
def cli() -> None:
    """Custom metrics for the HorizontalPodAutoscaler, from Prometheus, by prometheus-adapter's rules."""


cli.add_command(serve.serve)
cli.add_command(check.check)
cli.add_command(demo.demo)
cli.add_command(register.register)
cli.add_command(register.unregister)
cli.add_command(rbac.rbac)


def main() -> None:
    """The console script."""
    cli(prog_name="hpa-adapter")


def adapter() -> None:
    """The executable /adapter of the image: its flags are those of `serve`, as prometheus-adapter has it."""
    cli(["serve", *sys.argv[1:]], prog_name="adapter")
