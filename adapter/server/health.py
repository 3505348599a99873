"""Named probes behind /livez, /readyz and /healthz. None of them asks Prometheus (docs/design.md D5)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Probe = Callable[[], str | None]
"""This is asked for the reason why it fails; None when it passes."""


@dataclass(frozen=True, slots=True)
class Health:
    """Probes by name, in the order shown; `shown` are facts for people that never block readiness."""

    live: Mapping[str, Probe]
    ready: Mapping[str, Probe]
    shown: Mapping[str, Callable[[], str]] = field(default_factory=dict)

    def livez(self, check: str | None, *, verbose: bool) -> tuple[int, str]:
        """(status, text) of /livez and /livez/CHECK."""
        return _report("livez", self.live, check, verbose=verbose)

    def readyz(self, check: str | None, *, verbose: bool) -> tuple[int, str]:
        """(status, text) of /readyz and /readyz/CHECK, with the facts when verbose."""
        status, text = _report("readyz", self.ready, check, verbose=verbose)
        if verbose and check is None:
            text += "".join(f"[i]{name}: {fact()}\n" for name, fact in self.shown.items())
        return status, text

    def healthz(self, check: str | None, *, verbose: bool) -> tuple[int, str]:
        """(status, text) of /healthz: what /livez says, under the older name."""
        return _report("healthz", self.live, check, verbose=verbose)


def _report(
    endpoint: str, probes: Mapping[str, Probe], check: str | None, *, verbose: bool
) -> tuple[int, str]:
    if check is not None:
        if check not in probes:
            return 404, f"no check {check} in {endpoint}\n"
        probes = {check: probes[check]}
    failures = {name: reason for name, probe in probes.items() if (reason := probe())}
    if not failures and not verbose:
        return 200, "ok"
    lines = "".join(
        f"[-]{name} failed: {failures[name]}\n" if name in failures else f"[+]{name} ok\n" for name in probes
    )
    word = "failed" if failures else "passed"
    return (503 if failures else 200), f"{lines}{endpoint} check {word}\n"
