"""Whether files that somebody else rewrites have other content than before.

A stat is enough to say no (2 microseconds); the content decides on yes, because kubelet also touches what it
leaves as it was. Symbolic links are followed: kubelet swaps a whole directory by one.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

MISSING = b""
"""The digest of a file that cannot be read."""


class _Seen(NamedTuple):
    stat: tuple[int, int, int] | None
    digest: bytes


class Files:
    """These files, as they were when they were added or last accepted."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._seen: dict[Path, _Seen] = {}
        self.add(paths)

    def add(self, paths: Iterable[str]) -> None:
        """Look after these too, as they are now."""
        for path in map(Path, paths):
            self._seen[path] = _Seen(_stat(path), _digest(path))

    def changed(self) -> bool:
        """Whether any file has other content than that."""
        return any(self._has_changed(path, seen) for path, seen in self._seen.items())

    def accept(self) -> None:
        """What the files hold now is the new measure."""
        self.add([str(path) for path in self._seen])

    def _has_changed(self, path: Path, seen: _Seen) -> bool:
        stat = _stat(path)
        if stat == seen.stat:
            return False
        if _digest(path) != seen.digest:
            return True
        self._seen[path] = _Seen(stat, seen.digest)
        return False


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _digest(path: Path) -> bytes:
    try:
        return hashlib.sha256(path.read_bytes()).digest()
    except OSError:
        return MISSING
