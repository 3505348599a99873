"""The serving pair: where it comes from, and whether it is fit."""

import datetime
import ssl

import pytest
from cryptography.hazmat.primitives import serialization

from adapter.server import self_signed
from adapter.server.pair import CertificateRefused, Pair, PairFiles
from adapter.settings import Serving
from tests.support import doors
from tests.support.certificates import EXPIRED, NOT_YET, NOW


def context() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)


def test_given_files_are_used(tmp_path):
    """Files named by flags are taken as they are; nothing is made."""
    leaf = doors.serving_leaf()
    cert, key = leaf.write(tmp_path, "given")
    pair = PairFiles(Serving(cert_file=cert, key_file=key, cert_dir=str(tmp_path / "other"))).read(NOW)
    assert (pair.cert, pair.key) == (leaf.pem.encode(), leaf.key_pem.encode())
    assert not (tmp_path / "other").exists()
    pair.load_into(context())


def test_without_files_a_pair_is_made(tmp_path):
    """In the directory of --cert-dir."""
    PairFiles(Serving(cert_dir=str(tmp_path))).read(NOW).load_into(context())
    assert (tmp_path / self_signed.CERT_NAME).exists()


@pytest.mark.parametrize("half", [{"cert_file": "only.crt"}, {"key_file": "only.key"}])
def test_half_a_pair_is_refused(half):
    """One flag without the other names no pair."""
    with pytest.raises(CertificateRefused, match="belong together"):
        PairFiles(Serving(**half))


def test_file_that_is_not_there_is_named(tmp_path):
    """With the reason in words."""
    files = PairFiles(Serving(cert_file=str(tmp_path / "a.crt"), key_file=str(tmp_path / "a.key")))
    with pytest.raises(CertificateRefused, match=r"a\.crt with .*a\.key cannot be read: No such file"):
        files.read(NOW)


def test_directory_that_cannot_be_written_is_refused_with_advice(tmp_path):
    """The refusal names both ways out."""
    (tmp_path / "file").write_text("")
    with pytest.raises(CertificateRefused, match="--tls-cert-file"):
        PairFiles(Serving(cert_dir=str(tmp_path / "file" / "certificates"))).read(NOW)


LEAF, OTHER = doors.serving_leaf(), doors.serving_leaf()
CERT, KEY = LEAF.pem.encode(), LEAF.key_pem.encode()
NO_PEM = "cannot be used: one is no PEM, or is cut off"
LOCKED = LEAF.key.private_bytes(
    serialization.Encoding.PEM,
    serialization.PrivateFormat.PKCS8,
    serialization.BestAvailableEncryption(b"word"),
)


@pytest.mark.parametrize(
    ("cert", "key", "why"),
    [
        (CERT, OTHER.key_pem.encode(), "key values mismatch"),
        (CERT, b"", NO_PEM),
        (CERT, KEY[:60], NO_PEM),
        (b"nothing", KEY, NO_PEM),
        (CERT[:200], KEY, NO_PEM),
        (b"", b"", NO_PEM),
        (CERT, LOCKED, "encrypted"),
        (KEY, CERT, NO_PEM),
    ],
)
def test_broken_pair_is_refused_by_name(cert, key, why):
    """Mismatched, cut off, empty, locked or mixed up: the source and the reason are said, nobody is asked."""
    with pytest.raises(CertificateRefused, match=f"^here.*{why}"):
        Pair(cert, key, "here").load_into(context())


def test_chain_is_served(tmp_path):
    """What follows the certificate in its file goes along."""
    made = context()
    Pair(CERT + doors.authority().pem.encode(), KEY).load_into(made)
    assert not made.get_ca_certs()  # shown, not trusted


@pytest.mark.parametrize(("valid", "fine"), [(None, True), (EXPIRED, False), (NOT_YET, False)])
def test_certificate_has_its_time(valid, fine):
    """Before and after it the certificate is not valid."""
    pair = doors.pair_of(doors.serving_leaf(**({"valid": valid} if valid else {})))
    assert pair.valid(NOW) is fine
    if not fine:
        with pytest.raises(CertificateRefused, match="has ended, or has not begun"):
            pair.check(NOW)


def test_what_is_no_certificate_has_no_time():
    """It is refused, not a traceback."""
    with pytest.raises(CertificateRefused, match="cannot be read"):
        Pair(b"nothing", KEY).expires()


def test_key_is_not_shown():
    """Neither by repr nor by comparison."""
    pair = Pair(CERT, KEY, "here")
    assert "PRIVATE" not in repr(pair)
    assert pair == Pair(CERT, KEY, "there")
    assert pair.expires() > datetime.datetime(2040, 1, 1, tzinfo=datetime.UTC)
