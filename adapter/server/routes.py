"""Every path in one table, and how a request's path is matched against it.

A path is split at "/" first and decoded after, so that `%2F` stays inside its segment and is refused there: the
same parse will decide what a caller may see.
"""

import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from adapter.wire import apis

CUSTOM: Final = apis.CUSTOM.group

OPEN: Final = "open"
"""Answered without asking who asks: probes, whose caller has no identity."""

DISCOVERY: Final = "discovery"
"""Answered to whoever the front proxy vouches for, others need a permission: it must never fail (docs/design.md D5)."""

REVIEW: Final = "review"
"""Answered to those who may."""

NO_RESOURCE: Final = "the server could not find the requested resource"


@dataclass(frozen=True, slots=True)
class Route:
    """One path: `{name}` stands for a segment. `action` names a method of Handlers.

    `access` says who gets an answer. `any_accept`: it has one form, whatever a caller accepts.
    """

    pattern: str
    action: str
    access: str
    any_accept: bool = False

    @property
    def segments(self) -> tuple[str, ...]:
        """The pattern, cut at its slashes."""
        return tuple(self.pattern.strip("/").split("/"))


@dataclass(frozen=True, slots=True)
class Match:
    """A path that is in the table: its row, and the segments that `{...}` stood for, decoded."""

    route: Route
    parts: Mapping[str, str]

    @property
    def action(self) -> str:
        """The method of Handlers that answers."""
        return self.route.action

    @property
    def access(self) -> str:
        """Who gets an answer."""
        return self.route.access

    @property
    def any_accept(self) -> bool:
        """Whether the answer has one form, whatever a caller accepts."""
        return self.route.any_accept


def _described(group: str) -> tuple[Route, ...]:
    """The paths of what is said about a group."""
    return (
        Route(f"/apis/{group}", "discovery", DISCOVERY, any_accept=True),
        Route(f"/apis/{group}/{{version}}", "discovery", DISCOVERY, any_accept=True),
        Route(f"/openapi/v3/apis/{group}", "openapi", DISCOVERY),
        Route(f"/openapi/v3/apis/{group}/{{version}}", "openapi", DISCOVERY),
    )


TABLE: Final = (
    Route("/", "root", DISCOVERY),
    Route("/livez", "livez", OPEN, any_accept=True),
    Route("/livez/{check}", "livez", OPEN, any_accept=True),
    Route("/readyz", "readyz", OPEN, any_accept=True),
    Route("/readyz/{check}", "readyz", OPEN, any_accept=True),
    Route("/healthz", "healthz", OPEN, any_accept=True),
    Route("/healthz/{check}", "healthz", OPEN, any_accept=True),
    Route("/version", "version", DISCOVERY),
    Route("/metrics", "metrics", REVIEW, any_accept=True),
    Route("/apis", "discovery", DISCOVERY, any_accept=True),
    Route("/openapi/v2", "openapi", DISCOVERY),
    Route("/openapi/v3", "openapi", DISCOVERY),
    *(row for api in apis.SERVED for row in _described(api.group)),
    Route(
        f"/apis/{CUSTOM}/{{version}}/namespaces/{{namespace}}/metrics/{{metric}}", "namespace_values", REVIEW
    ),
    Route(
        f"/apis/{CUSTOM}/{{version}}/namespaces/{{namespace}}/{{resource}}/{{name}}/{{metric}}",
        "values",
        REVIEW,
    ),
    Route(f"/apis/{CUSTOM}/{{version}}/{{resource}}/{{name}}/{{metric}}", "values", REVIEW),
)
PATHS: Final = tuple(
    sorted(row.pattern for row in TABLE if "{" not in row.pattern and "/openapi/v3/" not in row.pattern)
) + tuple(f"/apis/{api.group}/{version}" for api in apis.SERVED for version in api.versions)
"""What GET / lists."""

_BY_LENGTH: Final[dict[int, list[tuple[Route, tuple[str, ...], tuple[str, ...]]]]] = {}
for _row in TABLE:
    _versions = next((api.versions for api in apis.SERVED if api.group in _row.segments), ())
    _BY_LENGTH.setdefault(len(_row.segments), []).append((_row, _row.segments, _versions))


def match(raw_path: str) -> Match | None:
    """The row that `raw_path` (still percent-encoded, without its query) belongs to.

    One trailing slash is as none; a doubled slash matches nothing. Undecodable bytes become U+FFFD, which no name
    holds.
    """
    if not raw_path.startswith("/"):
        return None
    trimmed = raw_path[1:-1] if raw_path.endswith("/") and len(raw_path) > 1 else raw_path[1:]
    raw_segments = trimmed.split("/")
    decoded = [urllib.parse.unquote(one) for one in raw_segments]
    for route, segments, versions in _BY_LENGTH.get(len(decoded), ()):
        parts = _fits(segments, decoded)
        if parts is not None and ("version" not in parts or parts["version"] in versions):
            return Match(route, parts)
    return None


def canonical(raw_path: str) -> str:
    """A path that matched, as the table writes it: decoded, without a slash at its end."""
    return urllib.parse.unquote(raw_path).rstrip("/")


def in_served_version(raw_path: str) -> bool:
    """Whether the path lies below a group-version that is served: upstream words its 404 otherwise there."""
    return any(
        raw_path.startswith(f"/apis/{api.group}/{version}/")
        for api in apis.SERVED
        for version in api.versions
    )


def _fits(segments: tuple[str, ...], decoded: list[str]) -> dict[str, str] | None:
    parts: dict[str, str] = {}
    for want, got in zip(segments, decoded, strict=True):
        if want.startswith("{"):
            if not got:
                return None
            parts[want[1:-1]] = got
        elif want != got:
            return None
    return parts
