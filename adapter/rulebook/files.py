"""Where rule files are: on disk, or shipped with the program. The only file here that opens anything.

A value of --config is a file, a directory (its *.yaml in the order of names, but for tests, *.test.yaml), or
@NAME for shipped rules.
"""

import importlib.resources
from collections import Counter
from collections.abc import Iterable
from importlib.resources.abc import Traversable
from pathlib import Path, PurePath
from typing import Final

from adapter.rulebook import findings, model
from adapter.rulebook.findings import Finding, Position, Severity
from adapter.rulebook.model import Rulebook
from adapter.rulebook.parse import parse
from adapter.rulebook.yaml_text import MAX_BYTES

SUFFIX: Final = ".yaml"
TEST_SUFFIX: Final = ".test.yaml"


class CannotRead(ValueError):
    """There is no text: `finding` says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding


def load(paths: Iterable[str], *, compat: bool, shipped: Traversable | None = None) -> Rulebook:
    """One rulebook of all that `paths` name; what cannot be read is a finding.

    Where that is more than one file, ids of rules begin with the file's name: `http.yaml:rules[0]`.
    """
    names: list[str] = []
    books: list[Rulebook] = []
    for path in paths:
        try:
            names += _files(path)
        except CannotRead as error:
            books.append(Rulebook(findings=(error.finding,)))
    prefixes = _prefixes(names)
    books += [_book(name, compat=compat, prefix=prefixes[name], shipped=shipped) for name in prefixes]
    return model.merge(books)


def read(path: str, *, shipped: Traversable | None = None) -> str:
    """The text of a rule file, or of shipped rules. Raises CannotRead."""
    source: Traversable = Path(path)
    if path.startswith("@"):
        source = _shipped(path, shipped or shipped_folder())
    try:
        with source.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise CannotRead(_unreadable(path, error)) from error
    if len(content) > MAX_BYTES:
        message = "the file is larger than 1 MiB"
        raise CannotRead(_finding(path, "too-large", message, "split it: --config may be repeated"))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CannotRead(_not_utf8(path, content[: error.start])) from error


def shipped_folder() -> Traversable:
    """Where the shipped rules are: in the wheel inside the package, in a source checkout beside it."""
    package = importlib.resources.files("adapter")
    inside = package / "shipped_rules"
    return inside if inside.is_dir() else Path(str(package)).parent / "rules"


def shipped_names(folder: Traversable) -> list[str]:
    """The names that may follow @."""
    if not folder.is_dir():
        return []
    return sorted(one.name.removesuffix(SUFFIX) for one in folder.iterdir() if _is_rule_file(one))


def _files(path: str) -> list[str]:
    """The files that one value of --config names. Raises CannotRead."""
    folder = Path(path)
    try:
        if path.startswith("@") or not folder.is_dir():
            return [path]
        found = sorted(str(one) for one in folder.iterdir() if _is_rule_file(one))
    except OSError as error:
        raise CannotRead(_unreadable(path, error)) from error
    if not found:
        message = "the directory has no *.yaml file"
        raise CannotRead(_finding(path, "no-files", message, severity="warning"))
    return found


def _is_rule_file(path: Traversable) -> bool:
    """Not: hidden files, as ConfigMap mounts have them, and the tests that lie beside rules."""
    name = path.name
    is_rule = name.endswith(SUFFIX) and not name.endswith(TEST_SUFFIX) and not name.startswith(".")
    return is_rule and path.is_file()


def _prefixes(names: list[str]) -> dict[str, str]:
    """What rule ids begin with: nothing for a single file, else the file's name, else its whole path."""
    names = list(dict.fromkeys(names))
    if len(names) == 1:
        return {names[0]: ""}
    short = Counter(PurePath(name).name for name in names)
    return {name: f"{PurePath(name).name if short[PurePath(name).name] == 1 else name}:" for name in names}


def _book(name: str, *, compat: bool, prefix: str, shipped: Traversable | None) -> Rulebook:
    try:
        return parse(read(name, shipped=shipped), name, compat=compat, prefix=prefix)
    except CannotRead as error:
        return Rulebook(findings=(error.finding,))


def _shipped(path: str, folder: Traversable) -> Traversable:
    name, known = path.removeprefix("@"), shipped_names(folder)
    if name in known:
        return folder / f"{name}{SUFFIX}"
    near = findings.nearest(name, known)
    advice = f"did you mean `@{near}`? " if near else ""
    advice += f"known: {', '.join(f'@{one}' for one in known) or 'none'}"
    message = f"no rules named `{findings.shown(path)}` are shipped"
    raise CannotRead(_finding(path, "unknown-shipped-rules", message, advice))


def _unreadable(path: str, error: OSError | ValueError) -> Finding:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return _finding(path, "unreadable", f"cannot be read: {reason}")


def _not_utf8(path: str, before: bytes) -> Finding:
    above = findings.lines(before.decode("utf-8-sig"))
    place = Position(path, len(above), len(above[-1]) + 1)
    return Finding(place, "not-utf8", "from here on the file is not UTF-8", "save it as UTF-8")


def _finding(
    path: str, word: str, message: str, advice: str = "", *, severity: Severity = "error"
) -> Finding:
    return Finding(Position(path, 1, 1), word, message, advice, severity)
