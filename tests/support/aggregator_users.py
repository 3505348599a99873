"""Who asks a stand-in API server: client certificate, bearer token, or nobody; and whom they speak for."""

import ssl

from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.x509.oid import NameOID

from tests.support import aggregator_attributes as attributes
from tests.support import aggregator_wire as wire
from tests.support import fake_kube_rbac as rbac
from tests.support.fake_kube_rbac import Attributes, User
from tests.support.fake_kube_refusals import Refusal
from tests.support.fake_kube_reviews import Reviews

CREDENTIAL = "authentication.kubernetes.io/credential-id"


def asking(request: web.Request, reviews: Reviews) -> User:
    """The user of this request. Raises Refusal for a bad token and for speaking for others without the right to."""
    own = _own(request, reviews)
    named = wire.impersonated(request.headers.items())
    if named is None:
        return own
    wanted = [Attributes("impersonate", resource="users", name=named.name)]
    wanted += [Attributes("impersonate", resource="groups", name=group) for group in named.groups]
    for one in wanted:
        if not reviews.allowed(own, one):
            raise attributes.forbidden(own, one)
    return rbac.ANONYMOUS if named.name == rbac.ANONYMOUS.name else rbac.authenticated(named)


def _own(request: web.Request, reviews: Reviews) -> User:
    der = _certificate(request)
    if der is not None:
        return rbac.authenticated(_of_certificate(der))
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        return rbac.ANONYMOUS
    found = reviews.users.get(token.strip())
    if found is None:
        raise Refusal(401, "Unauthorized", "Unauthorized")
    return rbac.authenticated(found)


def _certificate(request: web.Request) -> bytes | None:
    tls = request.transport.get_extra_info("ssl_object") if request.transport else None
    return tls.getpeercert(binary_form=True) if isinstance(tls, ssl.SSLObject) else None


def _of_certificate(der: bytes) -> User:
    """The handshake has verified it against the cluster's CA."""
    certificate = x509.load_der_x509_certificate(der)
    name = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value
    groups = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    digest = f"X509SHA256={certificate.fingerprint(hashes.SHA256()).hex()}"
    return User(str(name), tuple(str(one.value) for one in groups), extra={CREDENTIAL: (digest,)})
