"""F46: a path without a guard (its pure part: each row of the table has a question that can be reviewed).

To see them fail: let `attributes.of_match` leave out what a row's parts say.
"""

import pytest
from multidict import CIMultiDict

from adapter import errors
from adapter.access import attributes
from adapter.access.identify import Identify
from adapter.access.permissions import Permissions
from adapter.access.tokens import Tokens
from adapter.flows.authority import AuthorityFlow
from adapter.server import routes
from adapter.wire.identity import User
from tests.support.certificates import NOW, Pki
from tests.support.clock import FakeClock
from tests.support.reviewing import Reviewing

VALUES = {
    "version": "v1beta2",
    "namespace": "shop",
    "resource": "pods",
    "name": "web-1",
    "metric": "rps",
    "check": "ping",
}
"""What stands in a path for `{...}`: a different word each."""


def filled(pattern, values=VALUES):
    return pattern.format(**values)


ROWS = sorted({row.pattern for row in routes.TABLE})


def question(path):
    match = routes.match(path)
    assert match is not None
    return attributes.of_match(match.action, match.parts, path)


@pytest.mark.parametrize("pattern", ROWS)
def test_f46_each_row_has_a_question(pattern):
    """It is the one that kube-apiserver asks for the same path."""
    path = filled(pattern)
    assert question(path) == attributes.of_path(path)


@pytest.mark.parametrize("pattern", ROWS)
def test_f46_each_question_is_about_a_path_or_a_resource(pattern):
    """Never about both, never about nothing: an empty question could be allowed by mistake."""
    found = question(filled(pattern))
    assert bool(found.path) != bool(found.resource)
    assert found.verb in ("get", "list")


@pytest.mark.parametrize("part", ["namespace", "resource", "name", "metric"])
@pytest.mark.parametrize("pattern", [row for row in ROWS if "{metric}" in row])
def test_f46_each_part_of_a_path_is_a_part_of_its_question(pattern, part):
    """Two paths that differ in what they are about are two questions."""
    if f"{{{part}}}" in pattern:
        assert question(filled(pattern)) != question(filled(pattern, VALUES | {part: "other"}))


@pytest.mark.parametrize("pattern", ROWS)
async def test_f46_each_row_is_reviewed_for_whoever_is_no_administrator(pattern):
    """None is let through by its name."""
    reviews = Reviewing()
    found = Permissions(reviews, FakeClock())
    with pytest.raises(errors.NotAllowed):
        await found.check(User("mallory", proxied=True), question(filled(pattern)))
    assert len(reviews.asked) == 1


async def test_f46_who_shows_nothing_gets_as_far_as_no_question():
    """He is refused before a path is looked at."""

    class Source:
        async def read(self):
            return Pki().data()

    flow = AuthorityFlow(Source())
    await flow.once()
    with pytest.raises(errors.NotAuthenticated):
        await Identify(Tokens(Reviewing(), FakeClock()), flow).who(None, CIMultiDict(), now=NOW)
