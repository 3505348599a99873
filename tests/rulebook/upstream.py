"""The upstream vectors of the rulebook, and the cluster that they assume."""

import functools
from pathlib import Path
from typing import Any

import yaml

from adapter.wire.resources import Kinds, Resource

DATA = Path(__file__).parent / "data"


@functools.cache
def vectors() -> dict[str, Any]:
    with (DATA / "compat-rules.yaml").open(encoding="utf-8") as stream:
        return yaml.load(stream, yaml.CSafeLoader)


@functools.cache
def kinds() -> Kinds:
    return Kinds.of(
        _of_group(group, version, one)
        for group in vectors()["cluster"]
        for version in _versions(group)
        for one in group["resources"]
    )


def _versions(group: dict[str, Any]) -> list[str]:
    return [group["preferred"], *(one for one in group["versions"] if one != group["preferred"])]


def _of_group(group: dict[str, Any], version: str, one: dict[str, Any]) -> Resource:
    return Resource(
        group["group"], version, one["name"], one["singular"], one["kind"], namespaced=one["namespaced"]
    )
