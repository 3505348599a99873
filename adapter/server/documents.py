"""Documents made beforehand, each with an ETag of its own, and the answer to somebody who may have it already."""

import email.utils
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from aiohttp import web

JSON: Final = "application/json"

REVALIDATE: Final = "no-cache, private"
"""Go's servers say so too: it may be kept, and is asked for again each time, because what is on offer changes."""

FOR_GOOD: Final = "public, immutable"
"""For an address that holds the hash of what it gives: whatever is asked for there later is the same."""

KEEP_SECONDS: Final = 365 * 24 * 3600
"""What Go's servers say of such an address. Without a time, `immutable` is no leave to keep anything."""

_TAG = re.compile(r'[\s,]*((?:W/)?"[^"]*")[\s]*(?=,|$)')


@dataclass(frozen=True, slots=True)
class Document:
    """Bytes and what is said about them. `etag` is quoted, as it is sent; `vary` names what the choice depends on."""

    body: bytes
    etag: str
    content_type: str = JSON
    vary: str = ""

    @property
    def hash(self) -> str:
        """The hash of the content, as an address holds it."""
        return self.etag.strip('"')


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request says about the document that it wants: the If-None-Match lines, the hash in its address."""

    if_none_match: Iterable[str] = ()
    hash: str | None = None
    now: float = 0.0


def of(body: bytes, content_type: str = JSON, vary: str = "") -> Document:
    """The document of these bytes. Equal bytes have equal ETags, in every replica; others never."""
    return Document(body, f'"{hashlib.sha256(body).hexdigest()}"', content_type, vary)


def answer(document: Document, asked: Asked) -> web.Response:
    """200 with the document, or 304 if the caller has this very one. Never anything else.

    A hash that is not the document's is no mistake to be told or redirected: the caller gets what there is now.
    """
    headers = {"ETag": document.etag, "Cache-Control": REVALIDATE}
    if asked.hash == document.hash:
        headers["Cache-Control"] = FOR_GOOD
        headers["Expires"] = email.utils.formatdate(asked.now + KEEP_SECONDS, usegmt=True)
    if document.vary:
        headers["Vary"] = document.vary
    if held(document.etag, asked.if_none_match):
        return web.Response(status=304, headers=headers)
    return web.Response(body=document.body, headers=headers | {"Content-Type": document.content_type})


def held(etag: str, if_none_match: Iterable[str]) -> bool:
    """Whether If-None-Match names the ETag: in a list, as weak tag, or by `*` (RFC 9110 13.1.2).

    What cannot be read ends the list: then the document is sent, which is never wrong.
    """
    text = ",".join(if_none_match)
    if text.strip() == "*":
        return True
    at = 0
    while found := _TAG.match(text, at):
        if found[1].removeprefix("W/") == etag:
            return True
        at = found.end()
    return False
