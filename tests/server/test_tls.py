"""The TLS of the next connection."""

import datetime
import logging
import ssl

import pytest

from adapter.server import suites, tls
from adapter.server.pair import CertificateRefused
from adapter.server.tls import DAY_SECONDS, Contexts
from adapter.settings import Serving
from tests.support import doors
from tests.support.certificates import Pki


@pytest.fixture(scope="module")
def pki() -> Pki:
    return Pki()


def test_contexts_of_settings(tmp_path):
    """The pair in --cert-dir, made if need be, and the suites of the flags."""
    serving = Serving(cert_dir=str(tmp_path), tls_min_version="VersionTLS13")
    made = tls.contexts(serving, datetime.datetime.now(datetime.UTC)).current()
    assert made.minimum_version == ssl.TLSVersion.TLSv1_3


def test_callers_are_asked_for_certificates_once_their_cas_are_known(pki):
    """Before, nobody is asked; of both bundles in one text, all CAs count; without any, nobody again."""
    contexts = doors.contexts()
    first = contexts.current()
    assert first.verify_mode is ssl.CERT_NONE
    contexts.update(pki.proxy.pem + "\n" + pki.cluster.pem)
    second = contexts.current()
    assert second.verify_mode is ssl.CERT_OPTIONAL
    assert len(second.get_ca_certs()) == 2
    assert first.verify_mode is ssl.CERT_NONE  # a context that is in use never changes
    contexts.update("")
    assert contexts.current().verify_mode is ssl.CERT_NONE


def test_same_cas_make_no_new_context(pki):
    """The source tells what it read each time; nothing changes by that."""
    contexts = doors.contexts()
    contexts.update(pki.proxy.pem)
    context = contexts.current()
    contexts.update(pki.proxy.pem + "\n")
    assert contexts.current() is context


def test_unusable_cas_change_nothing(pki, caplog):
    """A line, and the CAs of before."""
    contexts = doors.contexts()
    contexts.update(pki.proxy.pem)
    context = contexts.current()
    contexts.update("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    assert contexts.current() is context
    assert [one.message for one in caplog.records] == ["client_ca_rejected"]


def test_new_pair_keeps_the_cas(pki):
    """And new CAs keep the pair."""
    contexts = doors.contexts()
    contexts.update(pki.proxy.pem)
    leaf = doors.serving_leaf()
    contexts.update_pair(leaf.pem.encode(), leaf.key_pem.encode())
    assert contexts.current().verify_mode is ssl.CERT_OPTIONAL
    contexts.update(pki.proxy.pem + pki.cluster.pem)
    assert contexts.pair.cert == leaf.pem.encode()


@pytest.mark.parametrize("cert", [b"nothing", doors.serving_leaf().pem.encode()])
def test_refused_pair_changes_nothing(cert):
    """The one of before is served on."""
    contexts = doors.contexts()
    before = (contexts.current(), contexts.pair, contexts.not_after)
    with pytest.raises(CertificateRefused, match="my secret"):
        contexts.update_pair(cert, doors.usual_pair().key, source="my secret")
    assert (contexts.current(), contexts.pair, contexts.not_after) == before


def test_context_is_strict():
    """No tickets in either version, no renegotiation, no compression, HTTP/1.1 only."""
    made = doors.contexts().current()
    for option in (ssl.OP_NO_TICKET, ssl.OP_NO_RENEGOTIATION, ssl.OP_NO_COMPRESSION):
        assert made.options & option
    assert made.num_tickets == 0
    assert made.sni_callback is None  # see gate.py


def test_weak_suites_that_were_asked_for_are_named_once(caplog):
    """The operator sees what the flag does not do."""
    serving = Serving(
        tls_cipher_suites=("TLS_RSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
    )
    contexts = Contexts(doors.usual_pair(), suites.of(serving))
    contexts.update("")
    assert [(one.message, one.suites) for one in caplog.records] == [
        ("cipher_suites_left_out", "TLS_RSA_WITH_AES_128_CBC_SHA")
    ]


def test_end_of_the_certificate_is_said_in_time_and_once(caplog):
    """A line at 7 days, at 1 day, and when it is over; a new pair starts anew."""
    caplog.set_level(logging.INFO)
    contexts = doors.contexts()
    end = contexts.not_after.timestamp()
    lines = []
    for days in (30, 7.1, 6.9, 3, 1.1, 0.9, 0.5, -0.1, -3):
        contexts.warn(end - days * DAY_SECONDS)
        lines.append((days, len(caplog.records)))
        caplog.clear()
    assert [days for days, count in lines if count] == [6.9, 0.9, -0.1]
    pair = contexts.pair
    contexts.update_pair(pair.cert, pair.key)
    contexts.warn(end - 60)
    assert [(one.message, one.seconds) for one in caplog.records] == [("certificate_expires", 60)]


def test_end_of_the_certificate_is_shown():
    """As seconds for machines, as words for people."""
    contexts = doors.contexts()
    end = contexts.not_after.timestamp()
    assert contexts.expires_in(end - 60) == 60
    assert contexts.describe(end - 90061) == "expires in 1 day, 1:01:01"
    assert contexts.describe(end + 3600) == "EXPIRED 1:00:00 ago"
