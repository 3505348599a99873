"""Quantities are written as upstream writes them, and read as the autoscaler reads them."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter.wire import quantity
from tests.wire.data import golden, vectors

VECTORS = vectors("quantity-vectors", as_text=True)
OVERFLOW = "-9223372036854775808"
BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def of(section, name):
    return [pytest.param(case, id=case[name]) for case in VECTORS[section]]


def plain(value):
    """The shortest decimal text of a float, without an exponent."""
    return format(Decimal(repr(value)), "f").removesuffix(".0")


def read(text):
    """What parse makes of a text: the number or the error, as the vectors have them."""
    try:
        return str(quantity.parse(text))
    except ValueError as error:
        return str(error)


def away_from_zero(number):
    return math.ceil(number) if number > 0 else math.floor(number)


@pytest.mark.parametrize("case", of("float_to_text", "float"))
def test_samples_become_thousandths(case):
    """A sample is cut off at thousandths; one that Go would overflow has no value."""
    value = quantity.milli(float(case["float"]))
    if case["milli_truncated"] == OVERFLOW:
        assert value is None
    else:
        assert value == int(case["milli_truncated"])
        assert quantity.render(value) == case["canonical_of_milli_truncated"]


@pytest.mark.parametrize(
    "case", [case for case in of("float_to_text", "float") if "milli_value" in case.values[0]]
)
def test_samples_written_out_are_read_as_the_autoscaler_does(case):
    """The plain text of a number is read as MilliValue() reads it, wrapped around where that wraps."""
    assert read(plain(float(case["float"]))) == case["milli_value"]
    assert quantity.render(int(case["milli_value"])) == case["canonical_of_milli_value"]


@pytest.mark.parametrize("case", of("float_to_text", "float"))
def test_exponents_are_read(case):
    """Exponent text has the value of the plain text, as long as nothing wraps around."""
    if "milli_value" in case and abs(float(case["float"])) < 9e15:
        assert read(case.get("shortest_exponent_text", case["float"])) == case["milli_value"]


@pytest.mark.parametrize("case", of("int_constructors", "int"))
def test_canonical_text(case):
    """Whole numbers of thousandths and of ones have Go's canonical text, decimal and binary."""
    number = int(case["int"])
    assert quantity.render(number) == case["new_milli_quantity"]
    assert quantity.render(number * 1000) == case["new_quantity"]
    assert quantity.render_binary(number) == case["new_milli_quantity_binary"]
    assert quantity.render_binary(number * 1000) == case["new_quantity_binary"]
    if number > -(10**18):  # longer negative text is read through a big decimal, which has another fault
        assert read(case["int"]) == case["milli_value_of_new_quantity"]


@pytest.mark.parametrize("case", of("parse", "text"))
def test_text_is_read(case):
    """Every form of a quantity is read, or refused with Go's words."""
    assert read(case["text"]) == case.get("error", case.get("milli_value"))


@pytest.mark.parametrize("case", of("json_decode", "json"))
def test_json_is_read(case):
    """Numbers and texts of JSON are quantities too, once quotes and blanks are off."""
    assert read(case["json"].strip('"').strip()) == case.get("error", case.get("milli_value"))


@pytest.mark.parametrize("case", of("scaled_to_milli", "text"))
def test_scaling_rounds_up(case):
    """What is finer than a thousandth is rounded away from zero."""
    assert read(case["text"]) == case["milli_value"]


@pytest.mark.parametrize("case", of("samples", "value"))
def test_samples_are_shown_as_by_upstream(case):
    """A sample of a custom metric, and a non-negative one of memory, has upstream's text."""
    value = quantity.milli(float(case["value"]))
    if value is not None:
        assert quantity.render(value) == case["custom"]
        assert quantity.render_binary(max(value, 0)) == case["memory"]


def test_recorded_quantities():
    """The texts that upstream sent in the recorded answers are canonical for us too."""
    for item in golden("values-quantities")["body"]["items"]:
        if not item["value"].startswith(OVERFLOW):
            assert quantity.render(quantity.parse(item["value"])) == item["value"]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, 9.3e15, -9.3e15, 2.0**63 / 1000])
def test_numbers_without_a_value(value):
    """NaN, infinities and what is beyond 64 bits of thousandths are no value, never a made-up one."""
    assert quantity.milli(value) is None


