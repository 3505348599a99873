"""The certificates of an API server with an aggregation layer as files, and the TLS of its own port."""

import json
import ssl
from pathlib import Path

from tests.support.certificates import PROXY_NAME, SERVERS, Issuer, Pki

SERVER = "kube-apiserver"


class ClusterFiles:
    """As they lie in `directory`: the cluster's CA, the API server's own pair, its front-proxy pair, the ConfigMap."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.ca = directory, directory / "ca.crt"
        self.server, self.front_proxy = self._pair(SERVER), self._pair(PROXY_NAME)

    @property
    def authorities(self) -> dict[str, str]:
        """The data of the ConfigMap that says whom an extension API server may believe."""
        found: dict[str, str] = json.loads((self.directory / "authorities.json").read_text(encoding="utf-8"))
        return found

    def context(self) -> ssl.SSLContext:
        """The TLS of the API server: callers may show certificates of the cluster's CA."""
        made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=self.ca)
        made.verify_mode = ssl.CERT_OPTIONAL
        made.load_cert_chain(*self.server)
        return made

    def _pair(self, name: str) -> tuple[str, str]:
        return str(self.directory / f"{name}.crt"), str(self.directory / f"{name}.key")


class MadeFiles(ClusterFiles):
    """The same, made here: `pki` can sign more."""

    def __init__(self, directory: Path, pki: Pki | None = None) -> None:
        self.pki = pki or Pki()
        super().__init__(directory)
        self.ca.write_text(self.pki.cluster.pem)
        (directory / "front-proxy-ca.crt").write_text(self.pki.proxy.pem)
        (directory / "authorities.json").write_text(json.dumps(self.pki.data()))
        hosts = ("127.0.0.1", "kubernetes.default.svc")
        self.pki.cluster.leaf(SERVER, usages=SERVERS, hosts=hosts).write(directory, SERVER)
        self.new_front_proxy()

    def new_front_proxy(self, issuer: Issuer | None = None, name: str = PROXY_NAME) -> None:
        """Another front-proxy pair in place of the one that is there, of another CA if given."""
        (issuer or self.pki.proxy).leaf(name).write(self.directory, PROXY_NAME)

    def serving(self, *names: str, issuer: Issuer | None = None) -> tuple[Issuer, str, str]:
        """(its CA, certificate file, key file) of an extension API server with these names."""
        made = issuer or Issuer("adapter-ca")
        return made, *made.leaf("adapter", usages=SERVERS, hosts=names).write(self.directory, "adapter")
