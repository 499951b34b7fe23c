"""Where a role's work may be traced: a port that sees what was polled, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from agentjournal.envelope import Recorded
from agentjournal.errors import NotConfigured
from agentjournal.ids import Partition
from agentjournal.settings import Settings
from streams.decide import Input
from streams.partition_fold import Step

Item = TypeVar("Item")
Work = TypeVar("Work")
Finish: TypeAlias = Callable[[Work], Coroutine[Any, Any, None]]
Finishing: TypeAlias = Callable[[Work, Finish[Work]], Coroutine[Any, Any, None]]

# Is told of every poll. What it returns finishes the work that came of it: by `Finish`, once, and
# with the errors that this raises. It decides nothing, and stores nothing of the log.
Traces: TypeAlias = Callable[[Mapping[Partition, Sequence[Item]]], Finishing[Work]]


def untraced(_: Mapping[Partition, Sequence[Any]]) -> Finishing[Any]:
    """Finish all work as it is."""
    return _finished


def _finished(work: Work, finish: Finish[Work]) -> Coroutine[Any, Any, None]:
    return finish(work)


def request_traces(settings: Settings) -> Traces[Input, Mapping[Partition, Step]]:
    """Return what traces requests, if the settings say so. Raises NotConfigured."""
    if not settings.traces:
        return untraced
    _provide()
    from consumers.otel_traces import traced_requests  # noqa: PLC0415 - an extra

    return traced_requests(settings.appends)


def event_traces(settings: Settings) -> Traces[Recorded, Any]:
    """Return what traces events, if the settings say so. Raises NotConfigured."""
    if not settings.traces:
        return untraced
    _provide()
    from consumers.otel_traces import traced_events  # noqa: PLC0415 - an extra

    return traced_events(settings.events)


def _provide() -> None:
    try:
        from consumers.otel_sdk import provide  # noqa: PLC0415 - an extra
    except ImportError as error:
        wanted = "traces of a role need `pip install 'agentjournal-server[otel]'`"
        raise NotConfigured(wanted) from error
    provide()
