"""The family of errors that become answers.

    AdapterError
    ├── BadRequest 400
    │   ├── InvalidName          a path segment that no Kubernetes name can be
    │   ├── InvalidPath          a path of three parts under namespaces
    │   ├── InvalidSelector      labelSelector that does not parse, or is too large
    │   │   └── InvalidMetricSelector  the same of metricLabelSelector (upstream: 500)
    │   └── InvalidTimeout       ?timeout= that is no duration
    ├── NotAuthenticated 401     nobody whom the cluster knows
    ├── NotAllowed 403           somebody, and he may not
    ├── Missing 404
    │   ├── PathUnknown          no such path
    │   ├── MetricUnknown        no rule offers this metric for this resource
    │   ├── RuleUnusable         a rule offers it, but its query cannot be built
    │   ├── NoObjects            the selector matches no object
    │   └── NoValue              the backend answered, and no number is left: why is in the cause word
    ├── OnlyReading 405          a method other than GET
    ├── OnlyJson 406             the caller accepts no JSON
    ├── Overloaded 429           too many requests in flight, or waiting for the backend
    ├── RuleRejected 500         the backend refuses the query, or answers with another type
    ├── ObjectsNotListable 500   the API server does not let us list this kind
    ├── Bug 500                  ours
    ├── AccessUnknown 503        the API server does not say who asks, or whether he may
    ├── StillStarting 503        the first catalog or object list is not there yet
    ├── BackendUnavailable 503   down, 5xx, 429
    │   ├── BackendPartial       it answered in part, or with warnings
    │   └── BackendBadAnswer     what it sent is no answer
    └── BackendTimeout 504       too slow

Each knows its HTTP status, Kubernetes reason and a stable cause word; `wire/status.py` is the one place that
turns one into bytes. `upstream` is what prometheus-adapter answers in the same case, where that differs
(docs/upstream.md 3.4); it is used with `--compat=prometheus-adapter` only.
"""

from dataclasses import dataclass
from typing import ClassVar

NO_METRICS = "unable to fetch metrics"
NO_LISTING = "unable to list matching resources"
SHOWN_CHARACTERS = 64
"""How much of a caller's text an error shows: enough to find it, too little to flood a log with."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """prometheus-adapter's form of an error: a message of None keeps ours; `reason` may be empty."""

    status: int
    reason: str
    message: str | None = None
    internal: str | None = None
    """Text of the one cause that Go's InternalError carries in its details."""


def internal(text: str) -> Upstream:
    """Go's apierrors.NewInternalError around `text`."""
    return Upstream(500, "InternalError", f"Internal error occurred: {text}", text)


