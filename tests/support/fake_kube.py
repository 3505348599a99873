"""A stand-in for kube-apiserver on loopback: discovery, lists, watches, and every way in which they break.

    async with FakeKube() as kube:
        kube.put("pods", "web-1", "shop", labels={"app": "web"})
        kube.delete("pods", "web-1", "shop")
        kube.fail("list", "pods", status=503, times=1)     # or hang=True, drop=True, body=b"<html>"
        kube.forbid("pods"); kube.drop("pods"); kube.freeze("pods"); kube.expire(); kube.bookmark("pods")
        kube.tell("pods", {"type": "STRANGE", "object": {}})
        kube.publish_authorities(pki.data())               # again: a rotation; None: there is no such ConfigMap
        kube.reviews.know("token", "alice", ["dev"]); kube.reviews.allow("alice", namespace="shop")
        kube.slow("post", "tokenreviews.authentication.k8s.io", gate=event)
        ... kube.url, kube.count("list", "pods"), kube.asked, kube.busiest, kube.reviews.questions

As a process of its own: python -m tests.support.fake_kube --objects FILE --port N. Objects change there by PUT and
DELETE at their usual paths.
"""

import argparse
import asyncio
import contextlib
import ssl
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import yaml
from aiohttp import web

from tests.support.fake_kube_answers import Answers, parted, watching
from tests.support.fake_kube_faults import Asked, Elsewhere, Faults
from tests.support.fake_kube_refusals import Refusal, expired, forbidden, reply, status
from tests.support.fake_kube_watch import CLOSE, DROP, FREEZE, Stream
from tests.support.fake_kube_world import Body, Kind, World, documents, usual_kinds

AUTHORITIES = "extension-apiserver-authentication"
AUTHORITIES_NAMESPACE = "kube-system"


