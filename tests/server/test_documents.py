"""A document is sent whole, or not at all to somebody who has this very one."""

import pytest
from aiohttp.test_utils import RawTestServer, TestClient

from adapter.server import documents
from tests.support.kit import Kit, goroutines

BASE = "/apis/custom.metrics.k8s.io/v1beta2"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
ONE = documents.of(b"one")
OTHER = documents.of(b"other")


@pytest.mark.parametrize(
    "lines",
    [
        [ONE.etag],
        ["W/" + ONE.etag],
        [f"{OTHER.etag}, {ONE.etag}"],
        [f'"x,y" ,,\t{ONE.etag} '],
        [OTHER.etag, ONE.etag],
        ["*"],
        [" * "],
    ],
)
def test_who_has_the_document_is_told_so(lines):
    """Alone, in a list, over several lines, as a weak tag, or as any document at all."""
    assert documents.held(ONE.etag, lines)


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [""],
        [OTHER.etag],
        [ONE.hash],
        [ONE.etag[:-1]],
        [f"w/{ONE.etag}"],
        [f"junk {ONE.etag}"],
        [f"{ONE.etag}junk"],
        [f"{OTHER.etag} junk, {ONE.etag}"],
        [ONE.etag.upper()],
        [f"{OTHER.etag}, *"],
        ['"' * 100_000],
        [", " * 50_000],
    ],
)
def test_everybody_else_gets_the_document(lines):
    """What names another document, or cannot be read, is no reason to hold one back."""
    assert not documents.held(ONE.etag, lines)


def test_etag_is_of_the_content():
    """Equal in every replica, different for every other document; quoted as HTTP wants it."""
    assert documents.of(b"one") == ONE
    assert ONE.etag != OTHER.etag
    assert ONE.etag == f'"{ONE.hash}"'


def test_answer_says_how_long_it_holds():
    """It may be kept, and is asked for again each time."""
    response = documents.answer(documents.of(b"{}", vary="Accept"), documents.Asked())
    assert (response.status, response.body) == (200, b"{}")
    assert response.headers["Cache-Control"] == "no-cache, private"
    assert response.headers["Vary"] == "Accept"
    assert response.content_type == "application/json"
    assert "Expires" not in response.headers


def test_304_says_what_200_would():
    """ETag, Cache-Control and Vary go with it; a body and its type do not."""
    document = documents.of(b"{}", vary="Accept")
    whole = documents.answer(document, documents.Asked())
    short = documents.answer(document, documents.Asked([document.etag]))
    assert (short.status, short.body) == (304, None)
    for name in ("ETag", "Cache-Control", "Vary"):
        assert short.headers[name] == whole.headers[name]


def test_address_with_the_right_hash_holds_for_good():
    """Only that one; any other hash gets what there is now, to be asked for again. There is no redirect."""
    good = documents.answer(ONE, documents.Asked(hash=ONE.hash, now=0.0))
    assert (good.status, good.headers["Cache-Control"]) == (200, "public, immutable")
    assert good.headers["Expires"] == "Fri, 01 Jan 1971 00:00:00 GMT"
    for wrong in (OTHER.hash, "", None, ONE.etag):
        plain = documents.answer(ONE, documents.Asked(hash=wrong))
        assert (plain.status, plain.body) == (200, b"one")
        assert plain.headers["Cache-Control"] == "no-cache, private"


async def test_each_document_answers_304_to_its_own_etag_only():
    """The aggregator sends the ETag of /apis with requests for other documents: those are answered in full."""
    kit = await goroutines()
    asked = [
        ("/apis", AGGREGATED),
        ("/apis", AGGREGATED.replace("v2", "v2beta1")),
        *((path, "application/json") for path in ("/apis", "/apis/custom.metrics.k8s.io", BASE)),
        *((path, "*/*") for path in (BASE.replace("v1beta2", "v1beta1"), "/openapi/v2", "/openapi/v3")),
        *((f"/openapi/v3{path}", "*/*") for path in ("/apis/custom.metrics.k8s.io", BASE)),
    ]
    tags = [(await kit.ask(path, Accept=kind)).headers["ETag"] for path, kind in asked]
    assert len(set(tags)) == len(tags)
    for path, kind in asked:
        codes = [(await kit.ask(path, **{"Accept": kind, "If-None-Match": tag})).status for tag in tags]
        assert sorted(codes) == [200] * (len(tags) - 1) + [304]


async def test_index_leads_to_documents_that_hold_for_good():
    """Each address of /openapi/v3 is answered, with the hash that it holds."""
    kit = Kit()
    index = (await kit.ask("/openapi/v3")).body["paths"]
    assert list(index) == ["apis/custom.metrics.k8s.io/v1beta1", "apis/custom.metrics.k8s.io/v1beta2"]
    for entry in index.values():
        reply = await kit.ask(entry["serverRelativeURL"])
        assert (reply.status, reply.headers["Cache-Control"]) == (200, "public, immutable")
        assert reply.headers["ETag"].strip('"') == entry["serverRelativeURL"].partition("?hash=")[2]
        old = await kit.ask(entry["serverRelativeURL"] + "0")
        assert (old.status, old.body) == (200, reply.body)


async def test_list_of_metrics_never_holds_for_good():
    """No address with a hash is handed out for it, and a cache that is shared may not keep it."""
    kit = await goroutines()
    digest = (await kit.ask(BASE)).headers["ETag"].strip('"')
    reply = await kit.ask(f"{BASE}?hash={digest}")
    assert (reply.status, reply.headers["Cache-Control"]) == (200, "no-cache, private")


async def test_304_is_right_on_the_wire():
    """No body, no length, and the connection serves the next request."""
    kit = Kit()
    async with TestClient(RawTestServer(kit.entrance.handle)) as client:
        whole = await client.get(BASE)
        headers = {"If-None-Match": whole.headers["ETag"]}
        short = await client.get(BASE, headers=headers, allow_redirects=False)
        assert (short.status, await short.read()) == (304, b"")
        assert not {"Content-Length", "Content-Type", "Transfer-Encoding", "Location"} & set(short.headers)
        assert (await client.get(BASE)).status == 200
