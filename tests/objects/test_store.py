"""The store of objects: facts about what is found, in which order, and what is shared."""

from hypothesis import given
from hypothesis import strategies as st

from adapter.objects.store import SPARE_LABEL_SETS, Object, Store
from adapter.wire import selectors

WEB, DB = {"app": "web"}, {"app": "db", "tier": "back"}


def names(found):
    return [(one.namespace, one.name) for one in found]


def shop():
    return Store(
        [
            Object("shop", "web-2", WEB),
            Object("shop", "web-1", WEB),
            Object("a", "web-9", WEB),
            Object("shop", "db-1", DB),
        ]
    )


def test_a_namespace_shows_only_its_own_objects_by_name():
    """Objects of other namespaces are never seen, and the order is that of the names."""
    assert names(shop().select("shop", selectors.EVERYTHING)) == [
        ("shop", "db-1"),
        ("shop", "web-1"),
        ("shop", "web-2"),
    ]


def test_all_namespaces_are_in_order():
    """Without a namespace the order is namespace, then name."""
    assert names(shop().select(None, selectors.parse("app=web"))) == [
        ("a", "web-9"),
        ("shop", "web-1"),
        ("shop", "web-2"),
    ]


def test_a_selector_looks_at_labels():
    """Only objects whose labels match are found."""
    assert names(shop().select("shop", selectors.parse("app in (db),tier"))) == [("shop", "db-1")]


def test_an_unknown_namespace_is_empty():
    """Asking for what is not there is no fault and leaves no trace."""
    store = shop()
    assert store.select("nowhere", selectors.EVERYTHING) == []
    assert names(store.select(None, selectors.EVERYTHING))[0] == ("a", "web-9")


def test_cluster_wide_objects_are_found_without_a_namespace():
    """A node has no namespace."""
    assert names(Store([Object("", "node-1", {})]).select(None, selectors.EVERYTHING)) == [("", "node-1")]


def test_an_object_changes_its_labels():
    """The newest labels count, and the object is there once."""
    store = shop()
    store.put(Object("shop", "web-1", DB))
    assert len(store) == 4
    assert names(store.select("shop", selectors.parse("app=web"))) == [("shop", "web-2")]
    assert names(store.select("shop", selectors.parse("tier"))) == [("shop", "db-1"), ("shop", "web-1")]


def test_a_removed_object_is_gone_at_once():
    """It is neither found nor counted any more."""
    store = shop()
    store.remove("shop", "web-1")
    assert names(store.select("shop", selectors.parse("app=web"))) == [("shop", "web-2")]
    assert len(store) == 3


def test_removing_what_is_not_there_is_no_fault():
    """A watch may tell a deletion twice."""
    store = shop()
    store.remove("shop", "nobody")
    store.remove("nowhere", "nobody")
    assert len(store) == 4


def test_equal_labels_are_held_once():
    """The pods of a ReplicaSet share their labels, and other pods share the texts."""
    store = Store([Object("shop", "web-1", {"app": "web"}), Object("shop", "web-2", {"app": "web"})])
    first, second = store.select("shop", selectors.EVERYTHING)
    assert first.labels is second.labels


def test_label_sets_that_nobody_has_are_forgotten():
    """Jobs come and go with labels of their own; the store does not grow with them."""
    store = Store([Object("shop", "stays", {"app": "web"})])
    for number in range(3 * SPARE_LABEL_SETS):
        store.put(Object("batch", "job", {"job": f"job-{number}"}))
    assert len(store._label_sets) <= len(store) + SPARE_LABEL_SETS
    (stays,) = store.select("shop", selectors.EVERYTHING)
    assert stays.labels == {"app": "web"}


def test_callers_cannot_change_what_is_held():
    """The store has mappings of its own: a dict that is changed later changes nothing here."""
    labels = {"app": "web"}
    store = Store([Object("shop", "web-1", labels)])
    labels["app"] = "changed"
    (held,) = store.select("shop", selectors.EVERYTHING)
    assert held.labels == {"app": "web"}


KEYS = st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"))
STEPS = st.lists(
    st.tuples(st.booleans(), KEYS, st.dictionaries(st.sampled_from("kl"), st.sampled_from("12")))
)


@given(STEPS)
def test_the_store_is_a_dict_with_an_index(steps):
    """Whatever is put and removed: the store holds what a plain dict holds."""
    store, plain = Store(), {}
    for put, key, labels in steps:
        if put:
            store.put(Object(*key, labels))
            plain[key] = labels
        else:
            store.remove(*key)
            plain.pop(key, None)
    assert {
        (one.namespace, one.name): one.labels for one in store.select(None, selectors.EVERYTHING)
    } == plain
    assert len(store) == len(plain)
    wanted = selectors.parse("k=1")
    assert names(store.select(None, wanted)) == sorted(
        key for key, labels in plain.items() if labels.get("k") == "1"
    )


def test_revision_changes_only_with_what_a_question_could_see():
    """A new status of a pod, or a change in another namespace, leaves a namespace's revision as it is."""
    store = Store([Object("a", "one", {"app": "web"})])
    before, all_before = store.revision("a"), store.revision(None)
    store.put(Object("a", "one", {"app": "web"}))
    store.put(Object("b", "two", {}))
    store.remove("a", "nobody")
    assert store.revision("a") == before
    assert store.revision(None) != all_before
    store.put(Object("a", "one", {"app": "api"}))
    assert store.revision("a") != before
    before = store.revision("a")
    store.remove("a", "one")
    assert store.revision("a") != before
    assert store.revision("nowhere") == store.revision("elsewhere")
    assert Store().revision("nowhere") != store.revision("nowhere")
