"""The API groups that can be served, as data: discovery, OpenAPI and the table of paths are made from these rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from adapter.wire import lists

Fields = Mapping[str, Mapping[str, Any]]
"""Members of an object and their schemas, as OpenAPI 2 and 3 write them alike."""

TEXT: Final = {"type": "string"}
NUMBER: Final = {"type": "integer", "format": "int64"}
TIME: Final = {"type": "string", "format": "date-time"}
QUANTITY: Final = {"type": "string", "description": "a Kubernetes quantity, such as 1500m"}
SELECTOR: Final = {"type": "object", "description": "the label selector that was asked for, or null"}
OBJECT: Final = {
    "type": "object",
    "properties": dict.fromkeys(("kind", "namespace", "name", "apiVersion"), TEXT),
}
METRIC: Final = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": TEXT, "selector": SELECTOR},
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One way to ask for values: a path below the group-version, and its operation id with `{}` for the version."""

    tail: str
    id: str
    does: str
    query: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Api:
    """One group. `package` and `stem` are the words that stand for it in the names of schemas and operations."""

    group: str
    versions: tuple[str, ...]
    """In the order of preference."""

    package: str
    stem: str
    kind: str
    """Of one value; a list of them is of the kind with `List` behind it."""

    fields: Mapping[str, Fields]
    """The members of one value, by version."""

    optional: frozenset[str]
    operations: tuple[Operation, ...]

    @property
    def list_kind(self) -> str:
        """The kind of every answer."""
        return f"{self.kind}List"


CUSTOM: Final = Api(
    group=lists.GROUP,
    versions=("v1beta2", "v1beta1"),
    package="custom_metrics",
    stem="CustomMetrics",
    kind="MetricValue",
    fields={
        "v1beta1": {
            "describedObject": OBJECT,
            "metricName": TEXT,
            "timestamp": TIME,
            "window": NUMBER,
            "value": QUANTITY,
            "selector": SELECTOR,
        },
        "v1beta2": {
            "describedObject": OBJECT,
            "metric": METRIC,
            "timestamp": TIME,
            "windowSeconds": NUMBER,
            "value": QUANTITY,
        },
    },
    optional=frozenset(("window", "windowSeconds", "selector")),
    operations=(
        Operation(
            "namespaces/{namespace}/metrics/{name}",
            "read{}MetricValueForNamespace",
            "a metric of the namespace itself",
            ("metricLabelSelector",),
        ),
        Operation(
            "namespaces/{namespace}/{resource}/{name}/{subresource}",
            "list{}NamespacedMetricValue",
            "a metric of one object in a namespace, or of all with * as name",
            ("labelSelector", "metricLabelSelector"),
        ),
        Operation(
            "{resource}/{name}/{subresource}",
            "list{}MetricValue",
            "a metric of one object without a namespace, or of all with * as name",
            ("labelSelector", "metricLabelSelector"),
        ),
    ),
)

SERVED: Final = (CUSTOM,)
"""What this program serves, in the order in which it is listed: a row here gives a group its discovery and OpenAPI."""
