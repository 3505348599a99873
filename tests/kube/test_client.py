"""The client against a stand-in API server over real sockets."""

import asyncio
from contextlib import aclosing

import pytest

from adapter.kube import failures
from adapter.kube.client import KubeClient
from adapter.kube.credentials import Source
from tests.kube.conftest import PODS, closing
from tests.support.eventually import until
from tests.support.leaks import nothing_left

# -- one request


async def test_bytes_come_as_they_are(client, kube):
    """Nothing is decoded here."""
    kube.put("pods", "web-1", "shop")
    assert b'"name": "web-1"' in await client.get_bytes(PODS, {"limit": "5"})
    assert kube.asked[-1].query == {"limit": "5"}


async def test_what_is_sent_along(client, kube):
    """Accept as asked for, no packing, our name; and no proxy or password of the environment."""
    await client.get_bytes(PODS, accept="application/json;as=X,application/json")
    headers = kube.asked[-1].headers
    assert headers["Accept"] == "application/json;as=X,application/json"
    assert headers["Accept-Encoding"] == "identity"
    assert headers["User-Agent"].startswith("hpa-adapter/")
    assert "Authorization" not in headers


async def test_proxies_of_the_environment_are_not_used(client, monkeypatch):
    """They are meant for the way out of the cluster, and would see the token."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert await client.get_bytes(PODS)


async def test_a_proxy_of_the_kubeconfig_is_used(kube, kubeconfig, clock):
    """That one is meant."""
    path = kubeconfig("http://kube.invalid", cluster={"proxy-url": kube.url})
    await closing(Source(path), clock, "/version")
    assert kube.asked[-1].headers["Host"] == "kube.invalid"


async def test_an_object_is_sent_as_json(client, kube):
    """What reviews are sent with."""
    body = {"metadata": {"name": "made"}}
    assert b'"uid"' in await client.post_bytes("/api/v1/namespaces/shop/configmaps", body)
    assert kube.world.objects[kube.world.kind("configmaps")]["shop", "made"]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, failures.Unauthorized),
        (403, failures.Forbidden),
        (404, failures.NotFound),
        (410, failures.Gone),
        (429, failures.Refused),
        (500, failures.Refused),
        (503, failures.Refused),
    ],
)
async def test_a_status_is_an_error_with_the_servers_words(client, kube, status, error):
    """The transport underneath does not raise for 4xx and 5xx by itself."""
    kube.fail("list", "pods", status=status)
    with pytest.raises(error) as caught:
        await client.get_bytes(PODS)
    assert caught.value.status == status
    assert str(caught.value) == "the stand-in was told to fail"


@pytest.mark.parametrize(
    "body", [b"<html>secret</html>", b"", b"[]", b'{"kind":"Status","message":7}', b"\xff"]
)
async def test_words_that_are_no_status_are_dropped(client, kube, body):
    """A login page has no place in a log."""
    kube.fail("list", "pods", status=502, body=body)
    with pytest.raises(failures.Refused, match=r"^HTTP status 502$"):
        await client.get_bytes(PODS)


async def test_a_redirect_is_not_followed(client, kube):
    """An API server never redirects; whoever does would get our token."""
    kube.fail("list", "pods", location=f"{kube.url}/version")
    with pytest.raises(failures.BadAnswer, match="302"):
        await client.get_bytes(PODS)
    assert kube.count("list") == 1
    assert kube.count("discovery") == 0


async def test_a_hanging_server_is_a_timeout(client, kube):
    """Each request has its deadline."""
    kube.fail("list", "pods", hang=True)
    with pytest.raises(failures.Unreachable) as caught:
        await client.get_bytes(PODS, timeout=0.05)
    assert caught.value.cause == "Timeout"


async def test_a_torn_connection_is_no_answer(client, kube):
    """The server went away in the middle."""
    kube.fail("list", "pods", drop=True)
    with pytest.raises(failures.Unreachable) as caught:
        await client.get_bytes(PODS)
    assert caught.value.cause == "Broken"


async def test_a_closed_port_is_no_answer(kube, kubeconfig, clock):
    """Nobody listens."""
    await kube.stop()
    with pytest.raises(failures.Unreachable) as caught:
        await closing(Source(kubeconfig(kube.url)), clock)
    assert caught.value.cause == "Connect"


async def test_a_name_that_is_none(kubeconfig, clock):
    """DNS has no such host."""
    with pytest.raises(failures.Unreachable) as caught:
        await closing(Source(kubeconfig("http://kube.invalid:1")), clock)
    assert caught.value.cause == "DNS"


async def test_an_answer_has_a_size(kube, kubeconfig, connect):
    """Memory is ours."""
    client = connect(Source(kubeconfig(kube.url)), max_answer_bytes=10)
    with pytest.raises(failures.BadAnswer):
        await client.get_bytes(PODS)


async def test_nothing_is_left_behind(kube, kubeconfig, clock):
    """Not after answers, not after failures."""
    kube.put("pods", "web-1", "shop")
    await closing(Source(kubeconfig(kube.url)), clock)
    async with nothing_left():
        kube.fail("list", "pods", hang=True, times=1)
        found = KubeClient(Source(kubeconfig(kube.url)), clock)
        with pytest.raises(failures.Unreachable):
            await found.get_bytes(PODS, timeout=0.05)
        lines = found.lines(PODS, {"watch": "true"})
        async with aclosing(lines):
            await anext(lines)
        await found.get_bytes(PODS)
        await found.close()
        await until(lambda: not kube.streams)


async def test_without_credentials_nothing_is_sent(clock, tmp_path):
    """A kubeconfig that is not there is told as that."""
    with pytest.raises(failures.NoCredentials, match="nowhere"):
        await closing(Source(str(tmp_path / "nowhere")), clock)


# -- lines


async def test_lines_come_as_they_are_sent(client, kube):
    """An empty one first: the watch was accepted."""
    lines = client.lines(PODS, {"watch": "true", "resourceVersion": "100"})
    async with aclosing(lines):
        assert await anext(lines) == b""
        kube.put("pods", "web-1", "shop")
        assert b"web-1" in await anext(lines)


async def test_lines_in_pieces_and_in_bunches(client, kube):
    """Packets know nothing of lines."""
    lines = client.lines(PODS, {"watch": "true", "resourceVersion": "100"})
    async with aclosing(lines):
        await anext(lines)
        kube.tell("pods", b"one\ntw")
        assert await anext(lines) == b"one"
        kube.tell("pods", b"o\n\n\r\nthree\nhal")
        kube.close_streams("pods")
        assert [line async for line in lines] == [b"two", b"\r", b"three"]


async def test_a_silent_stream_is_given_up(kube, kubeconfig, connect):
    """The other end may be gone without a word."""
    client = connect(Source(kubeconfig(kube.url)), silence_seconds=0.3)
    lines = client.lines(PODS, {"watch": "true", "resourceVersion": "100"})
    async with aclosing(lines):
        await anext(lines)
        kube.freeze("pods")
        with pytest.raises(failures.Unreachable) as caught:
            await anext(lines)
    assert caught.value.cause == "Timeout"


async def test_a_dropped_stream_is_an_error(client, kube):
    """It did not end as the API server ends a watch."""
    lines = client.lines(PODS, {"watch": "true", "resourceVersion": "100"})
    async with aclosing(lines):
        await anext(lines)
        kube.drop("pods")
        with pytest.raises(failures.Unreachable) as caught:
            await anext(lines)
    assert caught.value.cause == "Broken"


async def test_a_watch_that_is_not_answered(kube, kubeconfig, connect):
    """The stream may be silent for long, its beginning may not."""
    client = connect(Source(kubeconfig(kube.url)), head_seconds=0.05)
    kube.fail("watch", "pods", hang=True)
    with pytest.raises(failures.Unreachable):
        await anext(client.lines(PODS, {"watch": "true"}))


async def test_a_line_without_end(kube, kubeconfig, connect):
    """It is no event."""
    client = connect(Source(kubeconfig(kube.url)), max_line_bytes=100)
    lines = client.lines(PODS, {"watch": "true", "resourceVersion": "100"})
    async with aclosing(lines):
        await anext(lines)
        kube.tell("pods", b"x" * 101)
        with pytest.raises(failures.BadAnswer):
            await anext(lines)


async def test_many_requests_share_one_connection_set(client, kube):
    """The first ones do not each read the kubeconfig."""
    await asyncio.gather(*(client.get_bytes(PODS) for _ in range(20)))
    assert kube.count("list") == 20
