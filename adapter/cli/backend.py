"""Questions that commands ask a Prometheus, one after the other; the server has a client of its own."""

import datetime
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import requests
from prometheus_api_client import PrometheusConnect
from prometheus_api_client.exceptions import PrometheusApiClientException
from urllib3.util.retry import Retry

TIMEOUT_SECONDS = 30
"""The library has none by default, and would wait for ever."""

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


class Backend:
    """A Prometheus-compatible server. Its retries are off: a person waits, and can type the command again."""

    def __init__(self, secret_url: str, headers: Iterable[tuple[str, str]] = ()) -> None:
        """Of equal header names the last one counts."""
        self._connection = PrometheusConnect(
            url=secret_url, headers=dict(headers), retry=Retry(0), timeout=TIMEOUT_SECONDS
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
