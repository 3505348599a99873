"""Go's text/template with << and >>: in goes a rule's text, out comes a template that renders queries.

`parse` once, `render` often. Never reads anything but its arguments, and never runs away: see `limits`.
"""

from dataclasses import dataclass, field

from adapter.promql import gostrings
from adapter.promql.template import evaluate, nodes, parser
from adapter.promql.template.limits import MAX_SOURCE, TemplateError, TemplateSyntaxError
from adapter.promql.template.nodes import Listing
from adapter.promql.template.values import Struct

__all__ = ["Struct", "Template", "TemplateError", "TemplateSyntaxError", "parse"]

DEFAULT_NAME = "metrics-query"
"""What upstream calls its templates in messages."""


@dataclass(frozen=True)
class Template:
    """A parsed template."""

    source: str
    name: str = DEFAULT_NAME
    definitions: dict[str, Listing] = field(default_factory=dict, repr=False, compare=False)

    def render(self, data: Struct) -> str:
        """This is the template's text with this data; TemplateError says where it fails."""
        return evaluate.render(self.name, self.source, self.definitions, data)

    def fields(self) -> frozenset[str]:
        """The names of the fields that it mentions, anywhere: `.Series`, `$.Series`, `(.).Series`."""
        return frozenset(name for body in self.definitions.values() for name in nodes.mentioned(body))


def parse(text: str, name: str = DEFAULT_NAME) -> Template:
    """This is the template of a text; TemplateSyntaxError says what is wrong with it, and in which line."""
    if len(text) > MAX_SOURCE:
        raise TemplateSyntaxError(f"template: {name}:1: longer than {MAX_SOURCE} characters", 1)
    text = gostrings.from_bytes(gostrings.to_bytes(text))
    try:
        return Template(text, name, parser.parse(text, name))
    except RecursionError:
        raise TemplateSyntaxError(f"template: {name}:1: nested too deeply", 1) from None
