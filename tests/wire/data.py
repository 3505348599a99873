"""The recorded data that the tests of this room compare with."""

import json
from pathlib import Path

import yaml

HERE = Path(__file__).parent.parent


def vectors(name, *, as_text=False):
    """One file of tests/data; `as_text` leaves every scalar as it is written."""
    text = (HERE / "data" / f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.load(text, Loader=yaml.BaseLoader if as_text else yaml.SafeLoader)


def golden(name):
    """One recorded exchange of tests/golden."""
    return json.loads((HERE / "golden" / f"{name}.json").read_text(encoding="utf-8"))


def body_bytes(exchange):
    """The body of a recorded exchange as it was on the wire: compact, members in order, a line feed at the end."""
    sent = json.dumps(exchange["body"], separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    length = dict(exchange["headers"]).get("Content-Length")
    assert length is None or int(length) == len(sent)
    return sent
