"""The front proxy's CA changes 20 times under load (G12, F41): how many requests fail. It must be none.

Each change is a cluster's: the new CA is published beside the old one, then the proxy shows a certificate of the new
one, then the old CA goes. In between the callers keep their connections, and open new ones.
"""

import asyncio
import json
import pathlib
import ssl
import sys
import tempfile

from adapter.access.authority import pem
from adapter.access.identify import Identify
from adapter.access.permissions import Permissions
from adapter.access.tokens import Tokens
from adapter.flows.authority import AuthorityFlow
from adapter.server.admission import Vouched
from adapter.server.listener import Listener
from adapter.settings import Limits, Serving
from adapter.telemetry.clock import SystemClock
from bench import answer, callers
from bench.callers import Caller
from tests.support.certificates import PROXY_NAME, Issuer
from tests.support.reviewing import Reviewing

CHANGES = 20
STEP_SECONDS = 0.25
RATES = {True: 150.0, False: 30.0}
PROXY = "X-Remote-User: admin\r\nX-Remote-Group: system:masters\r\n"


class Published:
    """The auth ConfigMap, as it is at the moment."""

    def __init__(self, *issuers: Issuer) -> None:
        self.issuers = issuers

    async def read(self) -> dict[str, str]:
        """Its data."""
        return {
            "requestheader-client-ca-file": "".join(one.pem for one in self.issuers),
            "requestheader-allowed-names": json.dumps([PROXY_NAME]),
            "requestheader-username-headers": json.dumps(["X-Remote-User"]),
            "requestheader-group-headers": json.dumps(["X-Remote-Group"]),
        }


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        kept, fresh = asyncio.run(measured(pathlib.Path(directory)))
    print(f"{CHANGES} changes of the front proxy's CA")
    print(f"  kept connections   {kept}")
    print(f"  a connection each  {fresh}")
    failures = kept.failures + fresh.failures
    print(f"failed requests: {len(failures)}", *failures[:3])
    sys.exit(1 if failures else 0)


async def measured(place: pathlib.Path) -> tuple[callers.Tally, callers.Tally]:
    old = Issuer("proxy-0")
    published, serving = Published(old), Serving(port=0, cert_dir=str(place))
    contexts = answer.contexts(serving)
    flow = AuthorityFlow(published, changed=lambda authority: contexts.update(pem(authority)))
    await flow.once()
    listener = await opened(flow, serving)
    port = await listener.start(contexts)
    trust = ssl.create_default_context(cafile=place / "apiserver.crt")
    show(trust, old, place)
    asking = {
        keep: [Caller(port, trust, keep=keep, headers=PROXY) for _ in range(4)] for keep in (True, False)
    }
    seconds = CHANGES * STEP_SECONDS * 3
    loads = [
        asyncio.create_task(callers.load(asking[keep], rate=RATES[keep], seconds=seconds)) for keep in asking
    ]
    for number in range(CHANGES):
        new = Issuer(f"proxy-{number + 1}")
        published.issuers = (old, new)
        await flow.once()
        await asyncio.sleep(STEP_SECONDS)
        show(trust, new, place)
        for caller in asking[True]:
            caller.renew()  # a proxy with a new certificate leaves the connections that it made with the old one
        await asyncio.sleep(STEP_SECONDS)
        published.issuers, old = (new,), new
        await flow.once()
        await asyncio.sleep(STEP_SECONDS)
    kept, fresh = await asyncio.gather(*loads)
    await listener.stop()
    return kept, fresh


async def opened(flow: AuthorityFlow, serving: Serving) -> Listener:
    """The door of an adapter that believes what is published."""
    clock, reviews = SystemClock(), Reviewing()
    admission = Vouched(Identify(Tokens(reviews, clock), flow), Permissions(reviews, clock), clock)
    kit = await answer.kit_of(callers.PODS)
    kit.admission = admission
    return Listener(kit.entrance_of(kit.parts).handle, serving, Limits())


def show(trust: ssl.SSLContext, issuer: Issuer, place: pathlib.Path) -> None:
    """From the next connection on the proxy shows a certificate of this CA."""
    trust.load_cert_chain(*issuer.leaf(PROXY_NAME).write(place, "front-proxy"))


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
    main()
