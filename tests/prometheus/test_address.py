"""The backend's address: endpoints, user info, and what may be shown."""

import base64

import pytest

from adapter.prometheus import address


@pytest.mark.parametrize(
    ("base", "endpoint"),
    [
        ("http://p:9090", "http://p:9090/api/v1/query"),
        ("http://p:9090/", "http://p:9090/api/v1/query"),
        ("https://p/prefix", "https://p/prefix/api/v1/query"),
        ("https://p/prefix/", "https://p/prefix/api/v1/query"),
        ("https://p/a%2Fb", "https://p/a%2Fb/api/v1/query"),
        ("https://p/x?dedup=true", "https://p/x/api/v1/query?dedup=true"),
        ("https://u:s@p", "https://p/api/v1/query"),
        ("http://[::1]:9090", "http://[::1]:9090/api/v1/query"),
    ],
)
def test_path_is_joined_with_the_api_path(base, endpoint):
    """The address's path and query stay, a trailing slash does no harm, user info does not travel in the URL."""
    assert str(address.parse(base).endpoint("query")) == endpoint


def test_user_info_becomes_basic_auth():
    """User and password of the address are sent as Basic, decoded first."""
    found = address.parse("https://us%40er:p%3Aw%C3%A4@p").authorization
    assert found == "Basic " + base64.b64encode("us@er:p:wä".encode()).decode()


def test_user_without_password_becomes_basic_auth():
    """A token is often given as a user alone."""
    assert address.parse("https://token@p").authorization == "Basic " + base64.b64encode(b"token:").decode()


def test_address_without_user_info_authorizes_nothing():
    """No user info, no header."""
    assert address.parse("https://p").authorization is None


def test_safe_url_and_repr_hold_no_secret():
    """What may be shown has neither user info nor query, and repr() shows no more."""
    found = address.parse("https://user:hunter2@p:1/x?token=hunter2")
    assert found.safe_url == "https://p:1/x"
    assert "hunter2" not in repr(found)
    assert str(found.authorization) not in repr(found)


@pytest.mark.parametrize(
    "text", ["", "p:9090", "ftp://hunter2@p", "http://", "http://hunter2:port:x/", "/hunter2"]
)
def test_what_is_no_http_address_is_refused_without_being_repeated(text):
    """The refusal never shows the text: it may hold a password."""
    with pytest.raises(ValueError) as caught:
        address.parse(text)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
