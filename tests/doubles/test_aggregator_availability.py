"""When an APIService is available, and what its condition says, in the real one's words."""

import pytest

from tests.doubles.conftest import GROUP, HOST, NAME, NAMESPACE, V1BETA2
from tests.support.aggregator import Aggregator
from tests.support.aggregator_loops import Pace, Paces
from tests.support.certificates import EXPIRED, SERVERS, Issuer
from tests.support.eventually import until
from tests.support.leaks import nothing_left
from tests.wire.data import golden

PATH = f"/apis/{GROUP}/v1beta2"
URL = f"https://127.96.0.10:443{PATH}"


def shown(cluster):
    found = cluster.condition(V1BETA2)
    return f"{found['status']} {found['reason']} {found['message']}"


async def refused(cluster, why):
    """The check fails with this error of the connection."""
    await cluster.check(V1BETA2)
    assert (
        shown(cluster)
        == f'False FailedDiscoveryCheck failing or missing response from {URL}: Get "{URL}": {why}'
    )


async def test_an_available_one_is_as_recorded(joined):
    """Status, reason and message; the time of the last transition stays while nothing changes."""
    recorded = golden(f"apiservice-{V1BETA2}")["status"]["conditions"][0]
    before = joined.condition(V1BETA2)
    assert before | {"lastTransitionTime": ""} == recorded | {"lastTransitionTime": ""}
    version = joined.world.version
    await joined.check(V1BETA2)
    assert (joined.condition(V1BETA2), joined.world.version) == (before, version)


async def test_nobody_listens(joined, extension):
    """As recorded in the outage."""
    await extension.stop()
    await joined.check(V1BETA2)
    assert shown(joined) == next(
        one["available"] for one in golden("outage") if one["discovery"] == 503 and one["t"] > 20
    )


@pytest.mark.parametrize(
    ("status", "good"), [(200, True), (204, True), (302, False), (403, False), (500, False)]
)
async def test_only_2xx_counts(joined, extension, status, good):
    """The body is not read."""
    extension.answer(PATH, "no JSON", status)
    assert (await joined.check(V1BETA2)).good is good
    if not good:
        assert shown(joined).endswith(f"from {URL}: bad status from {URL}: {status}")


async def test_one_success_of_five_is_enough(joined, extension):
    """As it starts, an extension may refuse some."""
    from aiohttp import web

    async def fifth(_):
        return web.Response(status=200 if extension.count(PATH) == 5 else 403)

    extension.answers[PATH] = fifth
    assert (await joined.check(V1BETA2)).good
    assert extension.count(PATH) == 5


async def test_the_certificate_must_bear_the_service_s_name(joined, extension, files):
    """Whatever address is dialled; the condition shows the names that it has."""
    issuer, certificate, key = files.serving("other.svc", "localhost")
    extension.context.load_cert_chain(certificate, key)
    joined.register(GROUP, "v1beta2", NAME, NAMESPACE, ca=issuer.pem)
    await refused(
        joined,
        f"tls: failed to verify certificate: x509: certificate is valid for other.svc, localhost, not {HOST}",
    )


async def test_the_common_name_does_not_count(joined, extension, files):
    """As in Go."""
    issuer = Issuer("adapter-ca")
    extension.context.load_cert_chain(*issuer.leaf(HOST, usages=SERVERS).write(files.directory, "cn"))
    joined.register(GROUP, "v1beta2", NAME, NAMESPACE, ca=issuer.pem)
    await refused(
        joined,
        f"tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match {HOST}",
    )


async def test_the_ca_bundle_must_know_the_issuer(joined):
    """Another CA of the same name is another CA."""
    joined.register(GROUP, "v1beta2", NAME, NAMESPACE, ca=Issuer("adapter-ca").pem)
    await refused(joined, "tls: failed to verify certificate: x509: certificate signed by unknown authority")


async def test_an_expired_certificate(joined, extension, files):
    """It is refused by every new connection."""
    issuer = Issuer("adapter-ca")
    leaf = issuer.leaf("adapter", usages=SERVERS, hosts=(HOST,), valid=EXPIRED)
    extension.context.load_cert_chain(*leaf.write(files.directory, "expired"))
    joined.register(GROUP, "v1beta2", NAME, NAMESPACE, ca=issuer.pem)
    await refused(
        joined, "tls: failed to verify certificate: x509: certificate has expired or is not yet valid"
    )


async def test_a_bundle_of_two_takes_both(joined, extension, files):
    """What a rotation needs."""
    old = joined.proxy.find(V1BETA2)["spec"]["caBundle"]
    issuer, certificate, key = files.serving(HOST)
    both = issuer.pem + __import__("base64").b64decode(old).decode()
    joined.register(GROUP, "v1beta2", NAME, NAMESPACE, ca=both)
    assert (await joined.check(V1BETA2)).good
    extension.context.load_cert_chain(certificate, key)
    await joined.client.close()
    assert (await joined.check(V1BETA2)).good


async def test_what_is_looked_up_before(cluster, extension, files):
    """Service, its port, its endpoints: each has its own reason."""
    issuer, _, _ = files.serving(HOST)
    cluster.register(GROUP, "v1beta2", NAME, NAMESPACE, ca=issuer.pem)
    assert cluster.condition(V1BETA2) == {}

    async def reason():
        return (await cluster.check(V1BETA2)).reason

    assert await reason() == "ServiceNotFound"
    cluster.service(NAME, NAMESPACE)
    assert await reason() == "EndpointsNotFound"
    cluster.service(NAME, NAMESPACE, extension.place)
    slices = cluster.world.objects[cluster.world.kind("endpointslices.discovery.k8s.io")]
    for one in slices.values():
        one["endpoints"][0]["conditions"]["ready"] = False
    assert await reason() == "MissingEndpoints"
    service = {"name": NAME, "namespace": NAMESPACE, "port": 8443}
    cluster.register(GROUP, "v1beta2", NAME, NAMESPACE, ca=issuer.pem, service=service)
    assert await reason() == "ServicePortError"
    assert "is not listening on port 8443" in shown(cluster)


async def test_by_itself_it_notices_going_and_coming_back(files, extension):
    """Checks go on in the background: the back-off starts at 5 ms; a change of the Service is noticed at once."""
    paces = Paces(
        check=Pace(0.02, 0.005, 0.05), discovery=Pace(0.02, 0.02, 0.05), openapi=Pace(0.02, 0.02, 0.05)
    )
    issuer, certificate, key = files.serving(HOST)
    extension.context.load_cert_chain(certificate, key)
    extension.answer("/apis", {"kind": "APIGroupList"})
    extension.answer(PATH, {"resources": []})
    async with nothing_left(), Aggregator(files, paces=paces) as cluster:
        cluster.service(NAME, NAMESPACE, extension.place)
        cluster.register(GROUP, "v1beta2", NAME, NAMESPACE, ca=issuer.pem)
        await until(lambda: cluster.condition(V1BETA2).get("status") == "True")
        await until(lambda: cluster.discovery.entries.get(V1BETA2, {}).get("freshness") == "Current")
        await extension.stop()
        await until(lambda: cluster.condition(V1BETA2)["status"] == "False")
        await until(lambda: cluster.discovery.entries[V1BETA2]["freshness"] == "Stale")
        await extension.start()
        await until(lambda: cluster.condition(V1BETA2)["status"] == "True")
        await until(lambda: cluster.discovery.entries[V1BETA2]["freshness"] == "Current")
        await until(lambda: extension.count("/openapi/v3") > 0)
        cluster.delete("apiservices.apiregistration.k8s.io", V1BETA2)
        await until(lambda: len(cluster._loops._tasks) == 0)
