"""A backend's answer is read strictly: what is no answer is said so, whatever the bytes."""

import contextlib
import json
import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter.promql import vector
from adapter.promql.vector import NotAnAnswer, Refused, Sample
from tests.promql.listings import shapes_of

PAIR = [1714557600.5, "1"]


def body(result, kind="vector", **members):
    return json.dumps(
        {"status": "success", "data": {"resultType": kind, "result": result}} | members
    ).encode()


def answer(*elements):
    return vector.decode(body(list(elements)))


def value_of(text):
    (sample,) = answer({"metric": {}, "value": [1, text]}).samples
    return sample.value


def test_a_vector_is_samples():
    """Labels, value and the backend's time in seconds, in the order of the answer."""
    result = answer(
        {"metric": {"pod": "b"}, "value": [1714557600.25, "2.5"]}, {"metric": {}, "value": [7, "-3"]}
    )
    assert result == vector.Result(
        "vector", (Sample({"pod": "b"}, 2.5, 1714557600.25), Sample({}, -3.0, 7.0)), (), 0
    )


def test_an_empty_answer_is_no_failure():
    """An empty list, and the null that some backends write instead."""
    assert vector.decode(body([])).samples == ()
    assert vector.decode(body(None)).samples == ()


def test_a_scalar_is_one_sample_without_labels():
    """External metrics may ask for one."""
    assert vector.decode(body([3, "4"], "scalar")) == vector.Result("scalar", (Sample({}, 4.0, 3.0),), (), 0)


@pytest.mark.parametrize(
    ("kind", "result"), [("matrix", [{"metric": {}, "values": [PAIR]}]), ("string", [1, "x"])]
)
def test_other_types_are_named_and_have_no_samples(kind, result):
    """What to make of them is the caller's decision."""
    assert vector.decode(body(result, kind)) == vector.Result(kind, (), (), 0)


def test_native_histograms_are_counted():
    """A histogram is no number: it is left out, and how many were is known."""
    result = answer({"metric": {"a": "b"}, "histogram": [1, {"count": "1"}]}, {"metric": {}, "value": PAIR})
    assert (len(result.samples), result.histograms) == (1, 1)


def test_warnings_are_kept_and_infos_are_not():
    """Infos come with good answers; older servers send them among the warnings, marked by their first words."""
    result = vector.decode(body([], warnings=["PromQL info: counter?", "partial"], infos=["PromQL info: x"]))
    assert result.warnings == ("partial",)
    assert vector.decode(body([], warnings=None, infos=None)).warnings == ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0),
        ("-0.5", -0.5),
        ("+1", 1.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("1E-3", 0.001),
        ("007", 7.0),
        ("+Inf", math.inf),
        ("-Inf", -math.inf),
        ("1e-400", 0.0),
        ("1.7976931348623157e+308", 1.7976931348623157e308),
    ],
)
def test_a_value_in_prometheus_form_is_read(text, value):
    """Decimal numbers with or without exponent, and the infinities."""
    assert value_of(text) == value


def test_nan_is_read():
    """What to do with it is the rule's policy."""
    assert math.isnan(value_of("NaN"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 1",
        "1 ",
        "1\n",
        "1_0",
        "nan",
        "Inf",
        "inf",
        "infinity",
        "0x1p4",
        "1e400",
        "-1e999",
        "1,2",
        "[1]",
        "--1",
        "1e",
        ".",
        "\u0663",
        "1\u00a0",
        "e5",
        "1.2.3",
        "+",
        "null",
        "true",
    ],
)
def test_a_value_that_is_no_number_is_refused(text):
    """Python's and JSON's reading of numbers are both wider or narrower: neither decides alone."""
    with pytest.raises(NotAnAnswer):
        value_of(text)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 10**25), st.integers(-330, 280))
def test_numbers_are_read_exactly(number, digits, exponent):
    """To the last bit, many at once and one by one."""
    texts = [repr(number), f"{digits}.{digits}e{exponent}", f"+{abs(number)!r}"]
    for some in (texts[:2], texts):
        samples = answer(*({"metric": {}, "value": [1, text]} for text in some)).samples
        assert [bits(one.value) for one in samples] == [bits(float(text)) for text in some]


def bits(number):
    return struct.pack("<d", number)


