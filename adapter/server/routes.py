"""Every path in one table, and how a request's path is matched against it.

A path is split at "/" first and decoded after, so that `%2F` stays inside its segment and is refused there: the
same parse will decide what a caller may see.
"""

import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from adapter.wire import lists

CUSTOM: Final = lists.GROUP
CUSTOM_VERSIONS: Final = ("v1beta2", "v1beta1")
"""In the order of preference."""


@dataclass(frozen=True, slots=True)
class Route:
    """One path: `{name}` stands for a segment. `action` names a method of Handlers."""

    pattern: str
    action: str

    @property
    def segments(self) -> tuple[str, ...]:
        """The pattern, cut at its slashes."""
        return tuple(self.pattern.strip("/").split("/"))


@dataclass(frozen=True, slots=True)
class Match:
    """A path that is in the table: its action, and the segments that `{...}` stood for, decoded."""

    action: str
    parts: Mapping[str, str]


TABLE: Final = (
    Route("/", "root"),
    Route("/livez", "livez"),
    Route("/livez/{check}", "livez"),
    Route("/readyz", "readyz"),
    Route("/readyz/{check}", "readyz"),
    Route("/healthz", "healthz"),
    Route("/healthz/{check}", "healthz"),
    Route("/version", "version"),
    Route("/metrics", "metrics"),
    Route("/apis", "groups"),
    Route(f"/apis/{CUSTOM}", "custom_group"),
    Route(f"/apis/{CUSTOM}/{{version}}", "custom_resources"),
    Route(f"/apis/{CUSTOM}/{{version}}/namespaces/{{namespace}}/metrics/{{metric}}", "namespace_values"),
    Route(f"/apis/{CUSTOM}/{{version}}/namespaces/{{namespace}}/{{resource}}/{{name}}/{{metric}}", "values"),
    Route(f"/apis/{CUSTOM}/{{version}}/{{resource}}/{{name}}/{{metric}}", "values"),
)
PATHS: Final = tuple(sorted(row.pattern for row in TABLE if "{" not in row.pattern)) + tuple(
    f"/apis/{CUSTOM}/{version}" for version in CUSTOM_VERSIONS
)
"""What GET / lists."""

_BY_LENGTH: Final[dict[int, list[tuple[Route, tuple[str, ...]]]]] = {}
for _row in TABLE:
    _BY_LENGTH.setdefault(len(_row.segments), []).append((_row, _row.segments))


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
    for route, segments in _BY_LENGTH.get(len(decoded), ()):
        parts = _fits(segments, decoded)
        if parts is not None and parts.get("version", CUSTOM_VERSIONS[0]) in CUSTOM_VERSIONS:
            return Match(route.action, parts)
    return None


def in_served_version(raw_path: str) -> bool:
    """Whether the path lies below a group-version that is served: upstream words its 404 otherwise there."""
    return any(raw_path.startswith(f"/apis/{CUSTOM}/{version}/") for version in CUSTOM_VERSIONS)


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
