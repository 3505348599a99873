from pathlib import Path

import pytest

from adapter.rulebook import files

RULE = "rules:\n- seriesQuery: {}\n  metricsQuery: q\n  resources: {{template: <<.Resource>>}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b", "a", "c.test"):
        (tmp_path / f"{name}.yaml").write_text(RULE.format(name[0]))
    (tmp_path / "notes.txt").write_text("no rules")
    (tmp_path / ".hidden.yaml").write_text("no rules")
    return tmp_path


def words(book) -> list[str]:
    return [one.word for one in book.findings]


def test_one_file_gives_plain_ids(folder):
    """Where there is one file, its name says nothing."""
    book = files.load([str(folder / "a.yaml")], compat=False)
    assert [one.id for one in book.rules] == ["rules[0]"]
    assert book.findings == ()


def test_a_directory_is_read_in_the_order_of_names(folder):
    """Only *.yaml counts, without the tests that lie beside rules and without hidden files."""
    book = files.load([str(folder)], compat=False)
    assert [(one.id, one.series_query) for one in book.rules] == [
        ("a.yaml:rules[0]", "a"),
        ("b.yaml:rules[0]", "b"),
    ]


def test_values_are_merged_in_the_given_order(folder):
    """Later rules win in the catalog, so order matters; a file named twice is read once."""
    paths = [str(folder / "b.yaml"), str(folder / "a.yaml"), str(folder / "b.yaml")]
    assert [one.series_query for one in files.load(paths, compat=False).rules] == ["b", "a"]


def test_ids_stay_unique_when_two_files_have_one_name(folder):
    """Then the whole path goes before the rule."""
    (folder / "sub").mkdir()
    other = folder / "sub" / "a.yaml"
    other.write_text(RULE.format("z"))
    book = files.load([str(folder), str(other)], compat=False)
    assert [one.id for one in book.rules] == [
        f"{folder}/a.yaml:rules[0]",
        "b.yaml:rules[0]",
        f"{other}:rules[0]",
    ]


def test_a_file_that_cannot_be_read_is_a_finding(folder):
    """The other files stay in force."""
    book = files.load([str(folder / "nosuch.yaml"), str(folder / "a.yaml"), "a\0b"], compat=False)
    assert words(book) == ["unreadable", "unreadable"]
    assert len(book.rules) == 1


def test_a_file_of_another_encoding_is_a_finding(folder):
    """The place is that of the first byte that is no UTF-8."""
    path = folder / "latin.yaml"
    path.write_bytes(b"rules:\n- name: \xe9\n")
    (finding,) = files.load([str(path)], compat=False).findings
    assert (finding.word, finding.position.line, finding.position.column) == ("not-utf8", 2, 9)


def test_a_file_that_is_too_large_is_not_read(folder):
    """What does not end does not fill the memory."""
    assert words(files.load(["/dev/zero"], compat=False)) == ["too-large"]


def test_a_directory_without_rules_is_worth_a_warning(tmp_path):
    """An empty mount is easily overlooked."""
    (finding,) = files.load([str(tmp_path)], compat=False).findings
    assert (finding.word, finding.severity) == ("no-files", "warning")


def test_no_config_is_an_empty_rulebook():
    """Nothing is asked, nothing is wrong."""
    assert files.load([], compat=False).findings == ()


def test_shipped_rules_are_named_with_an_at_sign(folder):
    """@NAME is a file that comes with the program; its test beside it is no rule file."""
    book = files.load(["@a"], compat=False, shipped=folder)
    assert [one.series_query for one in book.rules] == ["a"]
    assert book.rules[0].position.file == "@a"
    assert files.read("@a", shipped=folder).startswith("rules:")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("@nosuch", "known: @a, @b"),
        ("@../a", "known: @a, @b"),
        ("@c.test", "known: @a, @b"),
    ],
)
def test_an_unknown_shipped_name_lists_the_known_ones(folder, name, advice):
    """Nothing but the known names is opened, so no path can be smuggled in."""
    (finding,) = files.load([name], compat=False, shipped=folder).findings
    assert (finding.word, finding.suggestion) == ("unknown-shipped-rules", advice)


def test_rules_of_this_program_are_found_without_being_told_where():
    """In a source checkout they are in `rules`, beside the package; all of them load without a finding."""
    names = files.shipped_names(files.shipped_folder())
    book = files.load([f"@{name}" for name in names], compat=False)
    assert book.findings == ()
    assert words(files.load(["@nosuch"], compat=False)) == ["unknown-shipped-rules"]


def test_two_files_with_resource_rules_keep_the_first(tmp_path):
    """There is one source of CPU and memory; the second is told where the first is."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text("resourceRules: {window: 5m}\n")
    book = files.load([str(tmp_path)], compat=True)
    (finding,) = book.findings
    assert book.resource is not None
    assert book.resource.position.file.endswith("a.yaml")
    assert str(finding).startswith(
        f"{tmp_path}/b.yaml:1:1: `resourceRules` stands in {tmp_path}/a.yaml:1:1 already"
    )