class FakeKube(Answers, Faults):
    """One API server. `world` is what it holds; this class's fields may be changed at any time."""

    def __init__(
        self, kinds: list[Kind] | None = None, *, tls: ssl.SSLContext | None = None, port: int = 0
    ) -> None:
        Answers.__init__(self, World(usual_kinds() if kinds is None else kinds))
        Faults.__init__(self)
        self.tokens: set[str] = set()
        """Bearer tokens that are known; empty: everybody is."""

        self._tls, self.port = tls, port
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Listen, on the same port as before if it was stopped."""
        self._runner = web.AppRunner(
            self.application(),
            access_log=None,
            shutdown_timeout=0.01,
            handler_cancellation=True,
            max_line_size=2**20,
            max_field_size=2**20,
            max_headers=4096,
        )
        await self._runner.setup()
        await web.TCPSite(
            self._runner, "127.0.0.1", self.port, ssl_context=self._tls, reuse_address=True
        ).start()
        self.port = self._runner.addresses[0][1]

    def application(self) -> web.Application:
        app = web.Application(client_max_size=2**24)
        app.router.add_route("*", "/{path:.*}", self._handle)
        return app

    async def stop(self) -> None:
        """Close the port and every connection."""
        for stream in list(self.streams):
            stream.queue.put_nowait(DROP)
        if self._runner is not None:
            await self._runner.cleanup()

    # -- what the cluster holds

    def put(self, kind: str, name: str, namespace: str = "", **metadata: Any) -> Body:
        """This object is there from now on, or changed; `metadata` as in labels={...}, labels=None."""
        meta = {"name": name} | ({"namespace": namespace} if namespace else {}) | metadata
        return self.world.put(self.world.kind(kind), {"metadata": meta})

    def delete(self, kind: str, name: str, namespace: str = "") -> None:
        self.world.delete(self.world.kind(kind), namespace, name)

    def publish_authorities(self, data: Mapping[str, str] | None) -> None:
        """The ConfigMap that says whom an extension API server may believe; again is a rotation, None: no such one."""
        kind, place = self.world.kind("configmaps"), (AUTHORITIES_NAMESPACE, AUTHORITIES)
        if data is not None:
            metadata = {"namespace": place[0], "name": place[1]}
            self.world.put(kind, {"metadata": metadata, "data": dict(data)})
        elif place in self.world.objects.get(kind, {}):
            self.world.delete(kind, *place)

    def load(self, path: str) -> None:
        """The objects of a YAML or JSON file."""
        for one in documents(yaml.safe_load_all(Path(path).read_text(encoding="utf-8"))):
            self.world.put(self.world.kind(f"{one['apiVersion']} {one['kind']}"), one)

    # -- how its watches break

    def expire(self) -> None:
        """Versions and pages from before are too old; running watches end with ERROR 410."""
        self.world.forget()
        for stream in self.streams:
            stream.queue.put_nowait(expired(f"too old resource version ({self.world.oldest})"))

    def tell(self, kind: str, event: Body | bytes) -> None:
        """Any event, or any bytes, to those who watch this kind."""
        self._to(kind, event)

    def bookmark(self, kind: str) -> None:
        for stream in self._watching(kind):
            stream.queue.put_nowait(stream.bookmark(self.world.version))

    def close_streams(self, kind: str) -> None:
        """End its watches as the API server does after timeoutSeconds."""
        self._to(kind, CLOSE)

    def drop(self, kind: str) -> None:
        """Tear the connections of its watches."""
        self._to(kind, DROP)

    def freeze(self, kind: str) -> None:
        """Its watches say nothing any more, and stay open: what a lost peer looks like."""
        self._to(kind, FREEZE)

    def _to(self, kind: str, message: object) -> None:
        for stream in self._watching(kind):
            stream.queue.put_nowait(message)

    def _watching(self, kind: str) -> list[Stream]:
        return [one for one in self.streams if one.kind == self.world.kind(kind)]

    # -- requests

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        asked = self._asked(request)
        self.asked.append(asked)
        try:
            with self.open(asked.what):
                self._authenticate(request)
                await self.go_wrong(request, asked)
                return await self._allowed(request, asked)
        except Elsewhere as other:
            return other.response
        except Refusal as refusal:
            return reply(status(refusal), refusal.code)

    def _asked(self, request: web.Request) -> Asked:
        query = dict(request.query)
        verb, what = "discovery", request.path
        if place := self.place(parted(request)):
            kind, _, name = place
            what = kind.name
            verb = "get" if name else "watch" if watching(request) else "list"
        if request.method != "GET":
            verb = request.method.lower()
        certificate = request.transport.get_extra_info("peercert") if request.transport else None
        subject = dict(pair for part in (certificate or {}).get("subject", ()) for pair in part)
        headers = dict(request.headers)
        return Asked(verb, what, request.path, query, headers, subject.get("commonName", ""))

    def _authenticate(self, request: web.Request) -> None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if self.tokens and (scheme.lower() != "bearer" or token not in self.tokens):
            raise Refusal(401, "Unauthorized", "Unauthorized")

    async def _allowed(self, request: web.Request, asked: Asked) -> web.StreamResponse:
        place = self.place(parted(request))
        if place and {asked.what, f"{asked.verb} {asked.what}"} & self.forbidden:
            raise forbidden(asked.verb, place[0])
        return await self.answer(request)


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A stand-in for kube-apiserver on loopback.")
    parser.add_argument("--objects", help="a Kubernetes List in YAML or JSON")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument(
        "--token", action="append", default=[], help="a bearer token that is known; default: all"
    )
    parser.add_argument("--tls-cert")
    parser.add_argument("--tls-key")
    return parser.parse_args(argv)


async def serve(argv: list[str]) -> None:
    """This serves until it is cancelled; its first line of output is its address."""
    wanted, tls = _arguments(argv), None
    if wanted.tls_cert:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(wanted.tls_cert, wanted.tls_key)
    async with FakeKube(tls=tls, port=wanted.port) as kube:
        kube.tokens |= set(wanted.token)
        if wanted.objects:
            kube.load(wanted.objects)
        sys.stdout.write(f"{kube.url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(sys.argv[1:]))
