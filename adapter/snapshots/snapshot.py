"""A snapshot: the values of one query at one time."""

from dataclasses import dataclass

from adapter.promql.vector import Result


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A backend's answer. `at`: monotonic seconds of its arrival."""

    result: Result
    at: float
