"""How much one template may do: a rule's author can write an endless one, and it runs on the event loop."""

from adapter.promql import gostrings

MAX_LENGTH = 1 << 20
"""Characters of the longest text, made or rendered: five thousand pod names of a query are a fifth of it."""
MAX_STEPS = 100_000
"""Nodes evaluated in one rendering, about a tenth of a second; a usual template has ten."""
LENGTH_PER_STEP = 256
"""What a long text costs of the steps, so that many long texts are as dear as many nodes."""
MAX_SOURCE = 1 << 16
"""Characters of a template: parsing as many takes half a second."""
MAX_DEPTH = 80
"""Nested actions, parentheses and template calls: each takes a few of Python's thousand frames."""


class TemplateError(ValueError):
    """A template failed while it was rendered. The message is Go's; `partial` is what it had written by then."""

    partial: str = ""


class TemplateSyntaxError(ValueError):
    """A template that is none. The message is Go's, with template name and line."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class LimitError(ValueError):
    """The template does more than it may."""


class Budget:
    """What is left to one rendering."""

    def __init__(self) -> None:
        self._steps = MAX_STEPS

    def spend(self, steps: int = 1) -> None:
        """Takes steps, or refuses."""
        self._steps -= steps
        if self._steps < 0:
            raise LimitError(f"the template takes more than {MAX_STEPS} steps")

    def look(self, *texts: str) -> None:
        """Takes the price of reading these texts."""
        self.spend(sum(len(text) // LENGTH_PER_STEP for text in texts))

    def read(self, text: str) -> bytes:
        """This is the text's bytes, at their price."""
        self.look(text)
        return gostrings.to_bytes(text)

    def made(self, text: str) -> str:
        """This is a text that a function made: not too long, and whole characters."""
        refuse_long(len(text))
        self.look(text)
        return gostrings.normal(text)


def refuse_long(size: int) -> None:
    """Refuses a text of this size."""
    if size > MAX_LENGTH:
        raise LimitError(f"the text is longer than {MAX_LENGTH} characters")
