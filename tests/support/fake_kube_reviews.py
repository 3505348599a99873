"""Token and access reviews of a stand-in API server: users by token, rights by RBAC or by a test's own judge."""

import secrets
from collections.abc import Callable, Sequence
from typing import Any

from tests.support import fake_kube_rbac as rbac
from tests.support.fake_kube_rbac import Attributes, User
from tests.support.fake_kube_refusals import Refusal
from tests.support.fake_kube_world import Body, World, documents

NOBODY = "[invalid bearer token, token lookup failed]"
Judge = Callable[[User, Attributes], bool]


class Reviews:
    """`users` by token. What was asked stands in `tokens` and `questions`, in the order of the answers."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.users: dict[str, User] = {}
        self.judge: Judge | None = None
        """Decides in place of RBAC."""

        self.tokens: list[str] = []
        self.questions: list[Body] = []
        """`spec` of each SubjectAccessReview."""

    def know(
        self, token: str, name: str, groups: Sequence[str] = (), *, uid: str = "", **extra: Sequence[str]
    ) -> User:
        """This token is that user's from now on."""
        held = {key.replace("__", "/"): tuple(values) for key, values in extra.items()}
        self.users[token] = user = User(name, tuple(groups), uid, held)
        return user

    def service_account(self, name: str, namespace: str) -> str:
        """A new token of this service account."""
        token = f"sa-{secrets.token_hex(16)}"
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
        self.know(token, f"system:serviceaccount:{namespace}:{name}", groups, uid=f"uid-{namespace}-{name}")
        return token

    def load(self, text: str) -> None:
        """Users of a YAML text: a list of {token, name, groups, uid, extra}."""
        for one in documents([{"items": rbac.yaml.safe_load(text)}]):
            extra = {key: tuple(values) for key, values in one.get("extra", {}).items()}
            self.users[one["token"]] = User(
                one["name"], tuple(one.get("groups", ())), one.get("uid", ""), extra
            )

    def allow(self, who: str, *, namespace: str = "", verbs: Sequence[str] = ("*",), **rule: Any) -> None:
        """This user, or `group:NAME`, may; `rule` as in RBAC, by default everything of the metrics groups."""
        default = {"apiGroups": ["custom.metrics.k8s.io", "external.metrics.k8s.io"], "resources": ["*"]}
        for one in rbac.granted(who, {"verbs": list(verbs)} | (rule or default), namespace):
            self._world.put(self._world.kind(one["kind"]), one)

    def allowed(self, user: User, asked: Attributes) -> str:
        """The reason why this user may, or "" if not."""
        if self.judge is not None:
            return "the judge says so" * self.judge(user, asked)
        return rbac.allowed(self._world, user, asked)

    def token_review(self, body: Body) -> Body:
        """The answer to a TokenReview."""
        token = body.get("spec", {}).get("token", "")
        if not token:
            raise Refusal(400, "BadRequest", "token is required for TokenReview in authentication")
        self.tokens.append(token)
        found = self.users.get(token)
        if found is None:
            return _review("authentication.k8s.io/v1", "TokenReview", body, {"user": {}, "error": NOBODY})
        user = rbac.authenticated(found)
        shown: Body = {"username": user.name, "groups": list(user.groups)}
        shown |= {"uid": user.uid} if user.uid else {}
        shown |= {"extra": {key: list(values) for key, values in user.extra.items()}} if user.extra else {}
        audiences = ["https://kubernetes.default.svc"]
        status = {"authenticated": True, "user": shown, "audiences": audiences}
        return _review("authentication.k8s.io/v1", "TokenReview", body, status)

    def access_review(self, body: Body) -> Body:
        """The answer to a SubjectAccessReview. Raises Refusal where the real one does."""
        spec = body.get("spec", {})
        _check(spec)
        self.questions.append(spec)
        extra = {key: tuple(values) for key, values in (spec.get("extra") or {}).items()}
        user = User(spec.get("user", ""), tuple(spec.get("groups") or ()), spec.get("uid", ""), extra)
        fields = spec.get("resourceAttributes") or spec["nonResourceAttributes"]
        known = {key: fields.get(key, "") for key in Attributes.__dataclass_fields__}
        reason = self.allowed(user, Attributes(**known))
        status = {"allowed": True, "reason": reason} if reason else {"allowed": False}
        return _review("authorization.k8s.io/v1", "SubjectAccessReview", body, status)


def _review(version: str, kind: str, body: Body, status: Body) -> Body:
    return {"kind": kind, "apiVersion": version, "metadata": {}, "spec": body["spec"], "status": status}


def _check(spec: Body) -> None:
    problems = []
    if bool(spec.get("resourceAttributes")) == bool(spec.get("nonResourceAttributes")):
        problems.append("exactly one of nonResourceAttributes or resourceAttributes must be specified")
    if not spec.get("user") and not spec.get("groups"):
        problems.append("at least one of user or group must be specified")
    if problems:
        raise Refusal(422, "Invalid", f'SubjectAccessReview.authorization.k8s.io "" is invalid: {problems}')
