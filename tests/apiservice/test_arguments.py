"""The arguments that every installation starts the program with are ones that the program takes."""

import pytest

from adapter.cli import serve
from tests.support import manifests
from tests.support.manifests import APISERVICE, PROMETHEUS

URL = {"prometheus": {"url": PROMETHEUS}}
CHART = {
    "chart": {},
    "chart-with-everything": {
        "certManager": {"enabled": True},
        "rules": {"custom": [{}]},
        "metricsRelistInterval": "1m",
        "logLevel": 4,
        "extraArguments": ["--cache-ttl=10s"],
    },
}


def arguments(what: str) -> list[str]:
    if what in CHART:
        return manifests.helm(URL | CHART[what]).container["args"]
    return manifests.kustomize(APISERVICE / what).container["args"]


@pytest.mark.parametrize("what", ["base", *(f"overlays/{one}" for one in manifests.OVERLAYS), *CHART])
def test_program_takes_the_arguments(what):
    """None is unknown, and none is accepted without effect."""
    words = [one.replace("$(PROMETHEUS_URL)", PROMETHEUS) for one in arguments(what)]
    context = serve.serve.make_context("adapter", words)
    options = {option for one in serve.serve.params for option in one.opts}
    assert {one.partition("=")[0] for one in words} <= options
    serve.settings(context.params)
