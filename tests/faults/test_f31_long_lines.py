"""F31: long request lines, large and many headers: what the autoscaler sends works, beyond it there is a JSON 400."""

import json
import urllib.parse

import pytest

from tests.support.doors import open_door
from tests.support.kit import PODS, goroutines

pytestmark = pytest.mark.timeout(20)


async def asked(target: str, headers: str = ""):
    """(status, body, reasons of closed connections, request as sent)."""
    kit = await goroutines("web-1")
    kit.backend.samples = [({"pod": "web-1"}, 1.0)]
    async with open_door(kit.entrance.handle) as door:
        peer = await door.connect()
        status, _, body = await peer.get(target, headers)
        return status, body, door.closed


async def test_f31_selector_of_nine_kilobytes_works():
    """aiohttp's own limit is 8,190 bytes, and an autoscaler with a long selector passes that."""
    selector = ",".join(f"{'prefix.' * 17}example.com/label-{number:03} != value" for number in range(60))
    target = f"{PODS}/*/goroutines?labelSelector={urllib.parse.quote_plus(selector)}"
    assert 9_000 < len(target) < 16_384
    status, body, closed = await asked(target)
    assert (status, json.loads(body)["kind"], closed) == (200, "MetricValueList", {})


async def test_f31_selector_of_seventy_kilobytes_is_refused_with_its_cause():
    """The line is taken, so that we can say what is wrong: the selector."""
    status, body, closed = await asked(f"{PODS}/*/goroutines?labelSelector={'x' * 70_000}")
    assert (status, closed) == (400, {})
    assert json.loads(body)["details"]["causes"][0]["reason"] == "InvalidSelector"


@pytest.mark.parametrize(
    ("target", "headers"),
    [
        ("/" + "secret" * 50_000, ""),
        ("/apis", f"X-Long: {'secret' * 12_000}\r\n"),
        ("/apis", "X-Remote-Group: secret\r\n" * 1100),
    ],
    ids=["line", "header", "headers"],
)
async def test_f31_beyond_the_limits_there_is_one_status_without_an_echo(target, headers, caplog):
    """400 in JSON, the sender's bytes not in it; one more in the counter, no trace in the log."""
    status, body, closed = await asked(target, headers)
    assert (status, json.loads(body)["kind"], closed) == (400, "Status", {"malformed": 1})
    assert b"secret" not in body
    assert not [one for one in caplog.records if one.exc_info or one.levelname in {"ERROR", "WARNING"}]


async def test_f31_caller_with_a_thousand_groups_is_served():
    """One X-Remote-Group line per group."""
    assert (await asked("/apis", "X-Remote-Group: group\r\n" * 1000))[0] == 200
