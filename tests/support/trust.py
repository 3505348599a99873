"""What an API server does with a registration's CA bundle: it believes a certificate, or it does not."""

import datetime

from cryptography import x509
from cryptography.x509 import verification


def accepts(bundle: bytes, certificate: bytes, name: str, now: datetime.datetime) -> bool:
    """Whether a client that trusts `bundle` (PEM) takes this server certificate (PEM) for `name` at this time."""
    store = verification.Store(x509.load_pem_x509_certificates(bundle))
    verifier = verification.PolicyBuilder().store(store).time(now).build_server_verifier(x509.DNSName(name))
    try:
        verifier.verify(x509.load_pem_x509_certificate(certificate), [])
    except verification.VerificationError:
        return False
    return True
