"""A corpus of requests as bytes, ordinary and hostile: what is answered, and that nothing else is (F31, F32, F33)."""

import pytest

from tests.support import raw_requests

CORPUS = raw_requests.corpus()

pytestmark = pytest.mark.timeout(20)


@pytest.mark.parametrize("raw", CORPUS, ids=[one.name for one in CORPUS])
async def test_request_is_answered_as_listed(raw, caplog):
    """The statuses, in JSON, without an echo and without an error in the log; then the connection ends, or lives."""
    async with raw_requests.adapters_door() as door:
        raw.check(await raw.told(door))
    assert [one.message for one in caplog.records if one.levelname in {"ERROR", "WARNING"}] == []


def test_corpus_is_large():
    """About sixty requests were promised; names are unlike."""
    assert len({one.name for one in CORPUS}) == len(CORPUS) >= 60
