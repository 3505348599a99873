"""The API server, or a file in its place."""

from collections.abc import Mapping
from typing import Any, Final

import click

from adapter.settings import Kubernetes

OPTIONS: Final = (
    click.option(
        "--lister-kubeconfig",
        default="",
        metavar="FILE",
        help="kubeconfig for lists, watches and discovery; without it the pod's service account.",
    ),
    click.option(
        "--authentication-kubeconfig",
        default="",
        metavar="FILE",
        help="kubeconfig for token reviews and for the ConfigMap that names the front proxy's CA.",
    ),
    click.option(
        "--authorization-kubeconfig", default="", metavar="FILE", help="kubeconfig for access reviews."
    ),
    click.option(
        "--disable-strict-x509",
        is_flag=True,
        help="Take a cluster CA without an Authority Key Identifier, which Python 3.13 refuses.",
    ),
    click.option(
        "--objects",
        "objects_file",
        default="",
        metavar="FILE",
        help="A Kubernetes List in YAML in place of a cluster; only on loopback.",
    ),
)


def kubernetes(flags: Mapping[str, Any]) -> Kubernetes:
    """How the API server is reached."""
    return Kubernetes(
        lister_kubeconfig=flags["lister_kubeconfig"],
        authentication_kubeconfig=flags["authentication_kubeconfig"],
        authorization_kubeconfig=flags["authorization_kubeconfig"],
        disable_strict_x509=flags["disable_strict_x509"],
        objects_file=flags["objects_file"],
    )
