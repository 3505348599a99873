"""What cannot be is refused before anything starts, with the way out."""

import dataclasses

import pytest

from adapter import build
from adapter.settings import Kubernetes, Relisting, Serving, Settings


def refusal(**changes) -> str:
    with pytest.raises(build.Refused) as caught:
        build.check(dataclasses.replace(Settings(), **changes))
    return str(caught.value)


def test_file_in_place_of_a_cluster_is_for_one_machine():
    """Nobody can be asked who may, so only this machine is answered, and only if the operator says so."""
    alone = Kubernetes(objects_file="objects.yaml")
    assert "--bind-address=127.0.0.1" in refusal(kubernetes=alone, serving=Serving(address="0.0.0.0"))
    assert "--insecure-allow-everyone" in refusal(kubernetes=alone, serving=Serving(address="127.0.0.1"))


def test_with_a_cluster_callers_are_always_asked():
    """There is no switch that turns access control off beside a cluster."""
    assert "--objects only" in refusal(serving=Serving(insecure_allow_everyone=True))


def test_compat_refuses_a_listing_that_looks_back_less_than_its_interval():
    """As upstream does; otherwise it is the operator's choice."""
    short = Relisting(interval_seconds=60, max_age_seconds=30)
    assert "--metrics-max-age" in refusal(compat=True, relisting=short)
    build.check(Settings(relisting=short))
