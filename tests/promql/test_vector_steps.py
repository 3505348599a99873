"""A large listing is read in bounded steps, and says the same as if it were read in one."""

import json
import random
import tracemalloc

import pytest

from adapter.promql import vector
from adapter.promql.vector import NotAnAnswer, Refused, SeriesShape
from tests.promql.listings import listing, read, shapes_of

STEP = vector.STEP_BYTES
NASTY = ['"},{"', "},{", "}", "{", "\\", '\\"},{\\"', '"', "a}", ":", "]", "},{\\", "\u2028", ""]


def many(number, **labels):
    """Series of a hundred bytes and more, the last of another name."""
    names = ["go_goroutines"] * (number - 1) + ["last"]
    return [{"__name__": name, "pod": f"web-{at:080}"} | labels for at, name in enumerate(names)]


def test_a_small_listing_is_one_step():
    """Who reads it is never interrupted."""
    assert read(listing(*many(10)))[0] == 0


def test_steps_are_bounded():
    """No step is longer than STEP_BYTES, and none is much shorter."""
    body = listing(*many(20_000))
    steps, _ = read(body)
    assert len(body) / STEP - 1 <= steps <= len(body) / STEP * 1.01


def test_steps_have_no_say_in_the_shapes():
    """Of repeated shapes the last place counts, in whatever step it is."""
    rest = many(10_000)[:-1]
    series = [
        {"__name__": "a", "x": "1"},
        {"__name__": "b"},
        *rest,
        {"__name__": "a", "x": "2"},
        {"pod": "1"},
    ]
    steps, shapes = read(listing(*series))
    assert steps > 2
    assert [one.name for one in shapes] == ["b", "go_goroutines", "a"]


def test_label_values_that_look_like_json_are_no_end_of_a_step():
    """A cut counts only if what goes before it reads as whole series."""
    draw = random.Random(8)
    series = [
        {"__name__": f"m{at % 7}", "pod": f"{at:060}"}
        | {f"l{n}": draw.choice(NASTY) * 3 for n in range(at % 5)}
        for at in range(12_000)
    ]
    body = listing(*series)
    steps, shapes = read(body)
    assert steps >= len(body) // STEP - 1
    assert set(shapes) == {
        SeriesShape(f"m{at % 7}", frozenset({"pod", *(f"l{n}" for n in range(at % 5))})) for at in range(35)
    }


@pytest.mark.parametrize("value", ['"},{"' * 500, "},{" * 500], ids=["with quotes", "without"])
def test_a_listing_full_of_false_ends_is_read_all_the_same(value):
    """At worst in fewer steps."""
    assert len(shapes_of(listing(*many(2000, note=value)))) == 2


def test_a_series_longer_than_a_step_is_read():
    """It is its own step, with all that follow."""
    assert len(shapes_of(listing({"__name__": "long", "x": "y" * 2 * STEP}, *many(5000)))) == 3


@pytest.mark.parametrize(
    "envelope",
    [
        '{"status":"success","data":[%s]}',
        '{"status":"success","isPartial":false,"data":[%s]}',
        ' {\n "status" : "success" , "infos":null, "data" : [%s] , "warnings" : [ "w" ] } \n',
        '{"status":"success","note":"\\"data\\":[","data":[%s],"stats":{"seriesFetched":"1"}}',
        '{"data":[%s],"status":"success"}',
    ],
)
def test_envelopes_of_all_backends_are_read_in_steps(envelope):
    """Members before and after the data, blanks, another order."""
    series = ",".join(json.dumps(one, separators=(",", ":")) for one in many(10_000))
    steps, shapes = read((envelope % series).encode())
    assert steps > 2
    assert [one.name for one in shapes] == ["go_goroutines", "last"]


@pytest.mark.parametrize(
    "envelope",
    [
        '{"status":"success","warnings":["w"],"data":[%s]}',
        '{"status":"success","d\\u0061ta":[%s]}',
    ],
)
def test_other_envelopes_are_read_in_one_step(envelope):
    """What is valid is an answer, though nobody writes it so."""
    series = ",".join(json.dumps(one, separators=(",", ":")) for one in many(10_000))
    steps, shapes = read((envelope % series).encode())
    assert (steps, len(shapes)) == (0, 2)


def test_a_listing_with_blanks_is_read_in_one_step():
    """Indented JSON is an answer too."""
    body = json.dumps({"status": "success", "data": many(10_000)}, indent=1).encode()
    assert len(shapes_of(body)) == 2


@pytest.mark.parametrize("place", [0, 5000, 9999])
@pytest.mark.parametrize("wrong", [{"__name__": 1}, None, "a", [], {"__name__": "a", "b": None}])
def test_one_wrong_series_spoils_a_large_listing(place, wrong):
    """In the first step, in a later one, in the last."""
    series = many(10_000)
    series[place] = wrong
    with pytest.raises(NotAnAnswer):
        shapes_of(listing(*series))


@pytest.mark.parametrize("length", [STEP, 3 * STEP, -1])
def test_a_large_listing_that_is_cut_off_is_no_answer(length):
    """Half a list would take metrics off the catalog."""
    with pytest.raises(NotAnAnswer) as problem:
        shapes_of(listing(*many(10_000))[:length])
    assert '{"status":"success","data":[{"__name__"' in str(problem.value)


def test_a_refusal_with_a_large_list_is_one():
    """The status decides, wherever it stands."""
    series = listing(*many(10_000))
    with pytest.raises(Refused):
        shapes_of(series.replace(b'"success"', b'"error"'))
    with pytest.raises(Refused):
        shapes_of(b'{"data":' + series.partition(b'"data":')[2][:-1] + b',"status":"error"}')


def test_what_is_kept_grows_with_the_shapes_only():
    """After a step nothing of its series is held: twice as many series take no more room."""
    assert _peak(listing(*many(20_000))) * 1.1 > _peak(listing(*many(40_000)))


def _peak(body):
    tracemalloc.start()
    try:
        shapes_of(body)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
