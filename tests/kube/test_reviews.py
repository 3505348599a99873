"""Reviews over real sockets, by a stand-in that answers them."""

import json

import pytest
from aiohttp import web

from adapter import errors
from adapter.kube import reviews
from adapter.kube.credentials import Source
from adapter.kube.reviews import KubeReviews
from adapter.wire.identity import Attributes, User
from tests.support.fake_kube import FakeKube

JANE = User("jane", "7", ("dev", "ops"), {"scopes": ("a", "b"), "k8s.io/x": ("c",)})
VALUES = Attributes("get", "custom.metrics.k8s.io", "v1beta2", "pods", "rps", "*", "shop")


class Reviewer(FakeKube):
    """Answers any review with `said`, bytes or what becomes JSON, and keeps what it was asked."""

    said: object = None

    def __init__(self):
        super().__init__()
        self.bodies: list[tuple[str, object]] = []

    async def answer(self, request):
        self.bodies.append((request.path, await request.json()))
        body = self.said if isinstance(self.said, bytes) else json.dumps(self.said).encode()
        return web.Response(body=body, status=201, content_type="application/json")


@pytest.fixture
async def reviewer():
    async with Reviewer() as found:
        yield found


@pytest.fixture
def kube_reviews(reviewer, kubeconfig, connect):
    client = connect(Source(kubeconfig(reviewer.url)))
    return KubeReviews(client, client)


def token_review(**status):
    return {"kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1", "spec": {}, "status": status}


def access_review(**status):
    return {"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": status}


# -- tokens


async def test_a_token_is_sent_to_be_reviewed(reviewer, kube_reviews):
    """In the body, where no log of addresses sees it."""
    reviewer.said = token_review(authenticated=True, user={"username": "jane"})
    assert await kube_reviews.token("secret") == User("jane")
    assert reviewer.bodies == [
        (
            "/apis/authentication.k8s.io/v1/tokenreviews",
            {
                "kind": "TokenReview",
                "apiVersion": "authentication.k8s.io/v1",
                "metadata": {},
                "spec": {"token": "secret"},
            },
        )
    ]


async def test_the_whole_user_comes_back(reviewer, kube_reviews):
    """With uid, groups and extras."""
    user = {"username": "jane", "uid": "7", "groups": ["dev", "ops"], "extra": {"a": ["b", "c"], "d": None}}
    reviewer.said = token_review(authenticated=True, user=user, audiences=["x"])
    found = await kube_reviews.token("secret")
    assert found == User("jane", "7", ("dev", "ops"), {"a": ("b", "c"), "d": ()})
    assert not found.proxied


@pytest.mark.parametrize(
    "status",
    [
        {},
        {"authenticated": False},
        {"user": {}},
        {"user": {"username": "jane"}},
        {"authenticated": False, "error": "[invalid bearer token, token lookup failed]"},
    ],
)
async def test_a_bad_token_is_nobodys(reviewer, kube_reviews, status):
    """Go leaves out a member that is false."""
    reviewer.said = token_review(**status)
    assert await kube_reviews.token("secret") is None


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"<html>",
        b"[]",
        {},
        {"kind": "TokenReview"},
        {"kind": "TokenReview", "status": None},
        {"kind": "Status", "status": "Success"},
        {"status": {"authenticated": False}},
        access_review(allowed=True),
        token_review(authenticated="yes"),
        token_review(authenticated=True),
        token_review(authenticated=True, user={"username": ""}),
        token_review(authenticated=True, user={"username": 7}),
        token_review(authenticated=True, user={"username": "jane", "groups": "dev"}),
    ],
)
async def test_what_is_no_review_of_a_token_lets_nobody_in(reviewer, kube_reviews, said):
    """It is no bad token either."""
    reviewer.said = said
    with pytest.raises(errors.AccessUnknown, match="did not review the token: BadAnswer"):
        await kube_reviews.token("secret")


# -- access


