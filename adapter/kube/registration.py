"""APIServices: by each the API server learns where to send the requests for one version of one API group."""

from typing import Final

from adapter.kube.client import KubeClient
from adapter.kube.named import Named

PATH: Final = "/apis/apiregistration.k8s.io/v1/apiservices"


class KubeRegistrations(Named):
    """This reads and writes them, each by its name, VERSION.GROUP."""

    def __init__(self, kube: KubeClient) -> None:
        super().__init__(kube, "APIService", PATH)
