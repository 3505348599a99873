"""Answers as kube-apiserver writes them, failures above all."""

import json

from aiohttp import web

from tests.support.fake_kube_world import Body, Kind

USER = "system:serviceaccount:custom-metrics:adapter"


class Refusal(Exception):
    """This becomes a Status."""

    def __init__(self, code: int, reason: str, message: str, details: Body | None = None) -> None:
        super().__init__(message)
        self.code, self.reason, self.details = code, reason, details


def status(refusal: Refusal) -> Body:
    """A failure as the API server writes it."""
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": str(refusal),
    }
    details = {"details": refusal.details} if refusal.details is not None else {}
    return body | {"reason": refusal.reason} | details | {"code": refusal.code}


def expired(text: str) -> Body:
    """The event that ends a watch whose version is too old."""
    return {"type": "ERROR", "object": status(Refusal(410, "Expired", text))}


def forbidden(verb: str, kind: Kind) -> Refusal:
    text = (
        f'{kind.name} is forbidden: User "{USER}" cannot {verb} resource "{kind.plural}" '
        f'in API group "{kind.group}" at the cluster scope'
    )
    return Refusal(
        403,
        "Forbidden",
        text,
        {"group": kind.group, "kind": kind.plural} if kind.group else {"kind": kind.plural},
    )


def not_found(kind: Kind, name: str) -> Refusal:
    return Refusal(404, "NotFound", f'{kind.name} "{name}" not found', {"name": name, "kind": kind.plural})


def reply(body: Body, status: int = 200, content_type: str = "application/json") -> web.Response:
    """JSON, without a charset in its type."""
    return web.Response(body=json.dumps(body).encode(), status=status, headers={"Content-Type": content_type})
