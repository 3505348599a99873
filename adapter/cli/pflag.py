"""Arguments in the syntax of Go's pflag, which prometheus-adapter's charts and manifests are written in.

    --name=VALUE   --name VALUE   --switch   --switch=false   -v=4   -v 4   -v4   --   and words, which mean nothing

A switch takes a value only after =. An underscore in a name is a dash, as Kubernetes' programs have it. Of several
values of a flag the last one counts, unless it is repeatable. What comes out is written so that click reads it alike.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapter.cli.go_values import Kind


class Problem(ValueError):
    """This is no proper use; the text is pflag's."""


class Unknown(Problem):
    """There is no such flag. `option` is how it was written."""

    def __init__(self, text: str, option: str) -> None:
        super().__init__(text)
        self.option = option


@dataclass(frozen=True, slots=True)
class Given:
    """One flag with its value, in the form of its kind."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """What the arguments say."""

    flags: tuple[Given, ...] = ()
    words: int = 0
    """How many words were no flags."""

    after_switches: tuple[str, ...] = ()
    """Switches with such a word after them: whoever wrote it may have meant it as a value."""

    help: bool = False
    """Somebody asks for help; the rest was not looked at."""


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags that there are: kinds by name, names by letter."""

    kinds: Mapping[str, Kind]
    letters: Mapping[str, str]

    def parse(self, arguments: Sequence[str]) -> Parsed:
        """What `arguments` say. Raises Problem."""
        rest, given = deque(arguments), list[Given]()
        words, doubtful, before = 0, list[str](), ""
        while rest:
            word = rest.popleft()
            if word == "--":
                words += len(rest)
                break
            if len(word) < 2 or word[0] != "-":  # noqa: PLR2004 - a dash alone is a word
                words += 1
                doubtful += [before] if before else []
                before = ""
                continue
            found = self._long(word, rest) if word.startswith("--") else self._short(word, rest)
            if found is None:
                return Parsed(help=True)
            given.append(found)
            before = found.name if self.kinds[found.name].switch and "=" not in word else ""
        return Parsed(tuple(given), words, tuple(doubtful))

    def _long(self, word: str, rest: deque[str]) -> Given | None:
        name, equals, value = word[2:].partition("=")
        if not name or name[0] == "-":
            raise Problem(f"bad flag syntax: {word.partition('=')[0]}")
        name = name.replace("_", "-")
        kind = self.kinds.get(name)
        if kind is None:
            if name == "help":
                return None
            raise Unknown(f"unknown flag: --{name}", f"--{name}")
        if not equals:
            value = _following(kind, rest, f"flag needs an argument: --{name}")
        return _checked(name, kind, value, f"--{name}")

    def _short(self, word: str, rest: deque[str]) -> Given | None:
        letter, after = word[1], word[2:]
        name = self.letters.get(letter)
        if name is None:
            if letter == "h":
                return None
            raise Unknown(f'unknown shorthand flag: "{letter}" in -{letter}', f"-{letter}")
        kind = self.kinds[name]
        if len(after) > 1 and after[0] == "=":
            value = after[1:]
        else:
            value = after or _following(kind, rest, f'flag needs an argument: "{letter}" in -{letter}')
        return _checked(name, kind, value, f"-{letter}, --{name}")


def plain(flags: Sequence[Given], kinds: Mapping[str, Kind]) -> list[str]:
    """The same for click: --name=VALUE, and --name for a switch that is on; what is overruled is left out."""
    kept: dict[str, list[str]] = {}
    for one in flags:
        earlier = kept.get(one.name, []) if kinds[one.name].repeatable else []
        kept[one.name] = [*earlier, one.value]
    return [text for name, values in kept.items() for text in _spelled(name, kinds[name], values)]


def _following(kind: Kind, rest: deque[str], missing: str) -> str:
    """The value of a flag that has none in its own word."""
    if kind.switch:
        return "true"
    if not rest:
        raise Problem(missing)
    return rest.popleft()


def _checked(name: str, kind: Kind, value: str, spelled: str) -> Given:
    try:
        return Given(name, kind.read(value))
    except ValueError as error:
        shown = value.encode("unicode_escape").decode("ascii")
        raise Problem(f'invalid argument "{shown}" for "{spelled}" flag: {error}') from error


def _spelled(name: str, kind: Kind, values: Sequence[str]) -> list[str]:
    if kind.switch:
        return [f"--{name}"] * (values[-1] == "true")
    return [f"--{name}={value}" for value in values]
