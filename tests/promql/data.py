"""The recorded data that the tests of this room compare with, and template data as Go structs."""

from pathlib import Path

import yaml

from adapter.promql import template

HERE = Path(__file__).parent.parent / "data"
TYPES = {
    "one": "main.Q",
    "two": "main.Q",
    "empty": "main.Q",
    "res": "main.R",
    "rescore": "main.R",
    "z": "main.Z",
}
MAPS = ("LabelValuesByName", "M")
SLICES = ("GroupBySlice", "L")


def document(name):
    """One file of tests/data."""
    return yaml.load((HERE / f"{name}.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def struct(fields, name="main.Q"):
    """The fields as a Go struct; YAML's null is Go's empty map or slice."""
    empty = {name: {} for name in MAPS} | dict.fromkeys(SLICES, ())
    return template.Struct(
        name, {key: empty.get(key) if value is None else value for key, value in fields.items()}
    )


def outcome(text, data):
    """(stage, text or message, what was written before it failed) of a template, as a vector has them."""
    try:
        parsed = template.parse(text)
    except template.TemplateSyntaxError as problem:
        return "parse", str(problem), ""
    try:
        return "", parsed.render(data), ""
    except template.TemplateError as problem:
        return "execute", str(problem), problem.partial


def expected(vector):
    """The same from the vector itself."""
    if "output" in vector:
        return "", vector["output"], ""
    return vector["stage"], vector["error"], vector.get("partial_output", "")
