"""One file per mistake, with the words that a user sees beside it."""

import pytest

from adapter.rulebook import findings, parse
from tests.rulebook.upstream import DATA

FILES = sorted(DATA.glob("bad-*.yaml"))


def report(name: str, text: str) -> str:
    book = parse.parse(text, name, compat=False)
    shown = [f"{one}\n{findings.caret(one, text)}\n" for one in book.findings]
    kept = [one.id for one in (*book.rules, *book.external)] + (["resourceRules"] if book.resource else [])
    return "\n".join([*shown, f"kept: {', '.join(kept) or 'nothing'}\n"])


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_mistake_is_told_with_its_place_and_its_remedy(path):
    """The report is the text beside the file, and what has no mistake is kept."""
    text = path.read_bytes().decode()
    assert report(path.name, text) == path.with_suffix(".txt").read_text(encoding="utf-8")


def test_there_are_at_least_thirty_broken_files():
    """The collection does not shrink unnoticed."""
    assert len(FILES) >= 60
