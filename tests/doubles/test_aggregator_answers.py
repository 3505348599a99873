"""What callers of the aggregator's double get, compared with what callers of the real one got."""

import asyncio
import gzip
import json

import pytest
from aiohttp import web

from tests.doubles.conftest import GROUP, MALLORY, NAME, NAMESPACE, V1BETA2
from tests.wire.data import golden

API = f"/apis/{GROUP}/v1beta2"
PODS = f"{API}/namespaces/default/pods/*/goroutines"
OWN = {
    "Audit-Id",
    "Date",
    "X-Kubernetes-Pf-Flowschema-Uid",
    "X-Kubernetes-Pf-Prioritylevel-Uid",
    "Content-Length",
}


def as_recorded(got, exchange):
    """Status, body and headers, but for those whose values are of one run."""
    assert (got.status, got.text if isinstance(exchange["body"], str) else got.body) == (
        exchange["status"],
        exchange["body"],
    )
    recorded = [tuple(one) for one in exchange["headers"]]
    assert sorted(name for name, _ in got.headers) == sorted(name for name, _ in recorded)
    assert {one for one in got.headers if one[0] not in OWN} == {one for one in recorded if one[0] not in OWN}


# -- who may


@pytest.mark.parametrize(
    ("name", "token"),
    [
        ("auth-aggregator-anonymous", ""),
        ("auth-aggregator-anonymous-discovery", ""),
        ("auth-aggregator-bad-token", "nobody's"),
        ("auth-aggregator-forbidden", MALLORY),
        ("auth-aggregator-group", MALLORY),
    ],
)
async def test_those_who_may_not_never_reach_the_extension(joined, extension, ask, name, token):
    """Nobody is 403, a bad token 401, a user without rights 403 with RBAC's sentence; the group is the server's own."""
    joined.register(GROUP, "v1beta1", NAME, NAMESPACE)
    exchange = golden(name)
    as_recorded(await ask(exchange["path"], token=token), exchange)
    assert extension.seen == []


async def test_discovery_is_for_everybody_who_is_somebody(joined, extension, ask):
    """A user without rights reads it, through the extension."""
    answer = await ask(API, token=MALLORY)
    assert (answer.status, extension.seen[0].all("X-Remote-Group")) == (200, ["system:authenticated"])


async def test_rights_are_those_of_rbac(joined, ask):
    """A role in one namespace opens that one; the subresource is the metric."""
    joined.reviews.allow(
        "mallory", namespace="shop", verbs=["get"], apiGroups=[GROUP], resources=["pods/goroutines"]
    )
    assert (await ask(PODS.replace("default", "shop"), token=MALLORY)).status == 200
    assert (await ask(PODS, token=MALLORY)).status == 403
    assert (await ask(PODS.replace("default", "shop") + "2", token=MALLORY)).status == 403


async def test_a_client_certificate_of_the_cluster_is_a_user(joined, tmp_path, extension):
    """Its CN is the name, its O the groups; the server says which certificate it was."""
    import ssl

    import aiohttp

    trust = ssl.create_default_context(cadata=joined.files.pki.cluster.pem)
    leaf = joined.files.pki.cluster.leaf("lab-admin", organizations=("system:masters",))
    trust.load_cert_chain(*leaf.write(tmp_path, "lab-admin"))
    async with aiohttp.ClientSession() as session, session.get(joined.url + PODS, ssl=trust) as response:
        assert response.status == 200
    (seen,) = extension.seen
    recorded = next(
        one for one in golden("wire-requests") if ["X-Remote-User", "lab-admin"] in one["headers"]
    )
    assert [name for name, _ in seen.headers if name.startswith("X-Remote")] == [
        name for name, _ in recorded["headers"] if name.startswith("X-Remote")
    ]


# -- what comes back


async def test_answers_pass_with_what_both_servers_add(joined, extension, ask):
    """Status, type and body are the extension's; Audit-Id and Cache-Control come twice, once from each."""
    status = golden("auth-aggregator-forbidden")["body"]
    extension.answer(PODS.replace("*", "%2A"), status, 404, Audit_Id="a", Cache_Control="no-cache, private")
    answer = await ask(PODS)
    assert (answer.status, answer.body) == (404, status)
    assert len(answer.all("Audit-Id")) == len(answer.all("Cache-Control")) == 2


async def test_gzip_is_unpacked_for_those_who_did_not_ask_for_it(joined, extension, ask):
    """And handed on packed to those who did."""

    async def packed(_):
        headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
        return web.Response(body=gzip.compress(b'{"a":1}'), headers=headers)

    extension.answers[API] = packed
    plain = await ask(API)
    assert (plain.body, plain.all("Content-Encoding")) == ({"a": 1}, [])
    asked = await ask(API, headers=[("Accept-Encoding", "gzip")])
    assert (asked.body, asked.all("Content-Encoding")) == ({"a": 1}, ["gzip"])


async def test_a_redirect_becomes_502(joined, extension, ask):
    """Never follow, never pass on."""
    extension.answer(API, "", 302, Location="https://elsewhere/")
    answer = await ask(API)
    assert (answer.status, answer.all("Location")) == (502, [])
    assert answer.text == "the backend attempted to redirect this request, which is not permitted"


async def test_unregistered_versions_are_unknown(joined, ask):
    """The aggregator answers itself, in text."""
    as_recorded(await ask(golden("error-unknown-version")["path"]), golden("error-unknown-version"))


async def test_not_available_means_not_asked(joined, extension, ask):
    """503 in text, without Retry-After, as recorded during the outage; the group's document is still there."""
    await extension.stop()
    await joined.check(V1BETA2)
    recorded = next(one for one in golden("outage") if one["available"].startswith("False"))
    answer = await ask(PODS)
    assert [answer.status, answer.text, None] == recorded["values"]
    assert answer.all("Retry-After") == []
    assert answer.all("Content-Type") == ["text/plain; charset=utf-8"]
    assert (await ask(API)).status == recorded["discovery"]
    assert (await ask(f"/apis/{GROUP}")).status == recorded["group"]


async def test_available_but_away_is_another_503(joined, extension, ask):
    """Between the death of the extension and the next check, the text is that of the connection."""
    await extension.stop()
    answer = await ask(PODS)
    assert [answer.status, answer.text, None] == golden("outage")[0]["values"]


async def test_patience_ends_with_504(joined, extension, ask):
    """A caller's ?timeout= counts and goes on; the body is a Status without kind, called text."""

    async def never(_):
        await asyncio.Event().wait()

    extension.answers[PODS.replace("*", "%2A")] = never
    answer = await ask(f"{PODS}?timeout=20ms")
    assert extension.seen[0].target.endswith("?timeout=20ms")
    body = json.loads(answer.text)
    assert (answer.status, body["reason"], "kind" in body) == (504, "Timeout", False)
    assert answer.all("Content-Type") == ["text/plain; charset=utf-8"]
    assert (await ask(f"{PODS}?timeout=soon")).status == 400


async def test_head_and_405_pass(joined, extension, ask):
    """As recorded: no body, the length of what GET would say."""
    extension.answer(PODS.replace("*", "%2A"), golden("auth-aggregator-forbidden")["body"], 405)
    answer = await ask(PODS, method="HEAD")
    assert (answer.status, answer.text) == (405, "")
