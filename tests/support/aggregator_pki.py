"""The certificates of a cluster with an aggregation layer, as kubeadm makes them: a cluster CA and a front-proxy CA."""

from dataclasses import dataclass, field
from pathlib import Path

from tests.support.fake_kube_tls import Authority, Pair

PROXY_NAME = "front-proxy-client"


@dataclass
class ClusterPki:
    """Authorities and the API server's own pairs, also as files in `directory`."""

    directory: Path
    cluster: Authority = field(default_factory=Authority)
    proxy: Authority = field(default_factory=lambda: Authority("front-proxy-ca"))

    def __post_init__(self) -> None:
        (self.directory / "ca.crt").write_bytes(self.cluster.pem)
        (self.directory / "front-proxy-ca.crt").write_bytes(self.proxy.pem)
        self.front_proxy = self.proxy.client(PROXY_NAME).write(self.directory, PROXY_NAME)

    @property
    def ca_file(self) -> Path:
        return self.directory / "ca.crt"

    def renew_front_proxy(self, authority: Authority | None = None) -> None:
        """The API server's client certificate is another one from now on, of another CA if given."""
        self.proxy = authority or self.proxy
        self.front_proxy = self.proxy.client(PROXY_NAME).write(self.directory, PROXY_NAME)

    def client(self, name: str, *groups: str) -> Pair:
        """A user's certificate."""
        return self.cluster.client(name, *groups)


def serving(directory: Path, *names: str, authority: Authority | None = None) -> tuple[Authority, str, str]:
    """(its CA, certificate file, key file) of an extension API server with these DNS names."""
    made = authority or Authority("adapter-ca")
    return made, *made.server(*names).write(directory, "serving")
