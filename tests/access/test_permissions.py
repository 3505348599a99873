"""Whether somebody may, how long that is believed, and the words of a refusal."""

import asyncio
import json

import pytest

from adapter import errors
from adapter.access import attributes, permissions
from adapter.access.permissions import Permissions
from adapter.wire import status
from adapter.wire.identity import Attributes, User
from tests.support import leaks
from tests.support.sleeper import settle
from tests.wire.data import body_bytes, golden

JANE, MALLORY = User("jane", groups=("dev",)), User("mallory")
WANTED = Attributes("get", "custom.metrics.k8s.io", "v1beta2", "pods", "rps", "*", "shop")
JANES = 'User "jane" cannot'
ADMIN = User("kubernetes-admin", groups=("system:masters",), proxied=True)


@pytest.fixture
def outcomes():
    return []


@pytest.fixture
def found(reviews, clock, outcomes):
    reviews.may.add("jane")
    return Permissions(reviews, clock, count=outcomes.append)


async def test_who_may_passes(found, reviews, outcomes):
    """The API server is asked about this user and these attributes."""
    await found.check(JANE, WANTED)
    assert reviews.asked == [(JANE, WANTED)]
    assert outcomes == ["allowed"]


async def test_who_may_not_is_refused(found, outcomes):
    """With what every Kubernetes server says."""
    with pytest.raises(
        errors.NotAllowed, match=r'^pods.custom.metrics.k8s.io "\*" is forbidden: User "mallory"'
    ):
        await found.check(MALLORY, WANTED)
    assert outcomes == ["denied"]


@pytest.mark.parametrize(("user", "life"), [(JANE, 7), (MALLORY, 3)])
async def test_decisions_hold_for_some_seconds(reviews, clock, user, life):
    """Each kind for its own time, and no longer."""
    reviews.may.add("jane")
    found = Permissions(reviews, clock, allowed_ttl_seconds=7, denied_ttl_seconds=3)

    async def asked():
        try:
            await found.check(user, WANTED)
        except errors.NotAllowed:
            assert user is MALLORY
        else:
            assert user is JANE
        return len(reviews.asked)

    assert await asked() == 1
    clock.advance(life - 0.1)
    assert await asked() == 1
    clock.advance(0.1)
    assert await asked() == 2


async def test_ten_seconds_is_the_default(found, reviews, clock):
    """As Go's servers have it."""
    await found.check(JANE, WANTED)
    reviews.may.clear()
    clock.advance(9.9)
    await found.check(JANE, WANTED)
    clock.advance(0.1)
    with pytest.raises(errors.NotAllowed):
        await found.check(JANE, WANTED)
    reviews.may.add("jane")
    clock.advance(10)
    await found.check(JANE, WANTED)


@pytest.mark.parametrize(
    "user",
    [
        User("jane"),
        User("jane", groups=("dev", "ops")),
        User("jane", "7", ("dev",)),
        User("jane", groups=("dev",), extra={"a": ("b",)}),
    ],
)
async def test_a_decision_is_about_the_whole_user(found, reviews, user):
    """One with other groups is another."""
    await found.check(JANE, WANTED)
    await found.check(user, WANTED)
    assert len(reviews.asked) == 2


@pytest.mark.parametrize(
    "field", ["verb", "group", "version", "resource", "subresource", "name", "namespace"]
)
async def test_a_decision_is_about_all_attributes(found, reviews, field):
    """Nothing of the question is left out."""
    await found.check(JANE, WANTED)
    values = {name: getattr(WANTED, name) for name in Attributes.__dataclass_fields__}
    await found.check(JANE, Attributes(**(values | {field: "other"})))
    assert len(reviews.asked) == 2


async def test_the_order_of_extras_does_not_matter(found, reviews):
    """It is by chance."""
    await found.check(User("jane", extra={"a": ("1",), "b": ("2",)}), WANTED)
    await found.check(User("jane", extra={"b": ("2",), "a": ("1",)}), WANTED)
    assert len(reviews.asked) == 1


async def test_failures_are_not_kept(found, reviews, outcomes):
    """Nobody passes, and the next question is asked anew."""
    reviews.failures += [errors.AccessUnknown("a"), errors.AccessUnknown("b")]
    with pytest.raises(errors.AccessUnknown):
        await found.check(JANE, WANTED)
    await found.check(JANE, WANTED)
    assert outcomes == ["failed", "allowed"]


async def test_equal_checks_at_once_are_one_review(found, reviews):
    """However many ask."""
    reviews.hold()
    tasks = [asyncio.create_task(found.check(JANE, WANTED)) for _ in range(50)]
    await settle()
    reviews.go()
    await asyncio.gather(*tasks)
    assert len(reviews.asked) == 1


