"""The serving certificate changes 50 times under load (G12, F42): how many requests fail. It must be none.

Every third change is seen half-written first: the certificate is there and its key is not.
"""

import asyncio
import pathlib
import ssl
import sys
import tempfile

from adapter.settings import Serving
from bench import callers
from bench.callers import Caller, Tally
from tests.support.certificates import SERVERS, Issuer

SWAPS = 50
LOOK_SECONDS = 0.05
"""In place of 15: the bench would take a quarter of an hour."""

RATES = {True: 100.0, False: 20.0}
"""Requests a second over kept connections, and over a new one each."""


def main() -> None:
    authority = Issuer("bench")
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        cert, key = leaf(authority).write(place, "tls")
        trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        trust.load_verify_locations(cadata=authority.pem)
        with callers.adapter(Serving(port=0, cert_file=cert, key_file=key), LOOK_SECONDS) as (port, closed):
            kept, fresh, seen = asyncio.run(measured(authority, place, port, trust))
            print(f"{SWAPS} changes, {seen} of them seen by the next connection")
            print(f"  kept connections   {kept}")
            print(f"  a connection each  {fresh}")
            print(f"  closed by the adapter: {closed()}")
    failures = kept.failures + fresh.failures
    print(f"failed requests: {len(failures)}", *failures[:3])
    sys.exit(1 if failures or seen < SWAPS else 0)


def leaf(authority: Issuer):
    return authority.leaf("adapter", usages=SERVERS, hosts=("localhost", callers.HOST))


async def measured(
    authority: Issuer, place: pathlib.Path, port: int, trust: ssl.SSLContext
) -> tuple[Tally, Tally, int]:
    seconds = SWAPS * LOOK_SECONDS * 6
    loads = [
        asyncio.create_task(
            callers.load(
                [Caller(port, trust, keep=keep) for _ in range(4)], rate=RATES[keep], seconds=seconds
            )
        )
        for keep in (True, False)
    ]
    seen = 0
    for number in range(SWAPS):
        new = leaf(authority)
        if number % 3 == 0:
            (place / "tls.crt").write_text(new.pem)
            await asyncio.sleep(LOOK_SECONDS * 2)
        new.write(place, "tls")
        await asyncio.sleep(LOOK_SECONDS * 4)
        seen += await shown(port, trust) == new.der
    kept, fresh = await asyncio.gather(*loads)
    return kept, fresh, seen


async def shown(port: int, trust: ssl.SSLContext) -> bytes:
    _, writer = await asyncio.open_connection(callers.HOST, port, ssl=trust)
    certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.transport.abort()
    return certificate


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
    main()
