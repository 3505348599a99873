"""Questions that commands ask a Prometheus, one after the other; the server has a client of its own."""

import datetime
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import requests
from prometheus_api_client import PrometheusConnect
from prometheus_api_client.exceptions import PrometheusApiClientException
from urllib3.util.retry import Retry

from adapter.rulebook.model import Rule
from adapter.settings import OWN_HEADERS

TIMEOUT_SECONDS = 30
"""The library has none by default, and would wait for ever."""

SHOWN_NAMES = 5
"""How many metric names a rule's line shows: enough to see the pattern."""

NO_LISTING = "what the backend answers is no listing of series: is --prometheus-url that of a Prometheus API?"

_NOT_A_LISTING = (requests.JSONDecodeError, RecursionError, KeyError, TypeError)
"""What the library raises on other answers with status 200: it takes the JSON's ["data"] without looking."""


class BackendError(Exception):
    """The backend gave no list; the text says why."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one seriesQuery finds: how many series, and the labels of each series name."""

    count: int
    labels: dict[str, set[str]]


class _Direct(requests.Session):
    """The backend that was named, as in the server: no proxy of the environment, and no redirect to another one."""

    def __init__(self) -> None:
        super().__init__()
        self.max_redirects = 0

    def merge_environment_settings(self, *given: Any) -> dict[str, Any]:
        """Of the environment's only the CA bundle."""
        return {**super().merge_environment_settings(*given), "proxies": {}}


class Backend:
    """A Prometheus-compatible server. Its retries are off: a person waits, and can type the command again."""

    def __init__(self, secret_url: str, headers: Iterable[tuple[str, str]] = ()) -> None:
        """Of equal header names the last one counts; those of the transport are its own, as in the server."""
        own = {one.lower() for one in OWN_HEADERS}
        sent = {name: value for name, value in headers if name.lower() not in own}
        self._connection = PrometheusConnect(
            url=secret_url, headers=sent, retry=Retry(0), timeout=TIMEOUT_SECONDS, session=_Direct()
        )

    def found(self, match: str, *, max_age: datetime.timedelta) -> Found:
        """The series of one selector within `max_age`. Raises BackendError."""
        end = datetime.datetime.now(datetime.UTC)
        try:
            series = self._connection.get_series(start=end - max_age, end=end, params={"match[]": match})
        except PrometheusApiClientException as error:
            raise BackendError(f"the backend refuses the seriesQuery: {error}") from error
        except _NOT_A_LISTING as error:
            raise BackendError(NO_LISTING) from error
        except requests.RequestException as error:
            raise BackendError(f"the backend cannot be asked: {type(error).__name__}") from error
        return _counted(series)


def _counted(series: object) -> Found:
    """What is found in a listing, which may be anything that JSON can say."""
    if not isinstance(series, list) or not all(isinstance(one, dict) for one in series):
        raise BackendError(NO_LISTING)
    labels: dict[str, set[str]] = defaultdict(set)
    for one in series:
        labels[str(one.get("__name__", ""))] |= one.keys() - {"__name__"}
    return Found(len(series), dict(labels))


def judge(asked: Backend, rule: Rule, max_age: datetime.timedelta) -> tuple[bool, str]:
    """(whether the rule offers something, a line that says what, or why not)."""
    try:
        series = asked.found(rule.series_query, max_age=max_age)
    except BackendError as error:
        return False, f"{rule.id}: {error}"
    if not series.count:
        return False, f"{rule.id}: no series matches {rule.series_query}"
    offered = {metric for name in series.labels if (metric := rule.metric_name(name)) is not None}
    if not offered:
        return False, f"{rule.id}: {series.count} series, but the filters and name.matches keep none of them"
    seen = set().union(*series.labels.values())
    missing = [one.label for one in rule.mapping.overrides if one.label not in seen]
    if missing:
        words = f"label {', '.join(missing)} occurs on none of {series.count} series; seen: {', '.join(sorted(seen))}"
        return False, f"{rule.id}: {words}"
    return True, f"{rule.id}: {series.count} series, offered as {_some(sorted(offered))}"


def _some(names: list[str]) -> str:
    rest = len(names) - SHOWN_NAMES
    return ", ".join(names[:SHOWN_NAMES]) + (f" and {rest} more" if rest > 0 else "")
