"""`kubectl apply --dry-run=client` of all that can be installed, against the stand-in API server."""

import asyncio
import os

import pytest
import yaml

from tests.support import manifests
from tests.support.fake_kube import FakeKube
from tests.support.fake_kube_world import Kind, usual_kinds

MORE = [
    Kind("policy", ("v1",), "PodDisruptionBudget", "poddisruptionbudgets"),
    Kind("networking.k8s.io", ("v1",), "NetworkPolicy", "networkpolicies"),
    Kind("cert-manager.io", ("v1",), "Certificate", "certificates"),
    Kind("cert-manager.io", ("v1",), "Issuer", "issuers"),
    Kind("monitoring.coreos.com", ("v1",), "ServiceMonitor", "servicemonitors"),
    Kind("monitoring.coreos.com", ("v1",), "PrometheusRule", "prometheusrules"),
]
CHART_VALUES = {
    "chart": {},
    "chart-cert-manager": {"certManager": {"enabled": True}},
    "chart-monitoring": {"monitoring": {"serviceMonitor": {"enabled": True}, "alerts": {"enabled": True}}},
}


async def dry_run(path, home) -> tuple[int, str, list[str]]:
    """(exit code, what it said of errors, a line per object)."""
    missing = [one for one in MORE if one.plural not in {kind.plural for kind in usual_kinds()}]
    async with FakeKube(usual_kinds() + missing) as kube:
        arguments = ["apply", "--server", kube.url, "--dry-run=client", "--validate=false", "-f", str(path)]
        process = await asyncio.create_subprocess_exec(
            manifests.kubectl(),
            *arguments,
            env={**os.environ, "HOME": str(home), "KUBECONFIG": ""},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        return process.returncode, err.decode(), out.decode().splitlines()


def rendered(what: str, tmp_path) -> manifests.Rendered:
    if what in CHART_VALUES:
        return manifests.helm({"prometheus": {"url": manifests.PROMETHEUS}} | CHART_VALUES[what])
    if what in ("cert-manager", "monitoring"):
        return manifests.overlay(tmp_path, what)
    return manifests.kustomize(manifests.APISERVICE / "overlays" / what)


@pytest.mark.parametrize("what", [*manifests.OVERLAYS, "cert-manager", "monitoring", *CHART_VALUES])
async def test_kubectl_takes_every_object(tmp_path, what):
    """Each has a kind that its API group has, a place, and a name; kubectl would create them all."""
    objects = rendered(what, tmp_path).all()
    path = tmp_path / "all.yaml"
    path.write_text(yaml.safe_dump_all(objects))
    code, errors, lines = await dry_run(path, tmp_path)
    assert code == 0, errors
    assert len(lines) == len(objects)
    assert all(line.endswith("created (dry run)") for line in lines), lines
