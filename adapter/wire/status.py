"""The one place that turns an error into what a caller sees: a number and a Status object.

The autoscaler copies `message` into the HPA's conditions, where `kubectl describe hpa` shows it; so the cause
and the next step stand in it. Programs read the same words in `details`.
"""

from typing import Any

import msgspec

from adapter.errors import AdapterError, NotAllowed, NotAuthenticated, OnlyReading, PathUnknown, Upstream

MAX_MESSAGE_CHARACTERS = 2048
"""Of the text before the cause, which may hold the caller's own: two of Kubernetes' longest explanations."""

_NEGOTIATION = "406: "
_ADDED_BY_ROUTER = (PathUnknown, OnlyReading)
"""What upstream's router refuses, and not its handlers, has empty details (and 406 with this prefix)."""

_GATEWAY_TIMEOUT = 504

_encode = msgspec.json.Encoder().encode


def failure(error: AdapterError, *, compat: bool) -> tuple[int, bytes]:
    """This is the HTTP status and body that tell of `error`; with `compat` byte for byte upstream's.

    No body carries retryAfterSeconds: it would hold one of the autoscaler's workers (docs/design.md D5).
    """
    return _as_upstream(error) if compat else _with_cause(error)


def _with_cause(error: AdapterError) -> tuple[int, bytes]:
    message = _sendable(error.message)
    if len(message) > MAX_MESSAGE_CHARACTERS:
        message = message[:MAX_MESSAGE_CHARACTERS] + "..."
    causes = {"causes": [{"reason": error.cause, "message": error.next_step}]}
    # Clients and people look for the bare word, and nobody is told more in passing.
    told = "" if isinstance(error, NotAuthenticated) else f": {error.cause}: {error.next_step}"
    form = Upstream(error.status, error.reason, message + told)
    return error.status, _body(form, _object(error) | causes)


def _as_upstream(error: AdapterError) -> tuple[int, bytes]:
    form = error.upstream or Upstream(error.status, error.reason)
    message = _sendable(error.message) if form.message is None else form.message
    form = Upstream(form.status, form.reason, message, form.internal)
    # Upstream's guard against slow requests bypasses the encoder that adds kind and apiVersion.
    return form.status, _body(form, _details(error, form), typed=form.status != _GATEWAY_TIMEOUT)


def _details(error: AdapterError, form: Upstream) -> dict[str, Any] | None:
    if form.internal is not None:
        return {"causes": [{"message": form.internal}]}
    if isinstance(error, NotAllowed):
        return _object(error)
    added = isinstance(error, _ADDED_BY_ROUTER) or (form.message or "").startswith(_NEGOTIATION)
    return {} if added or form.status == _GATEWAY_TIMEOUT else None


def _object(error: AdapterError) -> dict[str, Any]:
    """What a refusal is about: its name, group and kind as far as it has them."""
    if not isinstance(error, NotAllowed):
        return {}
    return {key: _sendable(value) for key, value in error.details.items()}


def _body(form: Upstream, details: dict[str, Any] | None, *, typed: bool = True) -> bytes:
    members: dict[str, Any] = {"kind": "Status", "apiVersion": "v1"} if typed else {}
    members |= {"metadata": {}, "status": "Failure", "message": form.message}
    if form.reason:
        members["reason"] = form.reason
    if details is not None:
        members["details"] = details
    members["code"] = form.status
    return _encode(members) + b"\n"


def _sendable(text: str) -> str:
    """A caller's bytes that were no UTF-8 cannot be sent as they are."""
    return text.encode("utf-8", "replace").decode("utf-8")