async def test_a_user_and_a_resource_are_sent(reviewer, kube_reviews):
    """All that is known of the user, and the attributes that are not empty."""
    reviewer.said = access_review(allowed=True)
    assert await kube_reviews.access(JANE, VALUES) is True
    ((path, body),) = reviewer.bodies
    assert path == "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    assert body == {
        "kind": "SubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": {
            "user": "jane",
            "uid": "7",
            "groups": ["dev", "ops"],
            "extra": {"scopes": ["a", "b"], "k8s.io/x": ["c"]},
            "resourceAttributes": {
                "namespace": "shop",
                "verb": "get",
                "group": "custom.metrics.k8s.io",
                "version": "v1beta2",
                "resource": "pods",
                "subresource": "rps",
                "name": "*",
            },
        },
    }


async def test_a_bare_user_and_a_path_are_sent(reviewer, kube_reviews):
    """What is empty is left out, as Go does."""
    reviewer.said = access_review(allowed=True)
    await kube_reviews.access(User("jane"), Attributes("get", path="/metrics"))
    assert reviewer.bodies[0][1]["spec"] == {
        "user": "jane",
        "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
    }


@pytest.mark.parametrize(
    ("status", "allowed"),
    [
        ({"allowed": True}, True),
        ({"allowed": True, "denied": False, "reason": "RBAC: allowed by ..."}, True),
        ({"allowed": False}, False),
        ({"allowed": False, "denied": True}, False),
        ({"allowed": False, "evaluationError": "role not found"}, False),
    ],
)
async def test_the_decision(reviewer, kube_reviews, status, allowed):
    """Only a plain yes is one."""
    reviewer.said = access_review(**status)
    assert await kube_reviews.access(JANE, VALUES) is allowed


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"<html>",
        {},
        {"status": {"allowed": True}},
        access_review(),
        access_review(allowed="true"),
        access_review(allowed=1),
        access_review(allowed=None),
        access_review(allowed=True, denied=True),
        token_review(allowed=True),
    ],
)
async def test_what_is_no_decision_lets_nobody_in(reviewer, kube_reviews, said):
    """It is no refusal either."""
    reviewer.said = said
    with pytest.raises(errors.AccessUnknown, match="did not review the access: BadAnswer"):
        await kube_reviews.access(JANE, VALUES)


# -- failures of both


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        ({"status": 500}, "Refused"),
        ({"status": 429}, "Refused"),
        ({"status": 403}, "Forbidden"),
        ({"status": 401}, "Unauthorized"),
        ({"drop": True}, "Broken"),
        ({"location": "/elsewhere"}, "BadAnswer"),
    ],
)
async def test_a_failure_is_a_word(reviewer, kube_reviews, fault, word):
    """The server's own text, which may repeat the question, is not passed on."""
    reviewer.fail("post", "*", **fault)
    for asked in (kube_reviews.token("secret"), kube_reviews.access(JANE, VALUES)):
        with pytest.raises(errors.AccessUnknown, match=f"{word}$") as caught:
            await asked
        assert "secret" not in str(caught.value)
        assert "stand-in" not in str(caught.value)


async def test_each_kind_goes_by_its_own_client(reviewer, kubeconfig, connect):
    """They may have credentials of their own."""
    sources = [
        Source(kubeconfig(reviewer.url, user={"token": one}, name=one)) for one in ("tokens", "access")
    ]
    found = KubeReviews(*(connect(one) for one in sources))
    reviewer.said = token_review()
    await found.token("secret")
    reviewer.said = access_review(allowed=True)
    await found.access(JANE, VALUES)
    assert [one.headers["Authorization"] for one in reviewer.asked] == ["Bearer tokens", "Bearer access"]


def test_paths_are_those_of_version_1():
    """Served since Kubernetes 1.6."""
    assert "/v1/" in reviews.TOKENS
    assert "/v1/" in reviews.ACCESS
