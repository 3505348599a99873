"""What the aggregator writes on the wire: paths, queries and headers as Go's libraries write them. Pure."""

import urllib.parse
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.support.fake_kube_rbac import MASTERS, User

Headers = list[tuple[str, str]]

PROBE = User("system:kube-aggregator", (MASTERS,))
"""Who asks whether an APIService is available, and for the aggregated form of discovery."""

FALLBACK = User("system:kube-aggregator")
"""Who asks for discovery in the old form."""

OPENAPI = User("system:aggregator")

HOP_BY_HOP = frozenset(
    [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ]
)
NOT_FORWARDED = HOP_BY_HOP | {"authorization", "host", "content-length", "x-remote-user", "x-remote-uid"}
CONSUMED = ("x-remote-extra-", "impersonate-")


@dataclass(frozen=True)
class Outgoing:
    """One request to an extension API server, but for where it goes."""

    user: User
    path: str
    """As on the wire."""

    query: str = ""
    method: str = "GET"
    headers: Headers = field(default_factory=list)
    body: bytes = b""

    @property
    def target(self) -> str:
        return f"{self.path}?{self.query}" if self.query else self.path


def path(raw: str) -> str:
    """A path decoded and written anew, as Go's net/url does it: `*` becomes `%2A`, `%2F` becomes `/`."""
    return urllib.parse.quote(urllib.parse.unquote_to_bytes(raw), safe="$&+,/:;=@")


def query(raw: str) -> str:
    """A query decoded and written anew: sorted by key, space as `+`; parts with a raw `;` are dropped."""
    found: dict[bytes, list[bytes]] = {}
    for part in filter(None, raw.split("&")):
        key, _, value = part.partition("=")
        if ";" not in part and _sound(key) and _sound(value):
            found.setdefault(_unquoted(key), []).append(_unquoted(value))
    return "&".join(f"{_quoted(key)}={_quoted(value)}" for key in sorted(found) for value in found[key])


def _sound(text: str) -> bool:
    return all(
        len(one) >= 2 and set(one[:2].lower()) <= set("0123456789abcdef") for one in text.split("%")[1:]
    )


def _unquoted(text: str) -> bytes:
    return urllib.parse.unquote_to_bytes(text.replace("+", " "))


def _quoted(text: bytes) -> str:
    return urllib.parse.quote_plus(text, safe="")


def canonical(name: str) -> str:
    """A header's name as Go writes it: `x-remote-extra-a.b%2Fc` becomes `X-Remote-Extra-A.b%2fc`."""
    return "-".join(part[:1].upper() + part[1:].lower() for part in name.split("-"))


def identity(user: User) -> Headers:
    """The X-Remote-* headers: one line for each group and each value of an extra."""
    found = [("X-Remote-User", user.name)]
    found += [("X-Remote-Uid", user.uid)] if user.uid else []
    found += [("X-Remote-Group", group) for group in user.groups]
    for key, values in user.extra.items():
        found += [(canonical(f"X-Remote-Extra-{_escaped(key)}"), value) for value in values]
    return found


def _escaped(key: str) -> str:
    """Bytes that no header's name may hold, and `%`, percent-encoded."""
    allowed = "!#$&'*+-.^_`|~"
    return "".join(
        chr(one) if chr(one) in allowed or (one < 128 and chr(one).isalnum()) else f"%{one:02X}"
        for one in key.encode()
    )


def forwarded(incoming: Iterable[tuple[str, str]], *, audit_id: str, peer: str) -> Headers:
    """A caller's headers as they go on: without what says who asks, with where the request came from."""
    kept, named = [], set()
    for name, value in incoming:
        if name.lower() == "connection":
            named |= {one.strip().lower() for one in value.split(",")}
    for name, value in incoming:
        low = name.lower()
        if low in NOT_FORWARDED | named or low == "x-remote-group" or low.startswith(CONSUMED):
            continue
        if low not in ("x-forwarded-for", "audit-id"):
            kept.append((canonical(name), value))
    before = [value for name, value in incoming if name.lower() == "x-forwarded-for"]
    return [*kept, ("Audit-Id", audit_id), ("X-Forwarded-For", ", ".join([*before, peer]))]


def complete(outgoing: Outgoing, host: str) -> Headers:
    """All headers of a proxied request, in Go's order; gzip is asked for if the caller did not speak of it."""
    forwarding = {
        "X-Forwarded-Host": host,
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Uri": outgoing.path,
    }
    own = [one for one in outgoing.headers if one[0] not in forwarding]
    return ordered([*own, *forwarding.items(), *identity(outgoing.user)], host)


def ordered(headers: Headers, host: str) -> Headers:
    """Host and User-Agent first, then by name; the Accept-Encoding of the transport last."""
    agent = [one for one in headers if one[0] == "User-Agent"]
    rest = sorted((one for one in headers if one[0] != "User-Agent"), key=lambda one: one[0])
    packing = [] if "Accept-Encoding" in dict(headers) else [("Accept-Encoding", "gzip")]
    return [("Host", host), *agent, *rest, *packing]


def impersonated(headers: Iterable[tuple[str, str]]) -> User | None:
    """Whom the Impersonate-* headers name, or None if nobody."""
    held = [(name.lower(), value) for name, value in headers]
    names = [value for name, value in held if name == "impersonate-user"]
    if not names:
        return None
    extra: dict[str, tuple[str, ...]] = {}
    for name, value in held:
        if name.startswith("impersonate-extra-"):
            key = urllib.parse.unquote(name.removeprefix("impersonate-extra-"))
            extra[key] = (*extra.get(key, ()), value)
    groups = tuple(value for name, value in held if name == "impersonate-group")
    uid = next((value for name, value in held if name == "impersonate-uid"), "")
    return User(names[0], groups, uid, extra)
