"""What the aggregator's double sends on, compared with what the real one sent."""

import pytest

from tests.doubles.conftest import ADMIN, GROUP, HOST, MALLORY, NAME, NAMESPACE, V1BETA2
from tests.support.aggregator_wire import canonical, path, query
from tests.wire.data import golden

API = f"/apis/{GROUP}/v1beta2"
PODS = f"{API}/namespaces/default/pods/%2A/goroutines"
AGENT = "kube-controller-manager/v1.36.2 (linux/amd64) kubernetes/8e16b12/system:serviceaccount:kube-system:horizontal-pod-autoscaler"
CREDENTIAL = "authentication.kubernetes.io/credential-id"


def recorded(target, user, **headers):
    """The recorded request of this user to this path."""
    return next(
        one
        for one in golden("wire-requests")
        if one["path"] == target
        and ["X-Remote-User", user] in one["headers"]
        and all([name.replace("_", "-"), value] in one["headers"] for name, value in headers.items())
    )


def as_recorded(seen, exchange, *changing):
    """Whether it is that request: the same headers in the same order, but for the values of those that change."""

    def shown(headers):
        return [(key, "..." if key in changing else value) for key, value in headers]

    assert seen.certificate == exchange["client_certificate"]["commonName"]
    assert (seen.method, seen.target) == (exchange["method"], exchange["path"])
    assert shown(seen.headers) == shown(tuple(one) for one in exchange["headers"])


# -- its own requests


async def test_the_availability_check_is_five_requests_as_recorded(joined, extension):
    """User system:kube-aggregator of system:masters, no Accept, no X-Forwarded-*."""
    await joined.check(V1BETA2)
    await joined.availability.close()
    assert [one.purpose for one in joined.proxy.sent] == ["check"] * 5
    as_recorded(extension.seen[0], recorded(API, "system:kube-aggregator", User_Agent="Go-http-client/1.1"))


async def test_discovery_is_asked_for_in_the_aggregated_form_first(joined, extension):
    """With the ETag of the last document; then in the old form, by a user without a group."""
    extension.answer("/apis", {"kind": "APIGroupList"}, 200)
    extension.answer(API, {"kind": "APIResourceList", "resources": []})
    assert await joined.discovery.fetch(V1BETA2)
    first, second = extension.seen
    as_recorded(first, recorded("/apis", "system:kube-aggregator"))
    known = [one for one in golden("wire-requests") if one["path"].endswith("v1beta1")]
    old_form = next(one for one in known if ["Accept", "application/json"] in one["headers"])
    assert second.headers == [
        (key, value.replace("v1beta1", "v1beta2"))
        for key, value in (tuple(one) for one in old_form["headers"])
    ]


async def test_openapi_is_fetched_by_a_user_without_a_group(joined, extension):
    """v2 with Accept, v3 without one."""
    extension.answer("/openapi/v2", {"swagger": "2.0"}, ETag='"1"')
    extension.answer("/openapi/v3", {"paths": {}})
    await joined.openapi.fetch_v2(V1BETA2)
    await joined.openapi.fetch_v3(V1BETA2)
    for one, target in zip(extension.seen, ("/openapi/v2", "/openapi/v3"), strict=True):
        as_recorded(one, recorded(target, "system:aggregator"))
    await joined.openapi.fetch_v2(V1BETA2)
    assert extension.seen[2].all("If-None-Match") == ['"1"']


# -- users' requests


async def test_the_autoscaler_s_request_goes_on_as_recorded(joined, extension, ask):
    """The question with a selector: re-encoded, the user in X-Remote-*, nothing of the token."""
    hpa = joined.reviews.know(
        "hpa",
        "system:serviceaccount:kube-system:horizontal-pod-autoscaler",
        ["system:serviceaccounts", "system:serviceaccounts:kube-system"],
        uid="e35709ad-8cc2-4481-bc7d-25a21f818df4",
        **{CREDENTIAL: ["JTI=c86dcc71-6f84-48d4-92ab-d270afbc83a1"]},
    )
    target = f"{PODS}?metricLabelSelector=job%3Dfake-pods,job%20in%20(fake-pods,y),!x&labelSelector=app%3Dweb"
    answer = await ask(
        target.replace("%2A", "*"),
        token="hpa",
        headers=[
            ("User-Agent", AGENT),
            ("Accept", "application/vnd.kubernetes.protobuf, */*"),
            ("X-Remote-User", "system:admin"),
            ("X-Remote-Group", "system:masters"),
            ("X-Remote-Extra-Scopes", "all"),
        ],
    )
    assert answer.status == 200
    wanted = f"{PODS}?labelSelector=app%3Dweb&metricLabelSelector=job%3Dfake-pods%2Cjob+in+%28fake-pods%2Cy%29%2C%21x"
    (seen,) = extension.seen
    as_recorded(seen, recorded(wanted, hpa.name), "Audit-Id")
    assert seen.all("Audit-Id") == answer.all("Audit-Id")[:1]
    assert seen.all("Authorization") == []


