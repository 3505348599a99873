"""Taking snapshots as a request does, and what is in them."""

from adapter.rulebook.model import Policy


async def take(snapshots, clock, *, policy=Policy.DEFAULTS, seconds=10.0, query="up"):
    return await snapshots.take(query, policy=policy, deadline=clock.monotonic() + seconds)


def value(taken):
    return taken.snapshot.result.samples[0].value
