"""The headers of every request."""

import pytest

from adapter.prometheus.transport import Transport


@pytest.mark.parametrize("headers", [{"X-Scope-OrgID": "team-a"}, [("X-Scope-OrgID", "team-a")]])
def test_configured_headers_are_sent(headers):
    """A mapping or pairs: both will do."""
    assert Transport(headers=headers).all_headers(None)["X-Scope-OrgID"] == "team-a"


def test_repeated_headers_are_all_sent():
    """Pairs with the same name add values, as upstream has it."""
    found = Transport(headers=[("X-A", "1"), ("x-a", "2")]).all_headers(None)
    assert found.getall("X-A") == ["1", "2"]


def test_headers_of_the_transport_cannot_be_replaced():
    """Host and the framing are not a configuration's to decide."""
    found = Transport(headers={"host": "other", "content-type": "x", "Content-Length": "1"}).all_headers(None)
    assert dict(found) == {"Accept": "application/json"}


def test_configured_authorization_goes_before_user_info():
    """As upstream has it: the address's user info is used only if no Authorization is configured."""
    assert Transport().all_headers("Basic x")["Authorization"] == "Basic x"
    assert Transport(headers={"authorization": "Bearer y"}).all_headers("Basic x").getall(
        "Authorization"
    ) == ["Bearer y"]


def test_header_values_are_not_shown():
    """repr() of the transport holds no header value."""
    assert "hunter2" not in repr(Transport(headers={"Authorization": "hunter2"}))
