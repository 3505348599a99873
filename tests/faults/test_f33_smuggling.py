"""F33: ambiguous framing. The corpus is tests/data/raw-requests.yaml; here it meets aiohttp's other parser."""

import os
import subprocess
import sys

import pytest

from adapter.cli import parts
from tests.support import raw_requests
from tests.support.raw_requests import Raw

pytestmark = pytest.mark.timeout(60)


def test_f33_the_parser_in_python_passes_the_corpus():
    """The one in C serves; this one would, where no wheel fits. Each has its own past of smuggling."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.raw_requests"],
        env={**os.environ, "AIOHTTP_NO_EXTENSIONS": "1"},
        cwd=parts.ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "parser in Python: True\n"


@pytest.mark.parametrize(
    "framing",
    [
        "Content-Length: 6\r\nTransfer-Encoding: chunked",
        "Content-Length: 0\r\nContent-Length: 44",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Content-Length : 33",
    ],
)
async def test_f33_ambiguous_framing_is_one_400_and_the_end(framing):
    """Whatever follows is not read as a request: a proxy in front may have seen it as a body."""
    hidden = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
    data = f"GET /apis HTTP/1.1\r\nHost: a\r\n{framing}\r\n\r\n0\r\n\r\n{hidden}".encode()
    raw = Raw("ambiguous", data, [400], closes=True)
    async with raw_requests.adapters_door() as door:
        raw.check(await raw.told(door))