async def test_impersonation_is_resolved_before(joined, extension, ask):
    """The extension sees whom kubectl --as names, with what it names; nothing of Impersonate-*."""
    exchange = recorded(API, "mallory")
    speaking = [
        ("Impersonate-User", "mallory"),
        ("Impersonate-Group", "evil"),
        ("Impersonate-Group", "worse"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Extra-scopes", "a"),
        ("Impersonate-Extra-scopes", "b"),
    ]
    own = [
        tuple(one)
        for one in exchange["headers"]
        if not one[0].startswith(("X-", "Host", "Audit")) and one[0] != "Content-Length"
    ]
    assert (await ask(API, headers=[*own, *speaking])).status == 200
    as_recorded(extension.seen[0], exchange, "Audit-Id")
    refused = await ask(API, token=MALLORY, headers=[("Impersonate-User", "lab-admin")])
    assert refused.status == 403
    assert 'cannot impersonate resource "users"' in refused.body["message"]


async def test_a_caller_who_names_encodings_gets_the_bytes_as_they_are(joined, extension, ask):
    """Only if the caller says nothing of Accept-Encoding is gzip asked for, and un-gzipped again."""
    for named in ("identity", "gzip"):
        await ask(PODS, headers=[("Accept-Encoding", named)])
        assert extension.seen[-1].all("Accept-Encoding") == [named]
    await ask(PODS)
    assert extension.seen[-1].headers[-1] == ("Accept-Encoding", "gzip")


async def test_any_number_of_groups_is_one_line_each(joined, extension, ask):
    """A comma in a group's name does not part it."""
    groups = [f"team,{number}" for number in range(500)]
    joined.reviews.know("many", "many", groups)
    joined.reviews.allow("many")
    assert (await ask(PODS, token="many")).status == 200
    assert extension.seen[0].all("X-Remote-Group") == [*groups, "system:authenticated"]


async def test_verbs_bodies_cookies_and_unknown_headers_pass(joined, extension, ask):
    """The aggregator decides nothing about them; hop-by-hop headers end at it."""
    headers = [
        ("Cookie", "a=b"),
        ("X-Other", "1"),
        ("X-Forwarded-For", "9.9.9.9"),
        ("Connection", "x-mine"),
        ("X-Mine", "2"),
    ]
    assert (await ask(PODS, method="POST", json={"a": 1}, headers=headers)).status == 200
    (seen,) = extension.seen
    assert (seen.method, seen.body) == ("POST", b'{"a": 1}')
    assert (seen.all("Cookie"), seen.all("X-Other"), seen.all("X-Mine")) == (["a=b"], ["1"], [])
    assert seen.all("X-Forwarded-For") == ["9.9.9.9, 127.0.0.1"]


@pytest.mark.parametrize(
    ("sent", "arrives"),
    [
        ("/a/*/b", "/a/%2A/b"),
        ("/a/%2A/b", "/a/%2A/b"),
        ("/a%2Fb", "/a/b"),
        ("/a;b/", "/a;b/"),
        ("/Http:Requests_a.b-c@%C3%A9%20x", "/Http:Requests_a.b-c@%C3%A9%20x"),
        ("/a//b(c)!'", "/a//b%28c%29%21%27"),
    ],
)
def test_paths_are_decoded_and_written_anew(sent, arrives):
    """A wildcard is always %2A; a trailing slash stays."""
    assert path(sent) == arrives


@pytest.mark.parametrize(
    ("sent", "arrives"),
    [
        ("b=2&a=1&b=1", "a=1&b=2&b=1"),
        ("a=x%20y&b=c+d", "a=x+y&b=c+d"),
        ("a=1;b=2&c=3", "c=3"),
        ("a=%zz&b=1", "b=1"),
        ("watch", "watch="),
        ("a=(x,y)!*", "a=%28x%2Cy%29%21%2A"),
    ],
)
def test_queries_are_decoded_sorted_and_written_anew(sent, arrives):
    """A part with a raw semicolon is lost."""
    assert query(sent) == arrives


def test_header_names_are_written_as_go_does():
    """Also the percent sign's letters: lower case."""
    assert canonical(f"x-remote-extra-{CREDENTIAL.replace('/', '%2F')}") == (
        "X-Remote-Extra-Authentication.kubernetes.io%2fcredential-Id"
    )


async def test_endpoints_take_turns_and_the_address_shown_is_the_service_s(joined, extension, ask, files):
    """Two replicas behind one Service; Host is ClusterIP:port whatever is dialled."""
    from tests.support.extension import Extension

    async with Extension(extension.context) as second:
        joined.service(NAME, NAMESPACE, extension.place, second.place)
        for _ in range(6):
            await ask(PODS, token=ADMIN)
        assert (len(extension.seen), len(second.seen)) == (3, 3)
        assert second.seen[0].all("Host") == ["127.96.0.10:443"]
    assert HOST.endswith(".svc")
