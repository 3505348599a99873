"""One context of a kubeconfig, made plain: absolute paths, no embedded files, no plugin left to run."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from kubernetes.aio.client import Configuration
from kubernetes.aio.config.config_exception import ConfigException
from kubernetes.aio.config.kube_config import ConfigNode, KubeConfigLoader, KubeConfigMerger

from adapter.kube import exec_plugin

_FILES: Final = {
    "cluster": ("certificate-authority",),
    "user": ("client-certificate", "client-key", "tokenFile"),
}
_EMBEDDED: Final = {"cluster": ("certificate-authority",), "user": ("client-certificate", "client-key")}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The cluster and the user of one context; the paths in them are absolute."""

    cluster: dict[str, Any] = field(repr=False)
    user: dict[str, Any] = field(repr=False)

    @property
    def renewable(self) -> bool:
        """Whether a plugin or provider makes the credentials."""
        return "exec" in self.user or "auth-provider" in self.user

    def files(self) -> list[str]:
        """The files that it refers to."""
        parts = (("cluster", self.cluster), ("user", self.user))
        return [part[key] for word, part in parts for key in _FILES[word] if part.get(key)]


def paths(text: str) -> list[str]:
    """The files of a KUBECONFIG value that exist; raises ConfigException if none does."""
    found = [str(path) for path in map(Path, filter(None, text.split(":"))) if path.expanduser().is_file()]
    if not found:
        raise ConfigException(f"no kubeconfig at {text}")
    return [str(Path(path).expanduser().absolute()) for path in found]


def choose(files: list[str]) -> Chosen:
    """The cluster and user of the current context, from all files together."""
    merger = KubeConfigMerger(":".join(files))  # type: ignore[no-untyped-call]
    merged = merger.config.value
    current = (one.get("current-context") for one in merger.config_files.values())
    name = next(filter(None, current), "")  # the first one, as kubectl has it; the merger would take the last
    wanted = _named(merged["contexts"], name, "context")
    if wanted is None:
        raise ConfigException(f"kubeconfig: no context {name!r}")
    cluster = _named(merged["clusters"], wanted.get("cluster"), "cluster")
    if cluster is None:
        raise ConfigException(f"kubeconfig: context {name!r} names no cluster of this file")
    return Chosen(cluster, _named(merged["users"], wanted.get("user"), "user") or {})


async def run_plugin(chosen: Chosen, environment: Mapping[str, str], *, seconds: float) -> float | None:
    """This puts what the exec plugin says in its place; returns when that expires (seconds since 1970)."""
    plugin = chosen.user.pop("exec", None)
    if plugin is None:
        return None
    found = await exec_plugin.run(plugin, chosen.cluster, environment=environment, seconds=seconds)
    if found.token:
        chosen.user["token"] = found.token
    if found.certificate:
        chosen.user["client-certificate-data"] = base64.b64encode(found.certificate.encode()).decode()
        chosen.user["client-key-data"] = base64.b64encode(found.key.encode()).decode()
    return found.expires_at


async def apply(chosen: Chosen, configuration: Configuration, directory: str) -> None:
    """This sets up `configuration`; embedded certificates and keys are written to `directory`."""
    cluster = _with_files(chosen.cluster, "cluster", directory)
    user = _with_files(chosen.user, "user", directory)
    if "tokenFile" in user:  # it wins over a token, which may be an old one
        user["token"] = _text(user.pop("tokenFile"))
    whole = {
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": cluster}],
        "users": [{"name": "it", "user": user}],
    }
    loader = KubeConfigLoader(whole, config_base_path="/", temp_file_path=directory)  # type: ignore[no-untyped-call]
    await loader.load_and_set(configuration)  # type: ignore[no-untyped-call]


def _named(nodes: list[ConfigNode], name: str | None, word: str) -> dict[str, Any] | None:
    for node in nodes:
        if node.value.get("name") == name:
            part = dict(node.value.get(word) or {})
            base = Path(node.path).parent
            if "/" in str((part.get("exec") or {}).get("command")):  # a bare name is looked for in PATH
                part["exec"] = part["exec"] | {"command": str(base / part["exec"]["command"])}
            return part | {key: str(base / part[key]) for key in _FILES.get(word, ()) if part.get(key)}
    return None


def _with_files(part: dict[str, Any], word: str, directory: str) -> dict[str, Any]:
    """`part` with a file for each embedded text; the embedded one wins over a path, as in kubectl."""
    plain = dict(part)
    for key in _EMBEDDED[word]:
        data = plain.pop(f"{key}-data", None)
        if data:
            path = Path(directory, key)
            path.write_bytes(base64.b64decode(data))
            plain[key] = str(path)
    return plain


def _text(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")
