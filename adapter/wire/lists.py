"""Lists of values as bytes, members in the order in which Go writes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from adapter.wire import quantity, times
from adapter.wire.resources import Resource

GROUP = "custom.metrics.k8s.io"


@dataclass(frozen=True, slots=True)
class Item:
    """One value. `time` is the value's, in seconds since 1970; `namespace` None: the object has none."""

    resource: Resource
    namespace: str | None
    name: str
    milli: int
    time: float
    window_seconds: int | None


class _Object(msgspec.Struct):
    kind: str
    namespace: str | UnsetType
    name: str
    apiVersion: str  # noqa: N815 - as on the wire, here and below


class _Metric(msgspec.Struct):
    name: str
    selector: dict[str, Any] | None


class _ValueV1beta1(msgspec.Struct):
    describedObject: _Object  # noqa: N815
    metricName: str  # noqa: N815
    timestamp: str
    window: int | UnsetType
    value: str
    selector: dict[str, Any] | None


class _ValueV1beta2(msgspec.Struct):
    describedObject: _Object  # noqa: N815
    metric: _Metric
    timestamp: str
    windowSeconds: int | UnsetType  # noqa: N815
    value: str


class _List(msgspec.Struct):
    kind: str
    apiVersion: str  # noqa: N815
    metadata: dict[str, str]
    items: list[_ValueV1beta1] | list[_ValueV1beta2]


_encode = msgspec.json.Encoder().encode


def metric_values(version: str, metric: str, selector: dict[str, Any] | None, items: Sequence[Item]) -> bytes:
    """This is a MetricValueList of version v1beta1 or v1beta2; `selector` is the metric selector's echo."""
    shown_times = {time: times.rfc3339(time) for time in {item.time for item in items}}
    if version == "v1beta1":
        values = [_v1beta1(metric, selector, item, shown_times[item.time]) for item in items]
        return _list(version, values)
    named = _Metric(metric, selector)
    return _list(version, [_v1beta2(named, item, shown_times[item.time]) for item in items])


def _list(version: str, values: list[_ValueV1beta1] | list[_ValueV1beta2]) -> bytes:
    # Go's encoder ends a document with a line feed.
    return _encode(_List("MetricValueList", f"{GROUP}/{version}", {}, values)) + b"\n"


def _v1beta1(metric: str, selector: dict[str, Any] | None, item: Item, time: str) -> _ValueV1beta1:
    value, window = quantity.render(item.milli), _or_unset(item.window_seconds)
    return _ValueV1beta1(_described(item), metric, time, window, value, selector)


def _v1beta2(metric: _Metric, item: Item, time: str) -> _ValueV1beta2:
    value, window = quantity.render(item.milli), _or_unset(item.window_seconds)
    return _ValueV1beta2(_described(item), metric, time, window, value)


def _described(item: Item) -> _Object:
    namespace = UNSET if item.namespace is None else item.namespace
    return _Object(item.resource.kind, namespace, item.name, item.resource.api_version)


def _or_unset(window_seconds: int | None) -> int | UnsetType:
    return UNSET if window_seconds is None else window_seconds
