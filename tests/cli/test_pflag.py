"""Arguments in pflag's syntax: what they mean, and what click is told of them."""

import pytest

from adapter.cli import go_values, pflag
from adapter.cli.pflag import Flags, Given

KINDS = {
    "name": go_values.TEXT,
    "count": go_values.INTEGER,
    "quiet": go_values.BOOLEAN,
    "label": go_values.TEXTS,
    "list": go_values.ENTRIES,
    "log-dir": go_values.TEXT,
    "wait": go_values.DURATION,
    "v": go_values.INTEGER,
}
FLAGS = Flags(KINDS, {"v": "v"})


def plain(*arguments: str) -> list[str]:
    """What click is told."""
    return pflag.plain(FLAGS.parse(arguments).flags, KINDS)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--name=x"], ["--name=x"]),
        (["--name", "x"], ["--name=x"]),
        (["--name", "--quiet"], ["--name=--quiet"]),
        (["--name="], ["--name="]),
        (["--name", ""], ["--name="]),
        (["--name=a=b"], ["--name=a=b"]),
        (["--name=a", "--name=b"], ["--name=b"]),
        (["--label=a", "--label", "b,c"], ["--label=a", "--label=b,c"]),
        (["--list=a,b", "--list=c"], ["--list=a,b", "--list=c"]),
        (["--count=0x10"], ["--count=16"]),
        (["--count", "-1"], ["--count=-1"]),
        (["--quiet"], ["--quiet"]),
        (["--quiet=T"], ["--quiet"]),
        (["--quiet=0"], []),
        (["--quiet", "--quiet=false"], []),
        (["--quiet=false", "--quiet"], ["--quiet"]),
        (["-v=4"], ["--v=4"]),
        (["-v", "4"], ["--v=4"]),
        (["-v4"], ["--v=4"]),
        (["--v=4"], ["--v=4"]),
        (["--log_dir=/tmp"], ["--log-dir=/tmp"]),
        (["/adapter", "--name=x", "-", ""], ["--name=x"]),
        (["--name=x", "--", "--name=y", "-v4"], ["--name=x"]),
        ([], []),
    ],
)
def test_every_form_is_read(arguments, told):
    """Those of pflag, and no other."""
    assert plain(*arguments) == told


@pytest.mark.parametrize("text", ["1", "t", "T", "TRUE", "true", "True"])
def test_switch_is_on(text):
    """Go's words for it."""
    assert plain(f"--quiet={text}") == ["--quiet"]


@pytest.mark.parametrize("text", ["0", "f", "F", "FALSE", "false", "False"])
def test_switch_is_off(text):
    """Go's words for it."""
    assert plain(f"--quiet={text}") == []


def test_switch_takes_no_value_from_the_next_word():
    """`--quiet false` means true, as in Go; the word after it is remembered as doubtful."""
    parsed = FLAGS.parse(["--quiet", "false", "--name=x", "word"])
    assert parsed.flags == (Given("quiet", "true"), Given("name", "x"))
    assert (parsed.words, parsed.after_switches) == (2, ("quiet",))


def test_words_after_two_dashes_are_counted():
    """They are words, whatever they look like."""
    assert FLAGS.parse(["--", "--name=y", "a"]).words == 2


@pytest.mark.parametrize("arguments", [["--name=x", "--help"], ["-h"], ["-hv4"]])
def test_help_is_asked_for(arguments):
    """It ends the reading."""
    assert FLAGS.parse(arguments).help


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--count=x"], 'invalid argument "x" for "--count" flag: strconv.ParseInt: parsing "x"'),
        (["--count="], "invalid syntax"),
        (["--count= 1"], "invalid syntax"),
        (["--count=9223372036854775808"], "value out of range"),
        (["-vx"], 'invalid argument "x" for "-v, --v" flag'),
        (["-v="], 'invalid argument "=" for "-v, --v" flag'),
        (["--quiet=yes"], 'invalid argument "yes" for "--quiet" flag: strconv.ParseBool'),
        (["--quiet="], "strconv.ParseBool"),
        (["--wait=5"], "missing unit in duration"),
        (['--list="a'], "parse error"),
        (["--name"], "flag needs an argument: --name"),
        (["-v"], 'flag needs an argument: "v" in -v'),
        (["--=x"], "bad flag syntax: --"),
        (["---name"], "bad flag syntax: ---name"),
        (["--count=\n"], 'invalid argument "\\n"'),
    ],
)
def test_wrong_use_is_told_in_pflags_words(arguments, words):
    """Which flag, and why."""
    with pytest.raises(pflag.Problem) as caught:
        FLAGS.parse(arguments)
    assert words in str(caught.value)


@pytest.mark.parametrize("argument", ["--nmae=secret", "-x=secret"])
def test_unknown_flag_is_named_without_its_value(argument):
    """A password may stand there."""
    with pytest.raises(pflag.Unknown) as caught:
        FLAGS.parse([argument])
    assert caught.value.option == argument.partition("=")[0]
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0x1F", "31"),
        ("017", "15"),
        ("0o17", "15"),
        ("0b11", "3"),
        ("1_000", "1000"),
        ("+5", "5"),
        ("-0", "0"),
    ],
)
def test_integers_are_gos(text, value):
    """With base 0, as strconv.ParseInt reads them."""
    assert go_values.integer(text) == value


@pytest.mark.parametrize("text", ["", "-", "1.0", "1e3", "09", "0x", "x1", "٣", "1__0"])
def test_what_is_no_integer_is_refused(text):
    """Python would take some of these."""
    with pytest.raises(ValueError, match="invalid syntax"):
        go_values.integer(text)


@pytest.mark.parametrize("text", ["5", "0.5", ".5", "5.", "1e3"])
def test_numbers_have_decimals(text):
    """An exponent too."""
    assert go_values.number(text) == text


@pytest.mark.parametrize("text", ["", "x", "1_0", " 1", "1,5"])
def test_what_is_no_number_is_refused(text):
    """As strconv.ParseFloat does."""
    with pytest.raises(ValueError, match="invalid syntax"):
        go_values.number(text)


def test_lists_may_quote_commas():
    """They are lines of CSV."""
    assert go_values.split('a,"b,c",') == ("a", "b,c", "")
    assert go_values.split("") == ()


def test_addresses_are_numbers():
    """A name is none, as in Go."""
    assert go_values.address(" ::1 ") == "::1"
    with pytest.raises(ValueError, match="failed to parse IP"):
        go_values.address("localhost")


def test_serving_pairs_are_two_files():
    """With names behind a colon, or without."""
    assert go_values.pair_of_files("a.crt,a.key:x.example,y.example")
    with pytest.raises(ValueError, match="certificate and key"):
        go_values.pair_of_files("a.crt")


def test_levels_have_patterns():
    """As in --vmodule."""
    assert go_values.levels("rest=4,http*=8")
    with pytest.raises(ValueError, match="pattern=N"):
        go_values.levels("rest=x")
