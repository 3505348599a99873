"""The serving pair written to cert_dir: there a replica that starts anew finds it before the API server answers."""

import os
import tempfile
from pathlib import Path

from adapter.server.self_signed import CERT_NAME, KEY_NAME


def write(directory: str, certificate: bytes, key: bytes) -> None:
    """Both files, each in one stroke, for our eyes only. Raises OSError."""
    place = Path(directory)
    place.mkdir(parents=True, exist_ok=True)
    for name, content in ((KEY_NAME, key), (CERT_NAME, certificate)):
        _replace(place / name, content)


def _replace(path: Path, content: bytes) -> None:
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # readable by us only
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
