"""What the sequencer and the projector do with an append, as spans of its own trace.

The parent of each span is the append itself, by the `traceparent` that its events carry: one span
for an append, not one for a poll, so that a trace shows from end to end how long each took. Only of
what is sampled: whoever appends has decided that, and what is not sampled costs next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from itertools import groupby
from time import time_ns
from typing import Any

from opentelemetry.trace import Span, Tracer, TracerProvider

from agentjournal.envelope import Recorded
from agentjournal.ids import Partition
from agentjournal.otel_spans import (
    Message,
    begin,
    note_failure,
    note_versions,
    sampled_in,
    tracer,
)
from agentjournal.receipts import Receipt
from agentjournal.requests import Request, RequestError, decode_request
from consumers.tracing import Finish, Finishing, Traces
from streams.decide import Input, stream_of_key
from streams.partition_fold import Step

_Asked = tuple[str, str, int]  # stream, append id, attempt: what an answer is for

# A `traceparent` whose last bit says that it is sampled, as it stands in a request's header.
_SAMPLED = re.compile(rb'"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f][13579bdf]"')
_SAMPLED_FLAGS = tuple("13579bdf")


def traced_requests(
    topic: str, provider: TracerProvider | None = None
) -> Traces[Input, Mapping[Partition, Step]]:
    """Return what makes a span of every traced request, from its poll to its answer."""
    makes = tracer(provider)

    def polled(inputs: Mapping[Partition, Sequence[Input]]) -> Finishing[Mapping[Partition, Step]]:
        began_ns = time_ns()

        async def finishing(
            steps: Mapping[Partition, Step], emit: Finish[Mapping[Partition, Step]]
        ) -> None:
            spans = dict(_requests(makes, topic, inputs, began_ns))
            _note_outcomes(spans, steps.values())
            await _ended(spans.values(), emit(steps))

        return finishing

    return polled


def traced_events(topic: str, provider: TracerProvider | None = None) -> Traces[Recorded, Any]:
    """Return what makes a span of the events of every traced append, from their poll to rows."""
    makes = tracer(provider)

    def polled(events: Mapping[Partition, Sequence[Recorded]]) -> Finishing[Any]:
        began_ns = time_ns()

        async def finishing(batches: Any, store: Finish[Any]) -> None:
            spans = [
                span
                for recorded in events.values()
                for span in _appends(makes, topic, recorded, began_ns)
            ]
            await _ended(spans, store(batches))

        return finishing

    return polled


async def _ended(spans: Iterable[Span], work: Coroutine[Any, Any, None]) -> None:
    """Do the work that the spans are of."""
    try:
        await work
    except BaseException as error:
        for span in spans:
            note_failure(span, type(error))
        raise
    finally:
        for span in spans:
            span.end()


def _requests(
    makes: Tracer,
    topic: str,
    polled: Mapping[Partition, Sequence[Input]],
    began_ns: int,
) -> Iterable[tuple[_Asked, Span]]:
    for partition, inputs in polled.items():
        for given in inputs:
            request, stream = _request_in(given), stream_of_key(given.key)
            if request is None or stream is None:
                continue
            if (parent := sampled_in(request.events[0].traceparent)) is None:
                continue
            append_id = request.append_id
            message = Message(topic, stream, partition, append_id, given.position)
            span = begin(makes, "sequence", message, parent, began_ns)
            yield (stream, append_id, request.attempt), span


def _request_in(given: Input) -> Request | None:
    value = given.value
    if value is None or _SAMPLED.search(value, 0, max(0, value.find(b"\n"))) is None:
        return None
    try:
        return decode_request(value)
    except RequestError:
        return None  # it is refused, and nobody waits for it


def _note_outcomes(spans: Mapping[_Asked, Span], steps: Iterable[Step]) -> None:
    for step in steps:
        for _, answer in step.answers:
            span = spans.get((answer.stream, answer.append_id, answer.attempt))
            if span is None:
                continue
            if isinstance(outcome := answer.outcome, Receipt):
                span.set_attribute("agentjournal.outcome", _OUTCOMES[outcome.duplicate])
                note_versions(span, outcome.first_version, outcome.last_version)
            else:
                span.set_attribute("agentjournal.outcome", outcome.reason)


_OUTCOMES = {False: "accepted", True: "duplicate"}


def _appends(
    makes: Tracer, topic: str, recorded: Sequence[Recorded], began_ns: int
) -> Iterable[Span]:
    traced = [each for each in recorded if (each.traceparent or "").endswith(_SAMPLED_FLAGS)]
    for _, each in groupby(traced, key=lambda e: e.input_position):
        events = list(each)
        first, last = events[0], events[-1]
        if (parent := sampled_in(first.traceparent)) is None:
            continue
        message = Message(topic, first.stream, first.partition, first.append_id, first.position)
        span = begin(makes, "project", message, parent, began_ns)
        if len(events) > 1:
            span.set_attribute("messaging.batch.message_count", len(events))
        note_versions(span, first.version, last.version)
        yield span
