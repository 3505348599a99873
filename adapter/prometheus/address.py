"""The backend's address: where to send what, and what of it may be shown."""

import base64
from dataclasses import dataclass, field

from yarl import URL

API = "/api/v1/"


@dataclass(frozen=True, slots=True)
class Address:
    """One backend. `authorization` is the header that the user info of the address stands for."""

    secret_url: URL = field(repr=False)
    safe_url: str
    authorization: str | None = field(repr=False)

    def endpoint(self, name: str) -> URL:
        """Where the API's `name` is asked. The address's own path and query stay, as upstream's with POST."""
        base = self.secret_url.with_user(None)
        return base.with_path(base.raw_path.rstrip("/") + API + name, encoded=True, keep_query=True)


def parse(secret_url: str) -> Address:
    """The address that `secret_url` stands for. Raises ValueError, whose text never repeats it."""
    try:
        url = URL(secret_url)
    except ValueError:
        raise ValueError("the backend's address is no URL") from None  # the cause would quote it
    if url.scheme not in {"http", "https"} or not url.host:
        raise ValueError("the backend's address must begin with http:// or https:// and name a host")
    bare = url.with_user(None)
    return Address(url, str(bare.with_query(None).with_fragment(None)), _basic(url))


def _basic(url: URL) -> str | None:
    if url.user is None and url.password is None:
        return None
    pair = f"{url.user or ''}:{url.password or ''}"
    return "Basic " + base64.b64encode(pair.encode()).decode("ascii")
