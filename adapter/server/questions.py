"""From a request's path and query to a Question: everything that a caller can get wrong is found here."""

from collections.abc import Callable, Mapping

from adapter import errors
from adapter.flows.question import ALL, Question
from adapter.wire import names, selectors, times
from adapter.wire.selectors import Selector

Refusal = Callable[[str], errors.InvalidSelector]


def of_values(parts: Mapping[str, str], query: Mapping[str, str]) -> Question:
    """The question of .../[namespaces/NS/]RESOURCE/NAME/METRIC.

    Raises InvalidPath, InvalidSelector, InvalidMetricSelector.
    """
    namespace = parts.get("namespace")
    if namespace is None and parts["resource"] == "namespaces":
        raise errors.InvalidPath("invalid request path")
    if namespace is not None and parts["resource"] == "metrics":
        # a segment after metrics/METRIC is ignored (docs/upstream.md 6.1)
        return of_namespace({"namespace": namespace, "metric": parts["name"]}, query)
    return Question(
        resource=parts["resource"],
        name=parts["name"],
        metric=parts["metric"],
        namespace=namespace,
        objects=_objects(query),
        series=_series(query),
    )


def of_namespace(parts: Mapping[str, str], query: Mapping[str, str]) -> Question:
    """The question of namespaces/NS/metrics/METRIC: about the namespace itself, which has none of its own."""
    return Question(
        resource="namespaces",
        name=parts["namespace"],
        metric=parts["metric"],
        objects=_objects(query),
        series=_series(query),
    )


def check_names(parts: Mapping[str, str]) -> None:
    """Raises InvalidName for a segment that no Kubernetes name can be (docs/contract.md 1.3).

    Upstream looks at none of them: not called in compat mode.
    """
    for what, segment in parts.items():
        trouble = None if segment == ALL else names.problem(segment, what=what)
        if trouble:
            raise errors.InvalidName(trouble)


def deadline_seconds(query: Mapping[str, str], limit: float) -> float:
    """How long this request may take: `limit`, or the caller's shorter ?timeout=. Raises InvalidTimeout."""
    text = query.get("timeout")
    if not text:
        return limit
    try:
        asked = times.duration(text)
    except ValueError as error:
        raise errors.InvalidTimeout(f"invalid timeout specified in the request URL - {error}") from error
    return min(limit, asked) if asked > 0 else limit


def _objects(query: Mapping[str, str]) -> Selector:
    return _parsed(query.get("labelSelector", ""), errors.InvalidSelector)


def _series(query: Mapping[str, str]) -> Selector:
    return _parsed(query.get("metricLabelSelector", ""), errors.InvalidMetricSelector)


def check_size(query: Mapping[str, str]) -> None:
    """Raises InvalidSelector for one that is larger than any real one. Upstream has no such bound."""
    for key in ("labelSelector", "metricLabelSelector"):
        reason = selectors.too_large(query.get(key, ""))
        if reason:
            raise errors.InvalidSelector(f"{key}: {reason}")


def _parsed(text: str, refusal: Refusal) -> Selector:
    try:
        return selectors.parse(text)
    except selectors.SelectorSyntaxError as error:
        raise refusal(str(error)) from error
