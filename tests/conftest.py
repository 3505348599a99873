"""What all tests share: aioresponses made to work with aiohttp 3.14, until a release of it does so itself."""

import inspect
from types import SimpleNamespace

import aiohttp
import aioresponses.core


class _Response(aiohttp.ClientResponse):
    """aioresponses builds responses without the `stream_writer` that aiohttp 3.14 asks for; nothing was sent."""

    def __init__(self, *args, **kwargs):
        kwargs.setdefault("stream_writer", SimpleNamespace(output_size=0))
        super().__init__(*args, **kwargs)


if "stream_writer" in inspect.signature(aiohttp.ClientResponse.__init__).parameters:
    aioresponses.core.ClientResponse = _Response
