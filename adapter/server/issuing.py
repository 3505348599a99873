"""What is to be done about our own CA and serving certificate, and doing it: `now` comes in, data goes out.

A CA is never replaced at one stroke, for a while both are trusted:

    BEGIN    a new CA is made and trusted beside the old one, which still vouches for the serving certificate
    SWITCH   the new CA vouches for it, once the API server has been told of it long enough
    END      the old CA is trusted no more, once no replica serves its certificate any longer

Each step is decided from what the Secret holds and from what is published, so that it does not matter which replica
takes it, and one that was away goes on where the others are.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from cryptography import x509

from adapter.server import own_ca
from adapter.server.own_ca import Kept


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long things last."""

    ca: datetime.timedelta = datetime.timedelta(days=365)
    """Short enough that the change is everyday business, and not first tried when it must work."""

    leaf: datetime.timedelta = datetime.timedelta(days=90)
    """A stolen key is of use for no longer. Below the third of a CA's life that a change has time for."""

    settling: datetime.timedelta = datetime.timedelta(days=1)
    """Between being trusted and being used, and between not being used and not being trusted. API servers and
    replicas need seconds; a copy of ca.crt that people keep elsewhere needs somebody's attention."""

    @staticmethod
    def due(certificate: x509.Certificate, now: datetime.datetime) -> bool:
        """Whether a third of its life or less is left: a month of failing renewals then harms nobody."""
        whole = certificate.not_valid_after_utc - certificate.not_valid_before_utc
        left = certificate.not_valid_after_utc - now
        return left <= whole / 3


DEFAULT: Final = Lifetimes()


class Step(StrEnum):
    """One thing to do. Its value is the event that the log shows."""

    START = "serving_ca_made"
    RENEW = "serving_certificate_renewed"
    BEGIN = "serving_ca_change_begun"
    SWITCH = "serving_ca_change_switched"
    END = "serving_ca_change_ended"


@dataclass(frozen=True, slots=True)
class Material:
    """What serving needs, PEM: the pair, and the CAs to publish."""

    certificate: bytes
    key: bytes = field(repr=False)
    trusted: bytes


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps to take, and what the Secret holds after them."""

    steps: tuple[Step, ...]
    before: Material | None
    """Of the Secret as it is; None: it is of no use for serving."""

    after: Material
    data: Mapping[str, bytes] = field(repr=False)

    @property
    def remembered(self) -> Mapping[str, bytes]:
        """What a replica keeps in mind, should the Secret get lost: all but the key that signs."""
        return {key: value for key, value in self.data.items() if key != own_ca.CA_KEY}


def dns_names(service: str, namespace: str) -> tuple[str, ...]:
    """The names under which a Service's pods are reached: the API server asks for the first one."""
    whole = f"{service}.{namespace}.svc"
    return whole, f"{whole}.cluster.local", "localhost"


class Issuer:
    """This plans for one set of names."""

    def __init__(self, names: Sequence[str], lifetimes: Lifetimes = DEFAULT) -> None:
        self._names, self._lifetimes = frozenset(names), lifetimes

    def plan(
        self, data: Mapping[str, bytes] | None, published: Sequence[bytes] | None, now: datetime.datetime
    ) -> Plan:
        """What to do about a Secret with this data (None: there is none).

        `published` are the CA bundles (PEM) of the adapter's registrations; None: they are not known. Raises NotOurs.
        """
        kept = own_ca.read(data or {})
        steps = self.steps(kept, published, now)
        after = kept
        for step in steps:
            after = self._taken(step, after, now)
        return Plan(steps, _material(kept), _whole(after), after.data() if steps else data or {})

    def steps(
        self, kept: Kept, published: Sequence[bytes] | None, now: datetime.datetime
    ) -> tuple[Step, ...]:
        """What to do now, in this order; nothing, most of the time."""
        serves = kept.leaf is not None and now < kept.leaf.not_valid_after_utc
        signs = kept.ca_key is not None and now < kept.trusted[-1].not_valid_after_utc
        if not signs:
            return (Step.BEGIN,) if serves else (Step.START,)
        if kept.leaf is not None and kept.issuer != kept.trusted[-1]:
            return (Step.SWITCH,) if not serves or self._may_switch(kept, published, now) else ()
        if Lifetimes.due(kept.trusted[-1], now):
            return Step.RENEW, Step.BEGIN  # the key that could renew it later goes with this
        if kept.leaf is None or not serves or self._lacks_names(kept) or Lifetimes.due(kept.leaf, now):
            return (Step.RENEW,)
        settled = self._settled(kept.leaf, now)
        return (Step.END,) if len(kept.trusted) > 1 and settled else ()

    def _may_switch(self, kept: Kept, published: Sequence[bytes] | None, now: datetime.datetime) -> bool:
        """Without names of its own the API is away already: then only what is published counts."""
        new = kept.trusted[-1]
        told = published is not None and all(_trusts(bundle, new) for bundle in published)
        return told and (self._settled(new, now) or self._lacks_names(kept))

    def _settled(self, certificate: x509.Certificate, now: datetime.datetime) -> bool:
        made = certificate.not_valid_before_utc + own_ca.BACKDATED
        return now - made >= self._lifetimes.settling

    def _lacks_names(self, kept: Kept) -> bool:
        return kept.leaf is None or not self._names <= own_ca.names_of(kept.leaf)

    # -- doing it

    def _taken(self, step: Step, kept: Kept, now: datetime.datetime) -> Kept:
        match step:
            case Step.START:
                ca, key = own_ca.new_ca(now, self._lifetimes.ca)
                return self._with_leaf(Kept((ca,), key), now)
            case Step.BEGIN:
                ca, key = own_ca.new_ca(now, self._lifetimes.ca)
                return replace(kept, trusted=(*kept.trusted, ca), ca_key=key)
            case Step.RENEW | Step.SWITCH:
                return self._with_leaf(kept, now)
            case Step.END:
                return replace(kept, trusted=kept.trusted[-1:])

    def _with_leaf(self, kept: Kept, now: datetime.datetime) -> Kept:
        if kept.ca_key is None:
            raise ValueError("without the CA's key nothing can be signed")
        names = self._names
        if kept.leaf is not None and self._lacks_names(kept):
            names |= own_ca.names_of(
                kept.leaf
            )  # of replicas with another name, who would else take ours away
        leaf, key = own_ca.new_leaf(sorted(names), (kept.trusted[-1], kept.ca_key), now, self._lifetimes.leaf)
        return replace(kept, leaf=leaf, leaf_key=key)


def _material(kept: Kept) -> Material | None:
    if kept.leaf is None or kept.leaf_key is None:
        return None
    return Material(own_ca.pem(kept.leaf), own_ca.key_pem(kept.leaf_key), kept.bundle())


def _whole(kept: Kept) -> Material:
    found = _material(kept)
    if found is None:
        raise ValueError("no serving certificate")
    return found


def _trusts(bundle: bytes, ca: x509.Certificate) -> bool:
    try:
        return ca in own_ca.certificates(bundle)
    except ValueError:
        return False
