"""Reviews by the API server: whose a token is, and what somebody may.

Whatever goes wrong is AccessUnknown, with the word of what it was and none of the server's own, which might repeat the
question.
"""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from adapter import errors
from adapter.kube.client import KubeClient
from adapter.kube.failures import BadAnswer, KubeError
from adapter.wire.identity import Attributes, User

TOKENS: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


class _Person(msgspec.Struct):
    username: str = ""
    uid: str = ""
    groups: list[str] | None = None
    extra: dict[str, list[str] | None] | None = None


class _TokenStatus(msgspec.Struct):
    user: _Person = msgspec.field(default_factory=_Person)
    authenticated: bool = False


class _TokenReview(msgspec.Struct):
    kind: Literal["TokenReview"]
    status: _TokenStatus


class _AccessStatus(msgspec.Struct):
    allowed: bool
    denied: bool = False


class _AccessReview(msgspec.Struct):
    kind: Literal["SubjectAccessReview"]
    status: _AccessStatus


_token_review = msgspec.json.Decoder(_TokenReview)
_access_review = msgspec.json.Decoder(_AccessReview)


class KubeReviews:
    """This has tokens and access reviewed, each by a client (and with credentials) of its own."""

    def __init__(self, tokens: KubeClient, access: KubeClient) -> None:
        self._tokens, self._access = tokens, access

    async def token(self, token: str) -> User | None:
        """Whose it is; None: nobody's. Raises AccessUnknown."""
        try:
            body = await self._tokens.post_bytes(
                TOKENS, _asked("authentication", "TokenReview", {"token": token})
            )
            return _owner(body)
        except KubeError as error:
            raise errors.AccessUnknown(f"the API server did not review the token: {error.cause}") from error

    async def access(self, user: User, attributes: Attributes) -> bool:
        """Whether he may. Raises AccessUnknown."""
        asked = _asked("authorization", "SubjectAccessReview", _who(user) | _what(attributes))
        try:
            return _allowed(await self._access.post_bytes(ACCESS, asked))
        except KubeError as error:
            raise errors.AccessUnknown(f"the API server did not review the access: {error.cause}") from error


def _asked(group: str, kind: str, spec: Mapping[str, object]) -> dict[str, object]:
    return {"kind": kind, "apiVersion": f"{group}.k8s.io/v1", "metadata": {}, "spec": spec}


def _who(user: User) -> dict[str, object]:
    extra = {key: list(values) for key, values in user.extra.items()}
    members = {"user": user.name, "uid": user.uid, "groups": list(user.groups), "extra": extra}
    return {key: value for key, value in members.items() if value}


def _what(attributes: Attributes) -> dict[str, object]:
    if attributes.path:
        return {"nonResourceAttributes": {"path": attributes.path, "verb": attributes.verb}}
    members = {
        "namespace": attributes.namespace,
        "verb": attributes.verb,
        "group": attributes.group,
        "version": attributes.version,
        "resource": attributes.resource,
        "subresource": attributes.subresource,
        "name": attributes.name,
    }
    return {"resourceAttributes": {key: value for key, value in members.items() if value}}


def _owner(body: bytes) -> User | None:
    try:
        status = _token_review.decode(body).status
    except msgspec.MsgspecError as error:
        raise BadAnswer("no TokenReview") from error
    if not status.authenticated:
        return None
    if not status.user.username:
        raise BadAnswer("a token of somebody without a name")
    extra = {key: tuple(values or ()) for key, values in (status.user.extra or {}).items()}
    return User(status.user.username, status.user.uid, tuple(status.user.groups or ()), extra)


def _allowed(body: bytes) -> bool:
    try:
        status = _access_review.decode(body).status
    except msgspec.MsgspecError as error:
        raise BadAnswer("no SubjectAccessReview") from error
    if status.allowed and status.denied:
        raise BadAnswer("allowed and denied at once")
    return status.allowed
