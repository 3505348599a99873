"""The pair that signs itself."""

import datetime

import pytest
from cryptography import x509

from adapter.server import self_signed
from tests.support.certificates import SERVERS, Issuer

NOW = datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC)


def test_pair_is_made_once_and_used_again(tmp_path):
    """A missing pair is made for localhost and 127.0.0.1, its key for us alone; the next start finds it there."""
    cert, key = self_signed.ensure(tmp_path / "deep" / "er", NOW)
    first = cert.read_bytes()
    assert self_signed.ensure(tmp_path / "deep" / "er", NOW) == (cert, key)
    assert cert.read_bytes() == first
    names = x509.load_pem_x509_certificate(first).extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    assert names.value.get_values_for_type(x509.DNSName) == ["localhost"]
    assert key.stat().st_mode & 0o077 == 0


def test_own_pair_that_is_about_to_expire_is_made_anew(tmp_path):
    """Eleven months on there is a new one."""
    cert, _ = self_signed.ensure(tmp_path, NOW)
    first = cert.read_bytes()
    self_signed.ensure(tmp_path, NOW + datetime.timedelta(days=300))
    assert cert.read_bytes() == first
    self_signed.ensure(tmp_path, NOW + datetime.timedelta(days=340))
    assert cert.read_bytes() != first


@pytest.mark.parametrize("text", [None, "nothing"])
def test_pair_of_somebody_else_is_never_replaced(tmp_path, text):
    """However old or broken it is: it is not ours."""
    leaf = Issuer("theirs").leaf("adapter", usages=SERVERS)
    leaf.write(tmp_path, "apiserver")
    if text:
        (tmp_path / self_signed.CERT_NAME).write_text(text)
    before = (tmp_path / self_signed.CERT_NAME).read_bytes()
    self_signed.ensure(tmp_path, NOW + datetime.timedelta(days=100_000))
    assert (tmp_path / self_signed.CERT_NAME).read_bytes() == before
