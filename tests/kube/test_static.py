"""A file that stands for the cluster."""

import asyncio
import json
import logging

import pytest

from adapter.kube.static import POLL_SECONDS, ObjectsFileBroken, StaticObjects
from adapter.wire import objects
from adapter.wire.objects import Object
from adapter.wire.resources import Resource
from tests.support.sleeper import Sleeper, settle

PODS = Resource("", "v1", "pods", "pod", "Pod", namespaced=True)
NAMESPACES = Resource("", "v1", "namespaces", "namespace", "Namespace", namespaced=False)

POD = "kind: Pod\napiVersion: v1\nmetadata:\n  name: a\n"
LIST = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: web-1, namespace: shop, labels: {app: web}}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web, namespace: shop}
- apiVersion: v1
  kind: Node
  metadata: {name: node-1}
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "objects.yaml"
    path.write_text(LIST)
    return path


@pytest.fixture
def sleeper(clock):
    return Sleeper(clock)


@pytest.fixture
def static(path, sleeper):
    return StaticObjects(str(path), sleep=sleeper.sleep)


async def listed(static, resource=PODS):
    return list((await static.listing(resource, "")).objects)


def read(tmp_path, text):
    path = tmp_path / "other.yaml"
    path.write_text(text)
    return StaticObjects(str(path))


# -- what is read


async def test_objects_of_a_list(static):
    """Each kind by itself."""
    kinds = await static.kinds(None)
    assert await listed(static) == [Object("shop", "web-1", {"app": "web"})]
    assert [one.name for one in await listed(static, kinds.parse("deployments.apps"))] == ["web"]
    assert await listed(static, kinds.parse("nodes")) == [Object("", "node-1", {})]
    assert await listed(static, kinds.parse("services")) == []


async def test_several_documents_and_json(tmp_path):
    """As kubectl prints them, in either form."""
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "a"}} for name in "xy"
    ]
    documents = "---\n" + "\n---\n".join(json.dumps(one) for one in pods) + "\n---\n"
    as_list = json.dumps({"kind": "PodList", "apiVersion": "v1", "items": pods})
    for text in (documents, as_list):
        assert [one.name for one in await listed(read(tmp_path, text))] == ["x", "y"]


async def test_a_pod_without_namespace_is_in_default(tmp_path):
    """As kubectl apply would have it."""
    static = read(tmp_path, "{apiVersion: v1, kind: Pod, metadata: {name: web-1}}")
    assert (await listed(static))[0].namespace == "default"


async def test_a_namespace_with_objects_exists(static):
    """Nobody has to write it down."""
    assert [one.name for one in await listed(static, NAMESPACES)] == ["shop"]


async def test_a_namespace_that_is_written_down_keeps_its_labels(tmp_path):
    """It is there once."""
    text = LIST + "- {apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {team: a}}}\n"
    assert await listed(read(tmp_path, text), NAMESPACES) == [Object("", "shop", {"team": "a"})]


@pytest.mark.parametrize(
    "text", ["", "---\n---\n", "{kind: List, apiVersion: v1, items: []}", "{kind: List, items: null}"]
)
async def test_nothing_is_fine(tmp_path, text):
    """An empty cluster has kinds, too."""
    static = read(tmp_path, text)
    assert await listed(static) == []
    assert (await static.kinds(None)).parse("pods")
    assert static.skipped_counts() == {}


async def test_the_usual_kinds_are_known(static):
    """Whatever the file holds, rules for these can be bound."""
    kinds = await static.kinds(None)
    for name in ("pods", "namespace", "nodes", "service", "persistentvolumes", "deployments.apps", "statefulsets.apps",
                 "daemonset.apps", "jobs.batch", "ingresses.networking.k8s.io", "horizontalpodautoscalers.autoscaling"):  # fmt: skip
        assert kinds.parse(name), name
    assert kinds.parse("deployments.apps").namespaced
    assert not kinds.parse("nodes").namespaced


@pytest.mark.parametrize(
    ("kind", "plural"),
    [("Widget", "widgets"), ("Policy", "policies"), ("Gateway", "gateways"), ("Ingress", "ingresses")],
)
async def test_other_kinds_are_guessed_from_the_file(tmp_path, kind, plural):
    """A custom resource is known by its objects."""
    static = read(
        tmp_path, f"{{apiVersion: shop.example.com/v1, kind: {kind}, metadata: {{name: a, namespace: b}}}}"
    )
    found = (await static.kinds(None)).parse(f"{plural}.shop.example.com")
    assert (found.kind, found.version, found.namespaced) == (kind, "v1", True)
    assert [one.name for one in await listed(static, found)] == ["a"]


