"""What the benches of memory share: what the kernel counts, and whether it grows."""

import gc
import pathlib
import statistics
from collections.abc import Sequence


def resident_mib(pid: int | str = "self") -> float:
    """What a process holds; of this one, after the garbage collector's work."""
    if pid == "self":
        gc.collect()
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS")) / 1024


def open_files(pid: int) -> int:
    """Its file descriptors, sockets included."""
    return len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir()))


def slope(times: Sequence[float], values: Sequence[float]) -> float:
    """By how much the values grow per unit of time: the line that fits them best."""
    return statistics.linear_regression(times, values).slope
