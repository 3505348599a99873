"""APIServices as plain data: how ours look, whose one is, and what to say of somebody else's.

The certificate check is never skipped: a registration of ours has the CAs to trust or waits for them, and a document
that says otherwise loses that word as soon as we write it.
"""

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from adapter.wire.apis import Api
from adapter.wire.stored import Document

API_VERSION: Final = "apiregistration.k8s.io/v1"

MARK: Final = "app.kubernetes.io/managed-by"
OURS: Final = "hpa-adapter"
"""The label of what `register` made, and `unregister` may remove."""

GROUP_PRIORITY: Final = 100
"""Low: the group has resources called `pods`, which must not win the name over the real ones."""

VERSION_PRIORITY_STEP: Final = 100
"""From one version to the next that callers like better; the last one has this much."""

SPEC: Final = ("group", "version", "groupPriorityMinimum", "versionPriority", "service", "caBundle")
"""What a registration of ours says; there is no seventh word that it could need."""


@dataclass(frozen=True, slots=True)
class Service:
    """The Service to which the API server sends requests."""

    name: str
    namespace: str
    port: int = 443

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Product:
    """Another program that serves metrics, known by one of these words in its Service's name."""

    words: tuple[str, ...]
    name: str
    advice: str


PRODUCTS: Final = (
    Product(
        ("prometheus-adapter", "custom-metrics-apiserver"),
        "prometheus-adapter",
        "carry its rules over first: --config reads its file as it is. Then register with --take-over, and uninstall "
        "it; if that removes the registration too, register once more",
    ),
    Product(
        ("keda",),
        "KEDA",
        "its ScaledObjects stop scaling when the group goes elsewhere: leave it to KEDA, or replace them first. "
        "KEDA itself needs external.metrics.k8s.io and no other group",
    ),
    Product(
        ("metrics-server",),
        "metrics-server",
        "`kubectl top` and autoscaling by CPU and memory depend on it: leave v1beta1.metrics.k8s.io to it. "
        "In any other group its name is a mistake, which may be taken over",
    ),
)

STRANGER: Final = (
    "ask who runs it: a group has one server, and its autoscalers go blind when it is taken away"
)


def names(apis: Iterable[Api]) -> tuple[str, ...]:
    """The names of the registrations of these groups, one for each version."""
    return tuple(f"{version}.{api.group}" for api in apis for version in api.versions)


def documents(apis: Iterable[Api], service: Service, bundle: bytes) -> tuple[Document, ...]:
    """The registrations of these groups. `bundle` (PEM) may be empty: then it is for somebody else to fill in."""
    return tuple(_document(api, place, service, bundle) for api in apis for place in range(len(api.versions)))


def service_of(document: Document) -> Service | None:
    """The Service that it names; None: the API server itself answers."""
    service = document.get("spec", {}).get("service")
    if not service:
        return None
    return Service(service.get("name", ""), service.get("namespace", ""), service.get("port", 443))


def names_service(document: Document, service: Service) -> bool:
    """Whether it names this Service, at whatever port."""
    found = service_of(document)
    return found is not None and str(found) == str(service)


def mark_of(document: Document) -> str:
    """Who says that it is his, "" if nobody does."""
    mark: str = (document["metadata"].get("labels") or {}).get(MARK, "")
    return mark


def bundle_of(document: Document) -> bytes:
    """The CAs (PEM) against which the API server checks the adapter's certificate."""
    try:
        return base64.b64decode(document.get("spec", {}).get("caBundle") or "")
    except (binascii.Error, TypeError):
        return b""


def with_bundle(document: Document, bundle: bytes) -> Document:
    """The same with these CAs."""
    spec = {key: value for key, value in document["spec"].items() if key in SPEC}
    return document | {"spec": spec | {"caBundle": base64.b64encode(bundle).decode()}}


def merged(found: Document, wanted: Document) -> Document:
    """`found` made to say what `wanted` says; nothing but its spec and, if nobody else's is there, our mark changes.

    Of the CAs that are there those of our own Service stay, if `wanted` has none.
    """
    spec = dict(wanted["spec"])
    same_service = str(service_of(found)) == str(service_of(wanted))
    if "caBundle" not in spec and same_service and bundle_of(found):
        spec["caBundle"] = found["spec"]["caBundle"]
    mark = mark_of(found) if same_service else ""
    labels = (found["metadata"].get("labels") or {}) | {MARK: mark or OURS}
    return found | {"spec": spec, "metadata": found["metadata"] | {"labels": labels}}


def stranger(document: Document) -> tuple[str, str]:
    """(who answers there, what to do about it), for a registration that names another Service than ours."""
    service = service_of(document)
    if service is None:
        return "the API server itself", STRANGER
    if mark_of(document) == OURS:
        return f"another installation of this adapter, {service}", "unregister it there first"
    for product in PRODUCTS:
        if any(word in service.name for word in product.words):
            return f"{product.name}, {service}", product.advice
    return str(service), STRANGER


def _document(api: Api, place: int, service: Service, bundle: bytes) -> Document:
    version = api.versions[place]
    spec = {
        "group": api.group,
        "version": version,
        "groupPriorityMinimum": GROUP_PRIORITY,
        "versionPriority": VERSION_PRIORITY_STEP * (len(api.versions) - place),
        "service": {"name": service.name, "namespace": service.namespace, "port": service.port},
    }
    if bundle:
        spec["caBundle"] = base64.b64encode(bundle).decode()
    metadata = {"name": f"{version}.{api.group}", "labels": {MARK: OURS}}
    return {"apiVersion": API_VERSION, "kind": "APIService", "metadata": metadata, "spec": spec}