@pytest.mark.parametrize(
    "element",
    [
        {"metric": {}, "value": [1, 2]},
        {"metric": {}, "value": ["1", "2"]},
        {"metric": {}, "value": [1]},
        {"metric": {}, "value": [1, "2", 3]},
        {"metric": {}, "value": None},
        {"metric": {}, "value": "1"},
        {"metric": {}, "value": {}},
        {"metric": {"a": 1}, "value": PAIR},
        {"metric": [], "value": PAIR},
        {"metric": {}},
        [],
        None,
        "x",
    ],
)
def test_a_malformed_sample_spoils_the_answer(element):
    """A number taken from a wrong place would be a made-up one."""
    with pytest.raises(NotAnAnswer):
        answer({"metric": {}, "value": PAIR}, element)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"<html><title>Sign in</title></html>",
        b"\xff\xfe\x00",
        b'{"status":"success"}',
        b'{"status":"success","data":null}',
        b'{"status":"success","data":{"resultType":"vector"}}',
        b'{"status":"success","data":{"resultType":"table","result":[]}}',
        b'{"status":"success","data":{"result":[]}}',
        b'{"status":"done","data":{"resultType":"vector","result":[]}}',
        b'{"status":1}',
        body([]) + b"x",
        body([])[:-2],
        b'{"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":"\xff"},"value":[1,"1"]}]}}',
        b'{"status":"success","data":{"resultType":"vector","result":[{"value":[1e999,"1"]}]}}',
        b'{"status":"success","data":{"resultType":"matrix","result":' + b"[" * 100_000,
        b'{"x":' * 50_000,
    ],
    ids=repr,
)
def test_what_is_no_envelope_is_said_so(raw):
    """Login pages, half answers, other types and endless nesting."""
    with pytest.raises(NotAnAnswer):
        vector.decode(raw)
    with pytest.raises(NotAnAnswer):
        shapes_of(raw)


def test_the_message_shows_a_little_of_the_body():
    """Enough to know a login page by, escaped, and no more than 64 characters of it."""
    with pytest.raises(NotAnAnswer) as problem:
        vector.decode(b"<html>\n\xe9" + b"a" * 1000)
    shown = str(problem.value)
    assert "<html>\\n\\xe9aaa" in shown
    assert shown.isascii()
    assert shown.isprintable()
    assert len(shown.partition(": <html>")[2]) <= 64


def test_a_long_quotation_in_the_reason_is_cut():
    """What the JSON reader quotes of the body is cut too."""
    with pytest.raises(NotAnAnswer) as problem:
        vector.decode(body([], "x" * 5000))
    assert len(str(problem.value)) < 300


@pytest.mark.parametrize("decode", [vector.decode, shapes_of])
def test_a_refusal_has_its_type_and_message(decode):
    """Prometheus says why: the caller decides what status that is."""
    with pytest.raises(Refused) as problem:
        decode(b'{"status":"error","errorType":"bad_data","error":"parse error","data":{"x":1}}')
    assert (problem.value.error_type, problem.value.message) == ("bad_data", "parse error")
    assert str(problem.value) == "bad_data: parse error"


def test_a_refusal_without_words_is_one():
    """Some proxies send nothing but the status."""
    with pytest.raises(Refused) as problem:
        vector.decode(b'{"status":"error"}')
    assert (problem.value.error_type, problem.value.message, str(problem.value)) == ("", "", "")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["metric", "value", "histogram", "resultType", "result", "a"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
envelopes = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(["success", "error", "x"]) | json_values,
        "data": json_values
        | st.fixed_dictionaries(
            {"resultType": st.sampled_from(["vector", "scalar", "matrix", "string"]), "result": json_values}
        ),
        "errorType": json_values,
        "error": json_values,
        "warnings": json_values,
        "infos": json_values,
    },
)


@settings(max_examples=300)
@given(st.binary() | envelopes.map(lambda one: json.dumps(one).encode()))
def test_any_bytes_are_an_answer_or_one_of_two_errors(raw):
    """Nothing a backend sends gets past the two errors that callers know."""
    for decode in (vector.decode, shapes_of):
        with contextlib.suppress(NotAnAnswer, Refused):
            decode(raw)


@settings(max_examples=200)
@given(st.integers(0, 400), st.binary(min_size=1, max_size=3))
def test_a_damaged_answer_never_crashes(place, damage):
    """One wrong byte anywhere."""
    raw = body([{"metric": {"pod": "web-1", "namespace": "shop"}, "value": PAIR}] * 3, warnings=["w"])
    place %= len(raw)
    with contextlib.suppress(NotAnAnswer, Refused):
        vector.decode(raw[:place] + damage + raw[place + len(damage) :])
