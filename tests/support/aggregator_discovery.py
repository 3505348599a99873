"""Discovery as the aggregator merges it: what extension API servers say of themselves, fetched and kept."""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.support import aggregator_wire as wire
from tests.support.aggregator_client import Answer
from tests.support.aggregator_proxy import DISCOVERY_SECONDS, Proxy
from tests.support.aggregator_wire import Outgoing
from tests.support.fake_kube_world import Body

FORMS = ("v2", "v2beta1")
AGGREGATED = tuple(
    f"application/json;g=apidiscovery.k8s.io;v={form};as=APIGroupDiscoveryList" for form in FORMS
)


class Unusable(Exception):
    """Discovery of this group-version failed: it is stale."""


@dataclass
class Known:
    """The aggregated document of one Service."""

    etag: str
    versions: dict[tuple[str, str], Body] = field(default_factory=dict)
    """By (group, version), as they stand in the document."""


class Discovery:
    """Group-versions by APIService name. `trouble` says why one is stale."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
        self._known: dict[tuple[str, str], Known] = {}
        self.entries: dict[str, Body] = {}
        self.trouble: dict[str, str] = {}

    async def fetch(self, name: str) -> bool:
        """One fetch for this APIService; whether it is current now."""
        api = self._proxy.find(name)
        if api is None:
            self.entries.pop(name, None)
            return True
        version = api["spec"]["version"]
        try:
            entry = await self._asked(api)
        except Unusable as error:
            self.entries[name] = {"version": version, "freshness": "Stale"}
            self.trouble[name] = str(error)
            return False
        self.entries[name] = entry | {"version": version, "freshness": "Current"}
        self.trouble.pop(name, None)
        return True

    async def _asked(self, api: Body) -> Body:
        spec = api["spec"]
        service = (spec["service"]["namespace"], spec["service"]["name"])
        known = self._known.get(service)
        headers = [("Accept", ",".join(AGGREGATED)), *_if_none_match(known)]
        answer = await self._get(api, Outgoing(wire.PROBE, "/apis", headers=headers))
        if answer.status == 304 and known is not None:
            return known.versions.get((spec["group"], spec["version"]), {})
        if answer.status == 503:
            raise Unusable(f"service {'/'.join(service)} returned non-success response code: 503")
        if answer.status == 200 and _is_aggregated(answer):
            fresh = self._known[service] = _parsed(answer)
            return fresh.versions.get((spec["group"], spec["version"]), {})
        return await self._old_form(api, known)

    async def _old_form(self, api: Body, known: Known | None) -> Body:
        path = f"/apis/{api['spec']['group']}/{api['spec']['version']}"
        headers = [("Accept", "application/json"), *_if_none_match(known)]
        answer = await self._get(api, Outgoing(wire.FALLBACK, path, headers=headers))
        if answer.status != 200:
            raise Unusable(f"failed to download legacy discovery for {path}: {answer.status}")
        try:
            resources = converted(json.loads(answer.body).get("resources") or [])
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise Unusable(str(error)) from error
        return {"resources": resources} if resources else {}

    async def _get(self, api: Body, outgoing: Outgoing) -> Answer:
        return await self._proxy.own_request("discovery", api, outgoing, DISCOVERY_SECONDS)

    # -- what users get

    def groups(self) -> dict[str, list[str]]:
        """Groups of APIServices with their versions, both in the order of their priorities."""
        specs = [api["spec"] for _, api in self._proxy.registered()]
        groups = sorted(
            {one["group"] for one in specs},
            key=lambda group: (
                -max(one["groupPriorityMinimum"] for one in specs if one["group"] == group),
                group,
            ),
        )
        return {
            group: [
                one["version"]
                for one in sorted(
                    (one for one in specs if one["group"] == group),
                    key=lambda one: (one["versionPriority"], _age(one["version"])),
                    reverse=True,
                )
            ]
            for group in groups
        }

    def aggregated(self) -> list[Body]:
        """Their items in /apis, aggregated form."""
        nothing = {"freshness": "Stale"}
        return [
            {
                "metadata": {"name": group},
                "versions": [
                    {"version": version} | self.entries.get(f"{version}.{group}", nothing)
                    for version in versions
                ],
            }
            for group, versions in self.groups().items()
        ]


def old_form(group: str, versions: list[str]) -> Body:
    """A group in the old form, without kind and apiVersion."""
    listed = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
    return {"name": group, "versions": listed, "preferredVersion": listed[0]}


def converted(resources: list[Body]) -> list[Body]:
    """An APIResourceList in the aggregated form. Raises ValueError where scopes of one parent differ."""
    made: dict[str, Body] = {}
    for one in resources:
        parent, _, part = one["name"].partition("/")
        scope = "Namespaced" if one["namespaced"] else "Cluster"
        kind = {"group": one.get("group", ""), "version": one.get("version", ""), "kind": one["kind"]}
        held = made.setdefault(parent, _parent(parent, scope))
        if held["scope"] != scope:
            raise ValueError(f"unexpected scope {scope} of {one['name']}: {parent} is {held['scope']}")
        if part:
            sub = {"subresource": part, "responseKind": kind, "verbs": one["verbs"]}
            held.setdefault("subresources", []).append(sub)
        else:
            held |= {
                "responseKind": kind,
                "verbs": one["verbs"],
                "singularResource": one.get("singularName", ""),
            }
    return list(made.values())


def _parent(name: str, scope: str) -> Body:
    kind = {"group": "", "version": "", "kind": ""}
    return {"resource": name, "responseKind": kind, "scope": scope, "singularResource": "", "verbs": None}


def _if_none_match(known: Known | None) -> list[tuple[str, str]]:
    return [("If-None-Match", known.etag)] if known and known.etag else []


def _is_aggregated(answer: Answer) -> bool:
    """Whether its type says so; the order of the parameters is free."""
    kind = next((value for name, value in answer.headers if name.lower() == "content-type"), "")
    media, *parameters = kind.replace(" ", "").split(";")
    held = dict(one.split("=", 1) for one in parameters if "=" in one)
    wanted = {"g": "apidiscovery.k8s.io", "as": "APIGroupDiscoveryList"}
    return media == "application/json" and held.get("v") in FORMS and wanted.items() <= held.items()


def _parsed(answer: Answer) -> Known:
    etag = next((value for name, value in answer.headers if name.lower() == "etag"), "")
    try:
        body: Any = json.loads(answer.body)
        found = {
            (group["metadata"]["name"], version["version"]): version
            for group in body.get("items") or ()
            for version in group["versions"]
        }
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise Unusable(str(error)) from error
    return Known(etag, found)


def _age(version: str) -> tuple[int, int, int]:
    """Kubernetes' own order of versions: v2 above v1 above v1beta2 above v1beta1 above v1alpha1."""
    for rank, word in ((1, "beta"), (0, "alpha")):
        if word in version:
            major, _, minor = version.removeprefix("v").partition(word)
            return rank, int(major), int(minor or 0)
    return 2, int(version.removeprefix("v") or 0), 0
