"""What the backend is shown, made from files: which of them count, and what is said of those that are no good."""

import ssl

import pytest
from cryptography.hazmat.primitives import serialization

from adapter.prometheus import login
from adapter.prometheus.login import CredentialsUnusable, Login, Paths
from adapter.settings import Prometheus
from tests.support.fake_kube_tls import Authority

MOUNTED = "/mounted"
PAIR = {"client_cert_file": "cert", "client_key_file": "key"}
CANARY = "canary-5f1e"


@pytest.fixture(scope="module")
def authority():
    return Authority("backend")


def made(paths: Paths, under: Login | None = None) -> Login:
    return login.make(paths, login.read(paths), under or Login())


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        ({}, Paths()),
        ({"ca_file": "ca", "token_file": "t"}, Paths("ca", token="t")),
        ({"ca_file": "ca"} | PAIR, Paths("ca", "cert", "key")),
        (PAIR, Paths("", "cert", "key")),
        ({"client_cert_file": "cert", "ca_file": "ca"}, Paths("ca")),
        ({"client_key_file": "key"}, Paths()),
        ({"auth_in_cluster": True}, Paths("/mounted/ca.crt", token="/mounted/token")),
        ({"auth_in_cluster": True, "token_file": "t"}, Paths("/mounted/ca.crt", token="t")),
        ({"auth_in_cluster": True} | PAIR, Paths("/mounted/ca.crt", token="/mounted/token")),
        ({"auth_in_cluster": True, "ca_file": "ca"}, Paths("ca")),
        ({"auth_kubeconfig": "k", "token_file": "t"}, Paths(token="t")),
        ({"auth_kubeconfig": "k"} | PAIR, Paths()),
        ({"auth_kubeconfig": "k", "ca_file": "ca"} | PAIR, Paths("ca", "cert", "key")),
    ],
)
def test_which_files_count(given, paths):
    """A CA file overrules the other ways; a token file overrules their tokens; half a pair is none."""
    assert login.choose(Prometheus(**given), service_account=MOUNTED) == paths


def test_nothing_given_is_the_systems_trust():
    """And no header."""
    found = made(Paths())
    assert (found.tls, found.authorization) == (True, None)


def test_what_files_leave_open_is_lent():
    """A token file wins over the lent token, the lent TLS stays."""
    lent = Login(tls=ssl.create_default_context(), authorization="Bearer lent", server_name="x")
    assert made(Paths(), lent).authorization == "Bearer lent"
    assert made(Paths(), lent).tls is lent.tls


@pytest.mark.parametrize("content", [b"abc", b"abc\n", b"  abc\r\n", b"abc\n\n"])
def test_space_around_a_token_is_cut_off(content, tmp_path):
    """Upstream sends the line break along, and no request succeeds."""
    (tmp_path / "token").write_bytes(content)
    lent = Login(authorization="Bearer lent")
    assert made(Paths(token=str(tmp_path / "token")), lent).authorization == "Bearer abc"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        (b"", "is empty"),
        (b" \n", "is empty"),
        (f"{CANARY} two".encode(), "printable ASCII"),
        (f"{CANARY}\ntwo".encode(), "printable ASCII"),
        (f"{CANARY}\u00e4".encode(), "printable ASCII"),
        (CANARY.encode("utf-16"), "printable ASCII"),
    ],
)
def test_what_is_no_token_is_told_by_the_name_of_its_file(content, words, tmp_path):
    """Never by its content."""
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CredentialsUnusable, match=words) as caught:
        made(Paths(token=str(path)))
    assert str(path) in str(caught.value)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    "content", [None, b"", b"\n", b"canary-5f1e", b"-----BEGIN CERTIFICATE-----\ncanary-5f1e\n"]
)
def test_a_bundle_without_certificates_is_never_the_systems_trust(content, tmp_path):
    """An empty file above all: the library would then trust every public CA."""
    path = tmp_path / "ca.crt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CredentialsUnusable, match=r"ca\.crt") as caught:
        made(Paths(str(path)))
    assert CANARY not in str(caught.value)


def test_a_given_bundle_is_all_that_is_trusted(authority, tmp_path):
    """Verification is on, and 1.2 is the oldest version; comments in the file do no harm."""
    (tmp_path / "ca.crt").write_bytes("# Zertifizierungsstelle für die Metriken\n".encode() + authority.pem)
    context = made(Paths(str(tmp_path / "ca.crt"))).tls
    assert isinstance(context, ssl.SSLContext)
    assert len(context.get_ca_certs()) == 1
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_strictness_can_be_switched_off(authority, tmp_path):
    """For CAs of old installers (--disable-strict-x509)."""
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    context = made(Paths(str(tmp_path / "ca.crt"), strict=False)).tls
    assert isinstance(context, ssl.SSLContext)
    assert not context.verify_flags & ssl.VERIFY_X509_STRICT


def test_a_pair_that_does_not_match_is_told_by_its_files(authority, tmp_path):
    """As it is for a moment while both are written anew."""
    cert, _ = authority.client("one").write(tmp_path, "one")
    _, key = authority.client("two").write(tmp_path, "two")
    with pytest.raises(CredentialsUnusable, match="key values mismatch") as caught:
        made(Paths("", cert, key))
    assert cert in str(caught.value)
    assert "BEGIN" not in str(caught.value)


@pytest.mark.parametrize("broken", ["cert", "key"])
def test_half_a_pair_is_told_by_its_file(broken, authority, tmp_path):
    """The file that is not there."""
    paths = dict(zip(("cert", "key"), authority.client("one").write(tmp_path, "one"), strict=True))
    paths[broken] = str(tmp_path / "nothing")
    with pytest.raises(CredentialsUnusable, match="nothing: it cannot be read"):
        made(Paths("", **paths))


def test_an_encrypted_key_is_refused(authority, tmp_path):
    """Nobody is there to type a password, and OpenSSL would ask for one."""
    pair = authority.client("one")
    key = serialization.load_pem_private_key(pair.key, None)
    locked = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )
    cert, path = pair.write(tmp_path, "one")
    (tmp_path / "one.key").write_bytes(locked)
    with pytest.raises(CredentialsUnusable, match="without a password"):
        made(Paths("", cert, path))


def test_nothing_shows_a_secret_by_its_repr(tmp_path):
    """Neither the contents nor the login."""
    (tmp_path / "token").write_text(CANARY)
    paths = Paths(token=str(tmp_path / "token"))
    contents = login.read(paths)
    assert CANARY not in f"{contents!r} {login.make(paths, contents, Login())!r} {contents.digest()!r}"
