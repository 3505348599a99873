import pytest

from adapter.rulebook import yaml_text
from adapter.rulebook.yaml_nodes import Mapping, Place, Scalar, Sequence
from adapter.rulebook.yaml_text import Unreadable


def value_of(text: str) -> Scalar:
    root = yaml_text.compose(f"key: {text}")
    assert isinstance(root, Mapping)
    ((_, value),) = root.pairs
    assert isinstance(value, Scalar)
    return value


def refused(text: str) -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        yaml_text.compose(text)
    return caught.value


@pytest.mark.parametrize("text", ["", "# only a comment\n", "\ufeff", "\n\n"])
def test_an_empty_text_has_no_document(text):
    """Nothing, a comment and blank lines are no document."""
    assert yaml_text.compose(text) is None


@pytest.mark.parametrize("text", ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"])
def test_yaml_1_1_spells_true_in_eleven_ways(text):
    """Upstream's parser follows YAML 1.1, `y` included."""
    assert value_of(text).boolean is True


@pytest.mark.parametrize("text", ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"])
def test_yaml_1_1_spells_false_in_eleven_ways(text):
    """Upstream's parser follows YAML 1.1, `n` included."""
    assert value_of(text).boolean is False


@pytest.mark.parametrize("text", ["'false'", '"true"', "0", "1", "tRUE", "maybe", "!!str true"])
def test_quoted_words_and_numbers_are_no_booleans(text):
    """A quoted word is a text for YAML."""
    assert value_of(text).boolean is None


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL", "!!null x"])
def test_null_has_five_spellings(text):
    """All of them stand for an absent value."""
    assert value_of(text).is_null


@pytest.mark.parametrize("text", ["''", '""', '"null"', "nULL", "!!str", "!!str ~"])
def test_an_empty_text_is_not_null(text):
    """Quotes or the tag !!str make a text of it."""
    assert not value_of(text).is_null


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("5", "5"),
        ("010", "010"),
        ("1e3", "1e3"),
        ("2001-01-01", "2001-01-01"),
        ("No", "No"),
        ("12:30:45", "12:30:45"),
    ],
)
def test_numbers_booleans_and_dates_keep_their_characters(text, taken):
    """A scalar is the text that was written, whatever type YAML sees in it."""
    assert value_of(text).text == taken


def test_places_count_from_one_in_characters():
    """Line and column are those of an editor, also after a byte order mark and characters of several bytes."""
    root = yaml_text.compose("\ufeffé: 'ü'\r\nb: [x, yz]\r\n")
    assert isinstance(root, Mapping)
    (_, first), (_, second) = root.pairs
    assert first.place == Place(1, 4, 3)
    assert isinstance(second, Sequence)
    assert second.place == Place(2, 4, 7)
    assert second.items[1].place == Place(2, 8, 2)


def test_the_second_document_is_not_looked_at():
    """Whatever follows the first document may be nonsense."""
    assert isinstance(yaml_text.compose("a: b\n---\n{{{\n"), Mapping)


def test_a_merge_key_takes_effect_where_it_stands():
    """What comes later in the mapping wins, and of a list of merged mappings the first: so does upstream."""
    root = yaml_text.compose("a: &a {k: 1, l: 1}\nb: &b {k: 2, m: 2}\nc: {k: 0, <<: [*a, *b], l: 3}\n")
    assert isinstance(root, Mapping)
    target = root.pairs[2][1]
    assert isinstance(target, Mapping)
    pairs = [(key.text, value.text) for key, value in target.merged() if isinstance(value, Scalar)]
    assert dict(pairs) == {"k": "1", "l": "3", "m": "2"}


def test_a_quoted_merge_key_is_a_key():
    """Only the plain << merges."""
    root = yaml_text.compose("'<<': {a: b}")
    assert isinstance(root, Mapping)
    assert [key.text for key, _ in root.merged()] == ["<<"]


def test_aliases_of_aliases_are_counted_not_expanded():
    """Ten to the power of eight values behind eight lines are refused at once."""
    bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(97 + i)}: &{chr(97 + i)} [{','.join(['*' + chr(96 + i)] * 10)}]\n" for i in range(1, 9)
    )
    assert refused(bomb).fault.word == "too-many-nodes"


def test_depth_is_bounded_with_brackets_and_with_aliases():
    """Neither a million brackets nor a chain of aliases costs stack."""
    assert isinstance(yaml_text.compose("[" * 20 + "]" * 20), Sequence)
    assert refused("[" * 21 + "]" * 21).fault.word == "too-deep"
    assert refused("[" * 900_000).fault.word in ("too-deep", "syntax")
    chain = "- &a0 [x]\n" + "".join(f"- &a{i} [*a{i - 1}]\n" for i in range(1, 25))
    assert refused(chain).fault.word == "too-deep"


def test_size_is_bounded():
    """More than 1 MiB is refused before it is parsed, counted in bytes."""
    assert refused("#" * (yaml_text.MAX_BYTES + 1)).fault.word == "too-large"
    assert refused("é" * (yaml_text.MAX_BYTES // 2 + 1)).fault.word == "too-large"


def test_values_are_bounded():
    """A megabyte of commas does not become a million nodes."""
    assert refused(f"[{'a,' * 200_000}]").fault.word == "too-many-nodes"


@pytest.mark.parametrize(
    ("text", "place"), [("a: b\nc: \x07", Place(2, 4)), ("é: \x00", Place(1, 4)), ("a: \ud800", Place(1, 4))]
)
def test_a_forbidden_character_has_a_place(text, place):
    """Control characters and halves of surrogate pairs are found where they stand."""
    error = refused(text)
    assert (error.fault.word, error.place) == ("bad-character", place)


def test_a_syntax_error_says_where_the_thing_began():
    """The parser often notices far below: the message names the line above, too."""
    error = refused("a: [b\nc: d\n")
    assert error.place.line == 2
    assert "of line 1" in error.fault.message


def test_a_quote_that_is_never_closed_is_shown_where_it_was_opened():
    """The end of the file, where the parser stands then, has nothing to see."""
    assert refused('a: "b\nc: d\n').place == Place(1, 4)
