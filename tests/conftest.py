"""What all tests share: aioresponses made to work with aiohttp 3.14, and no test left out in CI."""

import inspect
import logging
import os
from types import SimpleNamespace

import aiohttp
import aioresponses.core
import pytest


class _Response(aiohttp.ClientResponse):
    """aioresponses builds responses without the `stream_writer` that aiohttp 3.14 asks for; nothing was sent."""

    def __init__(self, *args, **kwargs):
        kwargs.setdefault("stream_writer", SimpleNamespace(output_size=0))
        super().__init__(*args, **kwargs)


if "stream_writer" in inspect.signature(aiohttp.ClientResponse.__init__).parameters:
    aioresponses.core.ClientResponse = _Response


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    """In CI a skipped test is a failed one: what it needs must be installed."""
    if report.skipped and os.environ.get("CI"):
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} was skipped, and CI leaves out no test: {report.longrepr}"


@pytest.fixture(autouse=True)
def _logging_as_it_was():
    """A test that starts the server in this process sets up logging for itself alone."""
    root, ours = logging.getLogger(), logging.getLogger("adapter")
    level, handlers, own_level = root.level, list(root.handlers), ours.level
    yield
    root.setLevel(level)
    root.handlers[:] = handlers
    ours.setLevel(own_level)