async def test_only_the_groups_that_are_needed(static):
    """As with a cluster."""
    assert {one.group for one in (await static.kinds(frozenset({"", "apps"}))).resources} == {"", "apps"}


# -- what is broken


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("a: [", "2:1", "expected node content"),
        ("items:\n- {\n", "3:1", ""),
        (LIST + "- {kind: Pod, apiVersion: v1}\n", "13:3", "metadata.name"),
        (LIST + "- metadata: {name: a}\n", "13:3", "apiVersion and kind"),
        (
            LIST + "- {kind: Pod, apiVersion: v1, metadata: {name: a, labels: {version: 1}}}\n",
            "13:3",
            "label 'version'",
        ),
        (LIST + "- {kind: Pod, apiVersion: v1, metadata: {name: a, labels: [x]}}\n", "13:3", "no text"),
        (LIST + "- {kind: Pod, apiVersion: v1, metadata: {name: 7}}\n", "13:3", "metadata.name"),
        (LIST + "- text\n", "13:3", "metadata.name"),
        ("{a: b, c: d}", "1:1", "metadata.name"),
        ("\x00", "1:1", "characters are not allowed"),
        ("[" * 2000, "1:1001", "nesting"),
        ("? {a: b}\n: c", "1:3", "key"),
        (POD + "  creationTimestamp: 2024-99-99\n", "5:22", "no timestamp; if it is meant as text"),
        (POD + "  creationTimestamp: !!timestamp now\n", "5:22", "no timestamp"),
        (POD + "spec: {replicas: !!int many}\n", "5:18", "no int"),
        (POD + "spec: {replicas: !!int ''}\n", "5:18", "no int"),
        (POD + "spec: {paused: !!bool perhaps}\n", "5:16", "no bool"),
    ],
)
def test_a_broken_file_says_where(tmp_path, text, place, says):
    """The first thing to know is the line."""
    with pytest.raises(ObjectsFileBroken) as caught:
        read(tmp_path, text)
    assert f"other.yaml:{place}: " in str(caught.value)
    assert says in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    """At the start, nothing else helps."""
    with pytest.raises(ObjectsFileBroken, match=r"nowhere\.yaml"):
        StaticObjects(str(tmp_path / "nowhere.yaml"))


# -- what changes


async def test_a_changed_file_is_listed_again(static, path, sleeper, caplog):
    """Its watch ends with Gone, so that the mirror lists it; until then it lives."""
    caplog.set_level(logging.INFO, "adapter")
    listing = await static.listing(PODS, "")
    changes = static.changes(PODS, listing.version)
    assert (await anext(changes)).kind == objects.BOOKMARK
    path.write_text(LIST.replace("web-1", "web-9"))
    with pytest.raises(objects.Gone):
        await _next(changes, sleeper)
    assert [one.name for one in await listed(static)] == ["web-9"]
    assert [record.getMessage() for record in caplog.records] == ["objects_file_read"]


async def test_a_file_that_stays_tells_only_that_it_lives(static, sleeper):
    """Bookmarks, nothing else."""
    changes = static.changes(PODS, (await static.listing(PODS, "")).version)
    assert [(await _next(changes, sleeper)).kind for _ in range(4)] == [objects.BOOKMARK] * 4


async def test_a_file_that_breaks_changes_nothing(static, path, sleeper, caplog):
    """The old objects stay, the log says where it is broken, once; a mended file is read."""
    caplog.set_level(logging.INFO, "adapter")
    changes = static.changes(PODS, (await static.listing(PODS, "")).version)
    path.write_text(LIST.replace("items:", "items: ["))
    for _ in range(3):
        assert (await _next(changes, sleeper)).kind == objects.BOOKMARK
    assert [one.name for one in await listed(static)] == ["web-1"]
    (line,) = caplog.records
    assert line.getMessage() == "objects_file_broken"
    assert "objects.yaml:" in line.text
    path.write_text(LIST)
    with pytest.raises(objects.Gone):
        await _next(changes, sleeper)


async def test_a_question_sees_the_newest_file(static, path):
    """Kinds and lists look at once; only watches poll."""
    path.write_text("{apiVersion: shop.example.com/v1, kind: Widget, metadata: {name: a}}")
    assert (await static.kinds(None)).parse("widgets")
    assert await listed(static) == []


async def _next(changes, sleeper):
    """The next change, with as much time as one poll takes."""
    task = asyncio.ensure_future(anext(changes))
    await settle()
    if not task.done():
        await sleeper.pass_time(POLL_SECONDS)
    return await task