class AdapterError(Exception):
    """This is a failure that a caller is told of. `message` is upstream's text, `next_step` what to do."""

    status: ClassVar[int] = 500
    reason: ClassVar[str] = "InternalError"
    cause: str = "Bug"
    next_step: str = "this is a fault of the adapter: please report it with the log of this moment"
    upstream: ClassVar[Upstream | None] = None

    def __init__(self, message: str, *, next_step: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if next_step is not None:
            self.next_step = next_step


class BadRequest(AdapterError):
    status, reason, cause = 400, "BadRequest", "BadRequest"
    next_step = "correct the request"


class InvalidName(BadRequest):
    cause = "InvalidName"
    next_step = "a name is 1 to 253 characters without '/', '%' and control characters, and not '.' or '..'"


class InvalidPath(BadRequest):
    cause = "InvalidPath"
    next_step = "ask for namespaces/NAMESPACE/RESOURCE/NAME/METRIC or namespaces/NAMESPACE/metrics/METRIC"


class InvalidSelector(BadRequest):
    cause = "InvalidSelector"
    next_step = "write labelSelector as key=value, key!=value, key in (a,b), key notin (a,b), key or !key"


class InvalidMetricSelector(InvalidSelector):
    next_step = (
        "write metricLabelSelector as key=value, key!=value, key in (a,b), key notin (a,b), key or !key"
    )
    upstream = Upstream(500, "")


class InvalidTimeout(BadRequest):
    cause = "InvalidTimeout"
    next_step = "write ?timeout= as a Go duration such as 5s or 500ms"


class NotAuthenticated(AdapterError):
    """The message tells nothing of why: who is not known is not told what would be believed."""

    status, reason, cause = 401, "Unauthorized", "NotAuthenticated"
    next_step = (
        "ask through the API server, or with a client certificate or bearer token of the cluster; "
        "right after a start, ask again in a few seconds"
    )

    def __init__(self, message: str = "Unauthorized") -> None:
        super().__init__(message)


class NotAllowed(AdapterError):
    """The message is RBAC's sentence; `details` name the object of it, if it is about one."""

    status, reason, cause = 403, "Forbidden", "NotAllowed"
    next_step = "grant this by a Role or ClusterRole, and bind it to the user or one of his groups"

    def __init__(self, message: str, *, name: str = "", group: str = "", kind: str = "") -> None:
        super().__init__(message)
        members = {"name": name, "group": group, "kind": kind}
        self.details = {key: value for key, value in members.items() if value}


class Missing(AdapterError):
    status, reason, cause = 404, "NotFound", "NotFound"
    next_step = "see the adapter's discovery for what it offers"


class PathUnknown(Missing):
    cause = "PathUnknown"
    next_step = "GET /apis lists what is served"


class MetricUnknown(Missing):
    cause = "MetricUnknown"
    next_step = (
        "no rule offers this metric for this resource; the group-version's discovery lists what is on offer"
    )


class RuleUnusable(Missing):
    cause = "RuleUnusable"


class NoObjects(Missing):
    cause = "NoObjects"
    next_step = "no object matches the selector in this namespace; compare it with the objects' labels"


NO_VALUE_STEPS = {
    "NoSample": "the query gives no sample at all; run it in Prometheus, and check that the targets are up",
    "ObjectHasNoValue": "the query gives no sample for this object; check that it exposes the series and is scraped",
    "NotFinite": "the query gives NaN or infinity, which is no value; set onNaN: zero in the rule if it means zero",
    "TooLarge": "the value is beyond what a quantity can say; scale it in the query, or set onOverflow: saturate",
    "Ambiguous": "several samples stand for one object; aggregate in the query, or set onDuplicate: sum, max or last",
    "Histogram": "the query gives native histograms; apply histogram_quantile or another function that gives a number",
}
"""What to do about a missing value, by its cause word."""


class NoValue(Missing):
    """No number is left for what was asked; `cause` is a key of NO_VALUE_STEPS."""

    def __init__(self, message: str, *, cause: str) -> None:
        super().__init__(message, next_step=NO_VALUE_STEPS[cause])
        self.cause = cause


class OnlyReading(AdapterError):
    status, reason, cause = 405, "MethodNotAllowed", "OnlyReading"
    next_step = "this API is read with GET"


class OnlyJson(AdapterError):
    status, reason, cause = 406, "NotAcceptable", "OnlyJson"
    next_step = "accept application/json"


class Overloaded(AdapterError):
    status, reason, cause = 429, "TooManyRequests", "Overloaded"
    next_step = "ask again at the next autoscaler round, or run more replicas"


class RuleRejected(AdapterError):
    cause = "RuleRejected"
    next_step = "the backend refuses the query of this rule; the log has its words"
    upstream = internal(NO_METRICS)


class ObjectsNotListable(AdapterError):
    cause = "ObjectsNotListable"
    next_step = "grant the adapter list and watch on this resource, or ask for one object by name"
    upstream = internal(NO_LISTING)


class Bug(AdapterError):
    pass


class AccessUnknown(AdapterError):
    status, reason, cause = 503, "ServiceUnavailable", "AccessUnknown"
    next_step = (
        "check that the API server answers, and that the adapter may create tokenreviews "
        "and subjectaccessreviews"
    )
    upstream = Upstream(500, "InternalError")


class StillStarting(AdapterError):
    status, reason, cause = 503, "ServiceUnavailable", "StillStarting"
    next_step = "the first list is on its way; ask again in a few seconds"


class BackendUnavailable(AdapterError):
    status, reason, cause = 503, "ServiceUnavailable", "BackendUnavailable"
    next_step = "check that the metrics backend runs and is reachable from the adapter"
    upstream = internal(NO_METRICS)


class BackendPartial(BackendUnavailable):
    cause = "BackendPartial"
    next_step = "the backend answered with warnings; mend it, or set onWarnings: accept in the rule"


class BackendBadAnswer(BackendUnavailable):
    cause = "BackendBadAnswer"
    next_step = (
        "check that --prometheus-url names a Prometheus-compatible API and not a login page or a proxy"
    )


class BackendTimeout(AdapterError):
    status, reason, cause = 504, "Timeout", "BackendTimeout"
    next_step = (
        "the backend did not answer in time; make the rule's query cheaper, for example by a recording rule"
    )
    upstream = Upstream(504, "Timeout", "Timeout: request did not complete within the allotted timeout")


def shown(text: str) -> str:
    """This is a caller's text as an error may show it: escaped, and cut to SHOWN_CHARACTERS."""
    escaped = text.encode("unicode_escape").decode("ascii")
    return escaped if len(escaped) <= SHOWN_CHARACTERS else escaped[:SHOWN_CHARACTERS] + "..."