async def test_decisions_are_bounded(found):
    """Names are the caller's to make up: refusals push out no permission."""
    await found.check(JANE, WANTED)
    for number in range(permissions.MOST_KEPT + 10):
        with pytest.raises(errors.NotAllowed):
            await found.check(MALLORY, Attributes("get", path=f"/{number}"))
    assert len(found._denied) == permissions.MOST_KEPT
    assert len(found._allowed) == 1


async def test_permissions_are_bounded_too(found):
    """The oldest goes."""
    for number in range(permissions.MOST_KEPT + 10):
        await found.check(JANE, Attributes("get", path=f"/{number}"))
    assert len(found._allowed) == permissions.MOST_KEPT


async def test_administrators_of_the_front_proxy_need_no_review(found, reviews, outcomes):
    """The API server's own checks come as such, and must work while it cannot review."""
    reviews.failures += [errors.AccessUnknown("down")] * 9
    await found.check(ADMIN, WANTED)
    assert reviews.asked == []
    assert outcomes == ["allowed"]


async def test_other_administrators_do(found, reviews):
    """A certificate or token with that group is the cluster's to judge."""
    with pytest.raises(errors.NotAllowed):
        await found.check(User("root", groups=("system:masters",)), WANTED)
    assert len(reviews.asked) == 1


# -- discovery


async def test_discovery_needs_no_review_for_whom_the_front_proxy_speaks(found, reviews):
    """The API server has asked already."""
    await found.check_discovery(User("mallory", proxied=True), Attributes("get", path="/apis"))
    assert reviews.asked == []


async def test_discovery_is_reviewed_for_others(found):
    """With the same words."""
    await found.check_discovery(JANE, Attributes("get", path="/apis"))
    with pytest.raises(errors.NotAllowed, match=r'^forbidden: User "mallory" cannot get path "/apis"$'):
        await found.check_discovery(MALLORY, Attributes("get", path="/apis"))


async def test_discovery_that_cannot_be_reviewed_is_refused(found, reviews):
    """Never a 5xx."""
    reviews.failures += [errors.AccessUnknown("down")] * 2
    with pytest.raises(errors.NotAllowed):
        await found.check_discovery(JANE, Attributes("get", path="/apis"))


# -- words


@pytest.mark.parametrize(
    ("name", "user"),
    [
        ("auth-direct-token-without-rights", "system:serviceaccount:default:nobody"),
        ("auth-direct-token-without-rights-metrics", "system:serviceaccount:default:nobody"),
        ("auth-direct-anonymous", "system:anonymous"),
        ("auth-direct-anonymous-apis", "system:anonymous"),
        ("auth-direct-anonymous-with-proxy-headers", "system:anonymous"),
        ("auth-direct-proxy-certificate-unauthorized-user", "mallory"),
        ("auth-direct-wrong-certificate-with-headers", "mallory"),
        ("auth-aggregator-forbidden", "mallory"),
        ("auth-aggregator-anonymous-discovery", "system:anonymous"),
    ],
)
def test_refusals_are_those_that_were_recorded(name, user):
    """From the path to the bytes."""
    exchange = golden(name)
    error = permissions.refused(User(user), attributes.of_path(exchange["path"]))
    assert status.failure(error, compat=True) == (exchange["status"], body_bytes(exchange))


@pytest.mark.parametrize(
    ("wanted", "sentence", "details"),
    [
        (
            Attributes("get", "g", "v", "nodes", "load", "n"),
            f'nodes.g "n" is forbidden: {JANES} get resource "nodes/load" in API group "g" at the cluster scope',
            {"name": "n", "group": "g", "kind": "nodes"},
        ),
        (
            Attributes("list", "g", "v", "queue", namespace="shop"),
            f'queue.g is forbidden: {JANES} list resource "queue" in API group "g" in the namespace "shop"',
            {"group": "g", "kind": "queue"},
        ),
        (Attributes("get", path='/a"b'), 'forbidden: User "jane" cannot get path "/a\\"b"', {}),
    ],
)
def test_other_refusals(wanted, sentence, details):
    """Without a namespace, without a name, with what must be quoted."""
    error = permissions.refused(JANE, wanted)
    assert (str(error), error.details) == (sentence, details)


def test_names_are_quoted_as_go_does():
    """A user's name cannot pretend to be the end of the sentence."""
    error = permissions.refused(User('a" cannot\n\x1b'), Attributes("get", path="/x"))
    assert str(error) == 'forbidden: User "a\\" cannot\\n\\x1b" cannot get path "/x"'
    assert json.loads(status.failure(error, compat=False)[1])["message"].startswith(str(error))


async def test_closing_ends_reviews(found, reviews):
    """Nothing stays."""
    async with leaks.nothing_left():
        reviews.hold()
        task = asyncio.create_task(found.check(JANE, WANTED))
        await settle()
        await found.close()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_hanging_review_is_a_failure(reviews, clock):
    """In the time that is set."""
    reviews.hold()
    with pytest.raises(errors.AccessUnknown, match="no access review"):
        await Permissions(reviews, clock, review_seconds=0.01).check(JANE, WANTED)
