"""The kinds that a cluster usually has, for when there is no cluster to ask."""

from typing import Final

from adapter.wire.resources import Resource

_TABLE: Final = """
v1                          Pod                      pods                      namespaced
v1                          Namespace                namespaces                -
v1                          Node                     nodes                     -
v1                          Service                  services                  namespaced
v1                          Endpoints                endpoints                 namespaced
v1                          ConfigMap                configmaps                namespaced
v1                          Secret                   secrets                   namespaced
v1                          ServiceAccount           serviceaccounts           namespaced
v1                          ReplicationController    replicationcontrollers    namespaced
v1                          PersistentVolume         persistentvolumes         -
v1                          PersistentVolumeClaim    persistentvolumeclaims    namespaced
v1                          Event                    events                    namespaced
apps/v1                     Deployment               deployments               namespaced
apps/v1                     StatefulSet              statefulsets              namespaced
apps/v1                     DaemonSet                daemonsets                namespaced
apps/v1                     ReplicaSet               replicasets               namespaced
autoscaling/v2              HorizontalPodAutoscaler  horizontalpodautoscalers  namespaced
batch/v1                    Job                      jobs                      namespaced
batch/v1                    CronJob                  cronjobs                  namespaced
networking.k8s.io/v1        Ingress                  ingresses                 namespaced
networking.k8s.io/v1        NetworkPolicy            networkpolicies           namespaced
policy/v1                   PodDisruptionBudget      poddisruptionbudgets      namespaced
storage.k8s.io/v1           StorageClass             storageclasses            -
apiextensions.k8s.io/v1     CustomResourceDefinition customresourcedefinitions -
"""


def _row(line: str) -> Resource:
    api_version, kind, plural, scope = line.split()
    group, _, version = api_version.rpartition("/")
    return Resource(group, version, plural, kind.lower(), kind, namespaced=scope == "namespaced")


USUAL: Final = tuple(_row(line) for line in _TABLE.strip().splitlines())


def guessed(api_version: str, kind: str, *, namespaced: bool) -> Resource:
    """A kind that is not in the table, with the plural that most custom resources have."""
    group, _, version = api_version.rpartition("/")
    singular = kind.lower()
    return Resource(group, version, _plural(singular), singular, kind, namespaced)


def _plural(singular: str) -> str:
    if singular.endswith("y") and singular[-2:-1] not in "aeiou":
        return singular[:-1] + "ies"
    return singular + ("es" if singular.endswith(("s", "x", "z", "ch", "sh")) else "s")
