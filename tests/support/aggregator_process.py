"""The aggregator's double as a process of its own, for the real kubectl and a real adapter.

    python -m tests.support.aggregator_process --directory DIR [--users FILE] [--objects FILE] [--port N]

Its first line of output is its address, once DIR holds ca.crt, the front-proxy pair, and kubeconfig-NAME for each
user; certificates that are there already are used. Users are a YAML list of {token, name, groups, uid, extra}; objects any kinds, RBAC and APIServices too, which
also change over HTTP as in a real cluster.
"""

import argparse
import asyncio
import contextlib
import json
import sys
from pathlib import Path

from adapter.cli import parts
from tests.support.aggregator import Aggregator
from tests.support.aggregator_loops import Pace, Paces
from tests.support.aggregator_pki import ClusterFiles, MadeFiles


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A stand-in for kube-apiserver with its aggregation layer.")
    parser.add_argument("--directory", type=Path, required=True, help="where certificates and kubeconfigs go")
    parser.add_argument("--users", type=Path, help="a YAML list of {token, name, groups, uid, extra}")
    parser.add_argument("--objects", help="a Kubernetes List in YAML or JSON")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=30.0, help="between two checks of an APIService")
    parser.add_argument(
        "--dial-cluster-ip",
        action="store_true",
        help="as without kube-proxy: connect to the ClusterIP itself",
    )
    return parser.parse_args(argv)


def paces(seconds: float) -> Paces:
    """Everything as often as the checks."""
    return Paces(
        check=Pace(seconds, 0.005, seconds),
        discovery=Pace(seconds, min(0.5, seconds), seconds),
        openapi=Pace(seconds, seconds, seconds),
    )


def kubeconfig(url: str, authority: Path, token: str) -> str:
    """For one user; JSON, which is YAML too."""
    whole = parts.kubeconfig(url, authority)
    return json.dumps(whole | {"users": [{"name": "nobody", "user": {"token": token} if token else {}}]})


async def serve(argv: list[str]) -> None:
    """This serves until it is cancelled."""
    wanted = arguments(argv)
    wanted.directory.mkdir(parents=True, exist_ok=True)
    made = (wanted.directory / "authorities.json").exists()
    files = ClusterFiles(wanted.directory) if made else MadeFiles(wanted.directory)
    cluster = Aggregator(
        files, port=wanted.port, paces=paces(wanted.seconds), by_proxy=not wanted.dial_cluster_ip
    )
    if wanted.users:
        cluster.reviews.load(wanted.users.read_text(encoding="utf-8"))
    if wanted.objects:
        cluster.load(wanted.objects)
    async with cluster:
        for token, user in cluster.reviews.users.items():
            name = user.name.replace(":", "-").replace("/", "-")
            path = wanted.directory / f"kubeconfig-{name}"
            path.write_text(kubeconfig(cluster.url, files.ca, token))
        sys.stdout.write(f"{cluster.url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(sys.argv[1:]))
