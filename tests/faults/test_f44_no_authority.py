"""F44: the ConfigMap that says whom to believe is missing, or cannot be read.

To see them fail: drop the check of `authority.known` in `Identify.who`.
"""

import asyncio

import pytest
from multidict import CIMultiDict

from adapter import errors
from adapter.access.identify import Identify
from adapter.access.tokens import Tokens
from adapter.flows.authority import AuthorityFlow
from adapter.flows.backoff import LONGEST_SECONDS
from adapter.wire.identity import User
from tests.support.certificates import NOW, PROXY_NAME, Pki
from tests.support.clock import FakeClock
from tests.support.reviewing import Reviewing
from tests.support.sleeper import Sleeper, settle

PKI = Pki()

CALLERS = {
    "front proxy": (PKI.proxy.leaf(PROXY_NAME), ("X-Remote-User", "jane")),
    "client": (PKI.cluster.leaf("joe"), ("Accept", "*/*")),
    "token": (None, ("Authorization", "Bearer good")),
    "nothing": (None, ("Accept", "*/*")),
}


class Cluster:
    """One that is reached, or not, and has the ConfigMap, or not."""

    def __init__(self):
        self.data, self.failure, self.reads = None, None, 0

    async def read(self):
        self.reads += 1
        if self.failure:
            raise self.failure
        return self.data


@pytest.fixture
async def started():
    """(cluster, flow, sleeper): running, the first reading has ended."""
    cluster, sleeper = Cluster(), Sleeper(FakeClock())
    flow = AuthorityFlow(cluster, sleep=sleeper.sleep, random=lambda: 1.0)
    task = asyncio.create_task(flow.for_ever())
    await settle()
    yield cluster, flow, sleeper
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def known(flow, caller, *, compat):
    tokens = Tokens(Reviewing({"good": User("robot")}), FakeClock())
    leaf, line = CALLERS[caller]
    try:
        await Identify(tokens, flow, compat=compat).who(
            leaf.der if leaf else None, CIMultiDict([line]), now=NOW
        )
    except errors.NotAuthenticated:
        return False
    return True


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize("caller", CALLERS)
async def test_f44_nobody_is_known(started, caller, compat):
    """Probes ask nobody's name; all else is 401, with good credentials too."""
    _, flow, _ = started
    assert not flow.current.known
    assert not await known(flow, caller, compat=compat)


@pytest.mark.parametrize("failure", [None, errors.AccessUnknown("Forbidden")])
async def test_f44_it_is_tried_for_ever(started, failure):
    """For an hour, at most half a minute apart; and once it is there, it is believed."""
    cluster, flow, sleeper = started
    cluster.failure = failure
    await sleeper.pass_time(3600)
    assert cluster.reads > 3600 / LONGEST_SECONDS
    assert not flow.current.known
    cluster.failure, cluster.data = None, PKI.data()
    await sleeper.pass_time(LONGEST_SECONDS)
    assert flow.current.known
    for caller in CALLERS:
        assert await known(flow, caller, compat=False) is (caller != "nothing")


async def test_f44_an_api_server_that_goes_away_later_changes_nothing(started):
    """What was read last holds, however long it takes."""
    cluster, flow, sleeper = started
    cluster.data = PKI.data()
    await sleeper.pass_time(1)
    cluster.failure = errors.AccessUnknown("Connect")
    await sleeper.pass_time(3600)
    assert await known(flow, "front proxy", compat=False)
