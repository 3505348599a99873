"""One named object of the API server as plain data, and the ways in which reading or writing it fails.

    StoredError
    ├── Changed         somebody else made, changed or removed it meanwhile: read again
    ├── NotPermitted    we lack the right
    └── Rejected        the API server does not want it in this form

`flows/self_managed.py` and `flows/registering.py` consume this; `kube/secrets.py` and `kube/registration.py` make it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Document = dict[str, Any]
"""An object as its JSON has it. What we do not know in it goes back as it came."""


@dataclass(frozen=True, slots=True)
class Held:
    """A Secret as it was read. `document` names its version, by which a later write is refused."""

    data: Mapping[str, bytes] = field(repr=False)
    document: Document = field(repr=False)


class StoredError(Exception):
    """This is an object that was not read or written. `cause` is a stable word, the text is for people."""

    def __init__(self, cause: str, text: str = "") -> None:
        super().__init__(text or cause)
        self.cause = cause


class Changed(StoredError):
    """The version that we know is not the latest."""


class NotPermitted(StoredError):
    """The API server does not let us."""


class Rejected(StoredError):
    """It would not be valid, or an admission webhook refuses it."""