@pytest.mark.parametrize(
    ("text", "milli"),
    [
        ("+", 0),
        ("-", 0),
        ("k", 0),
        ("e5", 0),
        (".Ki", 0),
        ("0.00000000000000000000000e2147483647", 0),
        ("0e2147483647", 0),
        ("1e2147483647", 0),
        ("1e-2147483647", 1),
        ("123456789012345678901e100", 0),
        ("-1.5Ki", -1536000),
        ("-1e-20", 1),
        ("-1.23456789012345678901", -1233),
        ("1.23456789012345678901", 1235),
        ("-9Ei", 1000),
        ("9Ei", -1000),
        ("0.00000000000000000001Ki", 1),
    ],
)
def test_corners_of_the_grammar(text, milli):
    """Texts without digits are 0, and numbers too long for 64 bits have Go's own rounding."""
    assert quantity.parse(text) == milli


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", quantity.FORMAT_WRONG),
        ("1\n", quantity.FORMAT_WRONG),
        ("\u0661", quantity.FORMAT_WRONG),
        ("1" * 4097, quantity.FORMAT_WRONG),
        (".e-10", quantity.NUMBER_WRONG),
        ("1e", quantity.SUFFIX_WRONG),
        ("1e+", quantity.SUFFIX_WRONG),
        ("1e2147483648", quantity.SUFFIX_WRONG),
        ("1e-2147483648", quantity.SUFFIX_WRONG),
        ("1E99999999999999999999", quantity.SUFFIX_WRONG),
        ("1Kii", quantity.SUFFIX_WRONG),
    ],
)
def test_no_quantities(text, error):
    """What is no quantity, or would keep Go busy for ever, is refused."""
    assert read(text) == error


def test_a_hostile_text_takes_no_time():
    """Thousands of digits that end wrongly are refused at once, not by trying all ways to split them."""
    assert read("0" * 4_000 + "x") == quantity.FORMAT_WRONG


@settings(deadline=None, max_examples=300)
@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_samples_are_truncated_exactly(value):
    """milli() is the float product cut off toward zero, whatever the sample."""
    product = value * 1000.0
    expected = math.trunc(Fraction(product)) if math.isfinite(product) else quantity.MAX_MILLI + 1
    assert quantity.milli(value) == (expected if abs(expected) <= quantity.MAX_MILLI else None)


@settings(deadline=None, max_examples=300)
@given(
    sign=st.sampled_from(["", "+", "-"]),
    whole=st.integers(0, 10**10),
    decimals=st.from_regex("[0-9]{0,6}", fullmatch=True),
    suffix=st.sampled_from(list(DECIMAL)),
)
def test_short_texts_are_exact(sign, whole, decimals, suffix):
    """Up to 18 digits not finer than nano the result is the exact number, rounded away from zero at a thousandth."""
    exact = Fraction(f"{sign}{whole}.{decimals or 0}") * Fraction(10) ** (DECIMAL[suffix] + 3)
    if DECIMAL[suffix] - len(decimals) >= -9 and abs(exact) <= quantity.MAX_MILLI:
        text = f"{sign}{whole}.{decimals}{suffix}"
        assert quantity.parse(text) == away_from_zero(exact)


@settings(deadline=None, max_examples=300)
@given(
    whole=st.integers(0, 10**20),
    decimals=st.from_regex("[0-9]{0,30}", fullmatch=True),
    exponent=st.integers(-30, 10),
)
def test_positive_texts_are_rounded_up(whole, decimals, exponent):
    """Of any length: rounded up at nano, then at a thousandth."""
    exact = Fraction(f"{whole}.{decimals or 0}") * Fraction(10) ** exponent
    expected = math.ceil(Fraction(math.ceil(exact * 10**9), 10**6))
    if expected <= quantity.MAX_MILLI:
        assert quantity.parse(f"{whole}.{decimals}e{exponent}") == expected


@settings(deadline=None, max_examples=200)
@given(whole=st.integers(0, 2**62), suffix=st.sampled_from(list(BINARY)))
def test_binary_texts_are_capped(whole, suffix):
    """Binary amounts are exact up to 2**63-1, where Go stops counting."""
    amount = min(whole * BINARY[suffix], 2**63 - 1)
    expected = (amount * 1000 + 2**63) % 2**64 - 2**63
    assert quantity.parse(f"{whole}{suffix}") == expected


@settings(deadline=None, max_examples=300)
@given(milli=st.integers(-(10**18) + 1, quantity.MAX_MILLI))
def test_texts_read_back(milli):
    """What render and render_binary write, parse reads."""
    assert quantity.parse(quantity.render(milli)) == milli
    if abs(milli) < 10**15:
        assert quantity.parse(quantity.render_binary(milli)) == milli


@settings(deadline=None, max_examples=400)
@given(text=st.one_of(st.text(max_size=20), st.text("0123456789.+-eEinumkKMGTP", max_size=40)))
def test_only_one_error_is_ever_raised(text):
    """Whatever the text, it is a number of 64 bits or a ValueError in Go's words."""
    result = read(text)
    if result not in (quantity.FORMAT_WRONG, quantity.NUMBER_WRONG, quantity.SUFFIX_WRONG):
        assert -(2**63) <= int(result) < 2**63
