"""Who asks and what he wants, as plain data: what a review is made of.

`access` decides with it; `kube/reviews.py` writes it into reviews and reads it out of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class User:
    """Somebody the cluster knows. `proxied`: the front proxy vouches for him, in its headers."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    proxied: bool = False


@dataclass(frozen=True, slots=True)
class Attributes:
    """What he wants to do: with a resource, or, if `path` is set, with what is none (docs/contract.md 4.2)."""

    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    namespace: str = ""
    path: str = ""
