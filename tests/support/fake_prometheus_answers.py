"""Answers of the stand-in for Prometheus: envelopes as it writes them, and what else may come instead.

vector(sample({"pod": "a"}, 1))        status(503)        raw(b"<html>")        vector().torn(5)        black_hole()
"""

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One HTTP answer. Build it with the functions below, change it with its methods."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay_seconds: float = 0.0
    black_hole: bool = False
    reset_after: int | None = None
    endless: bool = False

    def after(self, seconds: float) -> "Reply":
        """The same, later."""
        return replace(self, delay_seconds=seconds)

    def torn(self, after_bytes: int) -> "Reply":
        """The same, but the connection is reset after so many bytes of the body; 0: before the status line."""
        return replace(self, reset_after=after_bytes)


def sample(labels: Mapping[str, str], value: float | str, at: float | None = None) -> dict[str, Any]:
    """One sample of a vector; without `at` it carries the time of the answer."""
    return {"metric": dict(labels), "value": [at, _text(value)]}


def histogram(labels: Mapping[str, str], at: float | None = None) -> dict[str, Any]:
    """One native-histogram sample."""
    return {"metric": dict(labels), "histogram": [at, {"count": "1", "sum": "1", "buckets": []}]}


def vector(
    *samples: Mapping[str, Any],
    warnings: Sequence[str] = (),
    infos: Sequence[str] = (),
    now: float | None = None,
) -> Reply:
    """A result of the usual kind."""
    stamp = time.time() if now is None else now
    return success(
        {"resultType": "vector", "result": [_stamped(one, stamp) for one in samples]}, warnings, infos
    )


def scalar(value: float | str, at: float = 0.0) -> Reply:
    return success({"resultType": "scalar", "result": [at, _text(value)]})


def string(value: str, at: float = 0.0) -> Reply:
    return success({"resultType": "string", "result": [at, value]})


def matrix(labels: Mapping[str, str], points: Sequence[tuple[float, float]]) -> Reply:
    values = [[at, _text(value)] for at, value in points]
    return success({"resultType": "matrix", "result": [{"metric": dict(labels), "values": values}]})


def success(data: object, warnings: Sequence[str] = (), infos: Sequence[str] = ()) -> Reply:
    """An envelope around any data."""
    envelope: dict[str, object] = {"status": "success", "data": data}
    if warnings:
        envelope["warnings"] = list(warnings)
    if infos:
        envelope["infos"] = list(infos)
    return Reply(json.dumps(envelope).encode())


def refusal(error_type: str, message: str = "no", *, code: int = 400) -> Reply:
    """An envelope with `status: error`."""
    body = {"status": "error", "errorType": error_type, "error": message}
    return Reply(json.dumps(body).encode(), code)


def status(code: int, body: bytes = b"", **headers: str) -> Reply:
    """A bare status, not of Prometheus's making."""
    return Reply(body, code, headers, "text/plain")


def raw(body: bytes, content_type: str = "application/json", **headers: str) -> Reply:
    """200 with any body; `Content_Encoding="gzip"` gives that header."""
    return Reply(body, 200, {name.replace("_", "-"): value for name, value in headers.items()}, content_type)


def black_hole() -> Reply:
    """The request is read and never answered."""
    return Reply(black_hole=True)


def endless() -> Reply:
    """An answer that begins well and goes on until the connection is closed; see FakePrometheus.sent_bytes."""
    return Reply(b'{"status":"success","data":', endless=True)


def _stamped(one: Mapping[str, Any], now: float) -> dict[str, Any]:
    key = "histogram" if "histogram" in one else "value"
    at, content = one[key]
    return {**one, key: [round(now, 3) if at is None else at, content]}


def _text(value: float | str) -> str:
    """A number as Prometheus writes it."""
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(float(value)).removesuffix(".0")
