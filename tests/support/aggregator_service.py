"""Where an APIService's Service is: what the API server looks up before it dials, and what kube-proxy then does."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from tests.support.fake_kube_world import Body, World

SLICE_LABEL = "kubernetes.io/service-name"


@dataclass(frozen=True)
class Place:
    """`shown` is the address that the API server dials; `address` and `port` are where that leads."""

    shown: str
    address: str
    port: int


class NotThere(Exception):
    """No place: `reason` and text are those of the APIService's condition."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Services:
    """Services and EndpointSlices of a world. Endpoints take turns.

    `by_proxy`: connections to a ClusterIP end at an endpoint, as behind kube-proxy; otherwise the ClusterIP is dialled.
    """

    def __init__(self, world: World, *, by_proxy: bool = True) -> None:
        self._world, self._by_proxy = world, by_proxy
        self._turn = itertools.count()

    def check(self, wanted: Body) -> None:
        """Raises NotThere as the availability check does before it asks anything."""
        name, namespace = wanted["name"], wanted["namespace"]
        port = self._port(wanted)
        if not self._slices(name, namespace):
            text = f'cannot find endpointslices for service/{name} in "{namespace}"'
            raise NotThere("EndpointsNotFound", text)
        if not self._endpoints(name, namespace, port.get("name", "")):
            text = f'endpointslices for service/{name} in "{namespace}" have no addresses with port name "{port.get("name", "")}"'
            raise NotThere("MissingEndpoints", text)

    def place(self, wanted: Body) -> Place:
        """Where a new connection goes. Raises NotThere."""
        port = self._port(wanted)
        address = self._service(wanted)["spec"]["clusterIP"]
        shown = f"{address}:{wanted.get('port', 443)}"
        if not self._by_proxy:
            return Place(shown, address, wanted.get("port", 443))
        ready = self._endpoints(wanted["name"], wanted["namespace"], port.get("name", ""))
        if not ready:
            return Place(shown, "127.0.0.1", 1)  # kube-proxy rejects it; nobody listens here
        chosen, target = ready[next(self._turn) % len(ready)]
        return Place(shown, chosen, target)

    def _service(self, wanted: Body) -> Body:
        name, namespace = wanted["name"], wanted["namespace"]
        found = self._world.objects.get(self._world.kind("services"), {}).get((namespace, name))
        if found is None:
            raise NotThere("ServiceNotFound", f'service/{name} in "{namespace}" is not present')
        return found

    def _port(self, wanted: Body) -> Body:
        number = wanted.get("port", 443)
        for port in self._service(wanted)["spec"]["ports"]:
            if port["port"] == number:
                found: Body = port
                return found
        text = f'service/{wanted["name"]} in "{wanted["namespace"]}" is not listening on port {number}'
        raise NotThere("ServicePortError", text)

    def _slices(self, name: str, namespace: str) -> list[Body]:
        held = self._world.objects.get(self._world.kind("endpointslices.discovery.k8s.io"), {})
        return [
            one
            for (place, _), one in sorted(held.items())
            if place == namespace and (one["metadata"].get("labels") or {}).get(SLICE_LABEL) == name
        ]

    def _endpoints(self, name: str, namespace: str, port_name: str) -> list[tuple[str, int]]:
        return [found for one in self._slices(name, namespace) for found in _ready(one, port_name)]


def objects(
    name: str, namespace: str, *endpoints: tuple[str, int], cluster_ip: str, port: int = 443
) -> Iterator[tuple[str, Body]]:
    """(kind, body) of a Service and its EndpointSlices: one for each endpoint, as its port may be its own."""
    ports = [{"name": "https", "port": port, "targetPort": "https", "protocol": "TCP"}]
    yield (
        "services",
        {
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"clusterIP": cluster_ip, "ports": ports},
        },
    )
    for number, (address, target) in enumerate(endpoints):
        yield (
            "endpointslices.discovery.k8s.io",
            {
                "metadata": {
                    "name": f"{name}-{number}",
                    "namespace": namespace,
                    "labels": {SLICE_LABEL: name},
                },
                "addressType": "IPv4",
                "ports": [{"name": "https", "port": target, "protocol": "TCP"}],
                "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
            },
        )


def _ready(one: Body, port_name: str) -> Iterator[tuple[str, int]]:
    for port in one.get("ports") or ():
        if port.get("name", "") != port_name:
            continue
        for endpoint in one.get("endpoints") or ():
            if (endpoint.get("conditions") or {}).get("ready") is not False:
                yield from ((address, port["port"]) for address in endpoint["addresses"])
