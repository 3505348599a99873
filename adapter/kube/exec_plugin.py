"""The exec plugin of a kubeconfig: run, read, and never left behind.

It speaks client-go's protocol (client.authentication.k8s.io, v1 and v1beta1) without a terminal. We run it
ourselves because kubernetes.aio waits for ever, leaves a plugin that is given up running, and quotes its
stderr. What a plugin prints may be a token, so none of it reaches an error or the log.
"""

import asyncio
import base64
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec
from kubernetes.aio.config.config_exception import ConfigException

VERSIONS: Final = tuple(f"client.authentication.k8s.io/{version}" for version in ("v1", "v1beta1"))

MAX_OUTPUT_BYTES: Final = 1024 * 1024
"""A token or a certificate has some kilobytes; what a plugin prints beyond this is not kept."""

EXTENSION: Final = "client.authentication.k8s.io/exec"
"""The extension of a cluster whose content a plugin is given as `config`."""

_CLUSTER_KEYS: Final = (
    "server",
    "tls-server-name",
    "insecure-skip-tls-verify",
    "certificate-authority-data",
    "proxy-url",
    "disable-compression",
)


@dataclass(frozen=True, slots=True)
class Credential:
    """What a plugin gave: a token, or a certificate and its key (PEM), or both."""

    token: str = field(default="", repr=False)
    certificate: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    expires_at: float | None = None
    """Seconds since 1970."""


class _Status(msgspec.Struct, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: str | None = None


class _Answer(msgspec.Struct, rename="camel"):
    kind: str
    api_version: str
    status: _Status | None = None


async def run(
    plugin: Mapping[str, Any], cluster: Mapping[str, Any], *, environment: Mapping[str, str], seconds: float
) -> Credential:
    """The credential of the plugin that this `exec` section describes. Raises ConfigException.

    `environment` is what the plugin inherits. After `seconds` it is killed with all that it started.
    """
    command = [str(plugin["command"]), *map(str, plugin.get("args") or ())]
    name, version = command[0], plugin.get("apiVersion")
    if version not in VERSIONS:
        raise ConfigException(f"exec: {name} needs apiVersion {' or '.join(VERSIONS)}")
    if plugin.get("interactiveMode") == "Always":
        raise ConfigException(f"exec: {name} wants to ask somebody, and there is nobody")
    environment = _environment(plugin, cluster, environment)
    try:
        async with asyncio.timeout(seconds):
            code, output = await _run(command, environment)
    except TimeoutError:
        raise ConfigException(f"exec: {name} was not done within {seconds:.0f} s") from None
    except OSError as error:
        raise ConfigException(f"exec: {name} cannot be run: {error.strerror}") from None
    if code:
        raise ConfigException(f"exec: {name} failed with exit code {code}; run it by hand to see why")
    return _credential(output, name, version)


# -- the process


class _Output(asyncio.SubprocessProtocol):
    """This keeps what a process prints, and knows when it is gone and its stdout closed."""

    def __init__(self) -> None:
        self.text = bytearray()
        self.ended = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002 - there is only stdout
        """A part of what it prints."""
        self.text += data[: MAX_OUTPUT_BYTES - len(self.text)]

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002 - how it ended is in its exit code
        """It was reaped, and nothing more can come."""
        self.ended.set()


async def _run(command: Sequence[str], environment: Mapping[str, str]) -> tuple[int | None, bytes]:
    """Exit code and stdout."""
    async with _running(command, environment) as (transport, output):
        await output.ended.wait()
    return transport.get_returncode(), bytes(output.text)


@asynccontextmanager
async def _running(
    command: Sequence[str], environment: Mapping[str, str]
) -> AsyncIterator[tuple[asyncio.SubprocessTransport, _Output]]:
    """The process, as leader of a group; if it is left before it ended, the whole group is killed.

    Not asyncio's `Process`: its `wait()` also waits for whoever inherited stdout and left the group, such as
    a browser for a login.
    """
    transport, output = await asyncio.get_running_loop().subprocess_exec(
        _Output,
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    try:
        yield transport, output
    finally:
        if not output.ended.is_set():
            with suppress(ProcessLookupError):
                os.killpg(transport.get_pid(), signal.SIGKILL)
        transport.close()
        await output.ended.wait()


# -- what goes in, what comes out


def _environment(
    plugin: Mapping[str, Any], cluster: Mapping[str, Any], inherited: Mapping[str, str]
) -> dict[str, str]:
    spec: dict[str, object] = {"interactive": False}
    if plugin.get("provideClusterInfo"):
        spec["cluster"] = _cluster_info(cluster)
    info = {"kind": "ExecCredential", "apiVersion": plugin["apiVersion"], "spec": spec}
    own = {str(one["name"]): str(one["value"]) for one in plugin.get("env") or ()}
    return {**inherited, **own, "KUBERNETES_EXEC_INFO": msgspec.json.encode(info).decode()}


def _cluster_info(cluster: Mapping[str, Any]) -> dict[str, object]:
    found = {key: cluster[key] for key in _CLUSTER_KEYS if cluster.get(key)}
    path = cluster.get("certificate-authority")
    if path and "certificate-authority-data" not in found:
        found["certificate-authority-data"] = base64.b64encode(Path(path).read_bytes()).decode()
    for one in cluster.get("extensions") or ():
        if one.get("name") == EXTENSION:
            found["config"] = one.get("extension")
    return found


def _credential(output: bytes, name: str, version: str) -> Credential:
    try:
        answer = msgspec.json.decode(output, type=_Answer)
    except msgspec.MsgspecError:
        raise ConfigException(f"exec: {name} printed no ExecCredential") from None
    if (answer.kind, answer.api_version) != ("ExecCredential", version):
        raise ConfigException(f"exec: {name} printed no ExecCredential of {version}")
    status = answer.status or _Status()
    certificate, key = status.client_certificate_data or "", status.client_key_data or ""
    if bool(certificate) != bool(key):
        raise ConfigException(f"exec: {name} gave only one of certificate and key")
    if not (status.token or certificate):
        raise ConfigException(f"exec: {name} gave neither token nor certificate")
    return Credential(status.token or "", certificate, key, _seconds(status.expiration_timestamp))


def _seconds(text: str | None) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp() if text else None
    except ValueError:
        return None
