"""The serving certificate."""

import datetime
import ssl

import pytest
from cryptography import x509

from adapter.server import tls
from adapter.settings import Serving

NOW = datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC)


def test_pair_is_made_once_and_used_again(tmp_path):
    """A missing pair is made for localhost and 127.0.0.1; the next start finds it there."""
    serving = Serving(cert_dir=str(tmp_path / "deep" / "er"))
    cert, key = tls.pair(serving, now=NOW)
    first = cert.read_bytes()
    assert tls.pair(serving, now=NOW) == (cert, key)
    assert cert.read_bytes() == first
    names = x509.load_pem_x509_certificate(first).extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    assert names.value.get_values_for_type(x509.DNSName) == ["localhost"]
    assert key.stat().st_mode & 0o077 == 0


def test_own_pair_that_is_about_to_expire_is_made_anew(tmp_path):
    """Eleven months on, a start makes a new one; a pair that somebody else put there is never replaced."""
    serving = Serving(cert_dir=str(tmp_path))
    cert, _ = tls.pair(serving, now=NOW)
    first = cert.read_bytes()
    tls.pair(serving, now=NOW + datetime.timedelta(days=300))
    assert cert.read_bytes() == first
    tls.pair(serving, now=NOW + datetime.timedelta(days=340))
    assert cert.read_bytes() != first


def test_given_pair_is_used(tmp_path):
    """Files named by flags are taken as they are; nothing is made."""
    made = tls.pair(Serving(cert_dir=str(tmp_path)), now=NOW)
    serving = Serving(cert_file=str(made[0]), key_file=str(made[1]), cert_dir=str(tmp_path / "other"))
    assert tls.pair(serving, now=NOW) == made
    assert not (tmp_path / "other").exists()
    assert tls.context(serving, now=NOW).minimum_version == ssl.TLSVersion.TLSv1_2


def test_half_a_pair_is_refused(tmp_path):
    """One flag without the other names no pair."""
    with pytest.raises(tls.CertificateRefused, match="belong together"):
        tls.pair(Serving(cert_file="only.crt"), now=NOW)


def test_broken_pair_is_refused_by_name(tmp_path):
    """A file that is no certificate is named in the refusal."""
    (tmp_path / "a.crt").write_text("nothing")
    (tmp_path / "a.key").write_text("nothing")
    serving = Serving(cert_file=str(tmp_path / "a.crt"), key_file=str(tmp_path / "a.key"))
    with pytest.raises(tls.CertificateRefused, match=r"a\.crt"):
        tls.context(serving, now=NOW)


def test_directory_that_cannot_be_written_is_refused_with_advice(tmp_path):
    """The refusal names both ways out."""
    (tmp_path / "file").write_text("")
    serving = Serving(cert_dir=str(tmp_path / "file" / "certificates"))
    with pytest.raises(tls.CertificateRefused, match="--tls-cert-file"):
        tls.pair(serving, now=NOW)


def test_only_forward_secret_authenticated_suites_are_offered(tmp_path):
    """No CBC, no static RSA."""
    context = tls.context(Serving(cert_dir=str(tmp_path)), now=NOW)
    for cipher in context.get_ciphers():
        assert cipher["aead"], cipher["name"]
        assert cipher["protocol"] == "TLSv1.3" or cipher["name"].startswith("ECDHE"), cipher["name"]
