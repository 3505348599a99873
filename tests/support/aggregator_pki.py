"""The certificates of an API server with an aggregation layer as files, and the TLS of its own port."""

import ssl
from pathlib import Path

from tests.support.certificates import PROXY_NAME, SERVERS, Issuer, Pki


class ClusterFiles:
    """In `directory`: ca.crt, the API server's own pair, and its front-proxy pair."""

    def __init__(self, directory: Path, pki: Pki | None = None) -> None:
        self.directory, self.pki = directory, pki or Pki()
        self.ca = directory / "ca.crt"
        self.ca.write_text(self.pki.cluster.pem)
        (directory / "front-proxy-ca.crt").write_text(self.pki.proxy.pem)
        self.server = self.pki.cluster.leaf(
            "kube-apiserver", usages=SERVERS, hosts=("127.0.0.1", "kubernetes.default.svc")
        ).write(directory, "kube-apiserver")
        self.front_proxy = self.new_front_proxy()

    def new_front_proxy(self, issuer: Issuer | None = None, name: str = PROXY_NAME) -> tuple[str, str]:
        """Another front-proxy pair in place of the one that is there, of another CA if given."""
        return (issuer or self.pki.proxy).leaf(name).write(self.directory, PROXY_NAME)

    def context(self) -> ssl.SSLContext:
        """The TLS of the API server: callers may show certificates of the cluster's CA."""
        made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata=self.pki.cluster.pem)
        made.verify_mode = ssl.CERT_OPTIONAL
        made.load_cert_chain(*self.server)
        return made

    def serving(self, *names: str, issuer: Issuer | None = None) -> tuple[Issuer, str, str]:
        """(its CA, certificate file, key file) of an extension API server with these names."""
        made = issuer or Issuer("adapter-ca")
        return made, *made.leaf("adapter", usages=SERVERS, hosts=names).write(self.directory, "adapter")
