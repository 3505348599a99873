"""The objects of one kind, by namespace and name. Pure; sized for 150,000 pods.

Objects with the same labels share one mapping, and label keys, label values and namespaces are interned: the
pods of a ReplicaSet cost little more than their names.
"""

import itertools
import sys
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Final

from adapter.wire.objects import Object
from adapter.wire.selectors import Selector

__all__ = ["Object", "Store"]

SPARE_LABEL_SETS: Final = 1024
"""How many more label sets than objects may be kept: Jobs come and go, each with labels of its own."""

_CHANGES: Final = itertools.count()
"""Numbers every change of every store."""

_by_name: Final = attrgetter("name")


class Store:
    """The objects of one kind."""

    def __init__(self, objects: Iterable[Object] = ()) -> None:
        self._namespaces: dict[str, dict[str, Object]] = {}
        self._label_sets: dict[int, Mapping[str, str]] = {}
        self._size = 0
        self._changed = next(_CHANGES)
        self._changed_at: dict[str, int] = {}
        self._born = self._changed
        for one in objects:
            self.put(one)

    def __len__(self) -> int:
        return self._size

    def put(self, one: Object) -> None:
        """This object is there, or has new labels."""
        namespace = self._namespaces.setdefault(sys.intern(one.namespace), {})
        known = namespace.get(one.name)
        if known is not None and known.labels == one.labels:
            return  # its status changed, which a pod's does all the time: nothing that anybody asks here
        self._touch(one.namespace)
        self._size += one.name not in namespace
        namespace[one.name] = self._compact(one)
        if len(self._label_sets) > self._size + SPARE_LABEL_SETS:
            self._drop_unused_label_sets()

    def remove(self, namespace: str, name: str) -> None:
        """This object is no more; one that never was is no fault (a watch may tell a deletion twice)."""
        objects = self._namespaces.get(namespace, {})
        if objects.pop(name, None) is None:
            return
        self._touch(namespace)
        self._size -= 1
        if not objects:
            del self._namespaces[namespace]
            # Namespaces come and go for ever: all that are not there share one number, a new one now.
            self._born = self._changed_at.pop(namespace)

    def revision(self, namespace: str | None) -> int:
        """A number that changes when select() might answer otherwise for this namespace (None: for all).

        No two stores have one in common: it also tells a new store from the one before.
        """
        return self._changed if namespace is None else self._changed_at.get(namespace, self._born)

    def select(self, namespace: str | None, selector: Selector) -> list[Object]:
        """The objects that `selector` means, of one namespace or (None) of all; by namespace, then name."""
        names = sorted(self._namespaces) if namespace is None else [namespace]
        return [one for name in names for one in self._select_in(name, selector)]

    def _select_in(self, namespace: str, selector: Selector) -> list[Object]:
        objects = self._namespaces.get(namespace, {}).values()
        return sorted((one for one in objects if selector.matches(one.labels)), key=_by_name)

    def _touch(self, namespace: str) -> None:
        self._changed = self._changed_at[namespace] = next(_CHANGES)

    def _compact(self, one: Object) -> Object:
        key = _key(one.labels)
        shared = self._label_sets.get(key)
        if shared != one.labels:  # not seen yet, or two sets of one hash: then the younger one is shared
            shared = {sys.intern(label): sys.intern(value) for label, value in one.labels.items()}
            self._label_sets[key] = shared
        return Object(sys.intern(one.namespace), one.name, shared)

    def _drop_unused_label_sets(self) -> None:
        live = (one.labels for objects in self._namespaces.values() for one in objects.values())
        self._label_sets = {_key(labels): labels for labels in live}


def _key(labels: Mapping[str, str]) -> int:
    """A number instead of the items themselves: they would cost as much as what they save."""
    return hash(frozenset(labels.items()))
