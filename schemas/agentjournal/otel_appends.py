"""Appends as spans of OpenTelemetry: each lasts from the call to its outcome.

The context of the span goes along as `traceparent` of every event, so that what the roles do with
them is part of the same trace. Nothing else of a request is touched, and nothing is decided here.
"""

from __future__ import annotations

from collections import defaultdict

from opentelemetry.trace import Span, TracerProvider

from agentjournal.errors import AppendOutcomeUnknown
from agentjournal.ids import StreamId
from agentjournal.otel_spans import (
    Message,
    begin,
    note_failure,
    note_versions,
    traceparent_of,
    tracer,
)
from agentjournal.partitions import partition_of
from agentjournal.pending import Pending
from agentjournal.ports import Appends
from agentjournal.receipts import Receipt
from agentjournal.requests import MAX_REQUEST_BYTES, NewEvent, Request

_ADDED = len(',"traceparent":""') + 55  # bytes of a record
_FRAMING = 1_000  # what else a record takes at most, besides the texts that callers give
_MAX_RECORDS_BYTES = 1_900_000  # of one append, as the rules have it


class TracedAppends:
    """Passes appends on, and makes a span of each."""

    def __init__(
        self, appends: Appends, topic: str, provider: TracerProvider | None = None
    ) -> None:
        """`provider` is the one to use in place of the program's own."""
        self._appends, self._topic = appends, topic
        self._tracer = tracer(provider)
        self._open: defaultdict[Pending, list[Span]] = defaultdict(list)

    @property
    def reply_to(self) -> str:
        return self._appends.reply_to

    async def submit(self, stream: StreamId, request: Request, timeout_s: float) -> Pending:
        """Put an append on its way. Raises what the appends below raise."""
        span = self._begun(stream, request)
        try:
            traceparent = traceparent_of(span)
            if traceparent is not None:
                request = carrying(stream, request, traceparent)
            pending = await self._appends.submit(stream, request, timeout_s)
        except BaseException as error:
            note_failure(span, type(error))
            span.end()
            raise
        if pending not in self._open:
            pending.outcome.add_done_callback(lambda _: self._ended(pending))
        self._open[pending].append(span)  # of two calls for the same append each has its own
        return pending

    async def receipt(self, pending: Pending, timeout_s: float) -> Receipt:
        """Wait for the outcome. Raises what the appends below raise."""
        try:
            return await self._appends.receipt(pending, timeout_s)
        except AppendOutcomeUnknown as error:
            self._given_up(pending, type(error))
            raise

    async def handed_over(self, pending: Pending, timeout_s: float) -> None:
        """Return once the log has the request. Raises what the appends below raise."""
        await self._appends.handed_over(pending, timeout_s)

    async def close(self) -> None:
        """Close the appends below; a span without an outcome ends without one."""
        await self._appends.close()
        for pending in list(self._open):
            self._given_up(pending, AppendOutcomeUnknown)

    def _begun(self, stream: StreamId, request: Request) -> Span:
        partition = partition_of(stream.encode())
        message = Message(self._topic, stream, partition, request.append_id)
        span = begin(self._tracer, "append", message)
        if len(request.events) > 1:
            span.set_attribute("messaging.batch.message_count", len(request.events))
        return span

    def _ended(self, pending: Pending) -> None:
        outcome = pending.outcome
        error = None if outcome.cancelled() else outcome.exception()
        if outcome.cancelled() or error is not None:
            self._given_up(pending, AppendOutcomeUnknown if error is None else type(error))
            return
        receipt = outcome.result()
        for span in self._open.pop(pending, ()):
            span.set_attribute("messaging.kafka.offset", receipt.position)
            span.set_attribute("agentjournal.outcome", _OUTCOMES[receipt.duplicate])
            note_versions(span, receipt.first_version, receipt.last_version)
            span.end()

    def _given_up(self, pending: Pending, error: type[BaseException]) -> None:
        for span in self._open.pop(pending, ()):
            note_failure(span, error)
            span.end()


_OUTCOMES = {False: "accepted", True: "duplicate"}


def carrying(stream: StreamId, request: Request, traceparent: str) -> Request:
    """Return the request with `traceparent` in every event that has none.

    Unless it could become too large for the log by that: tracing decides nothing.
    """
    carried = request._replace(
        events=[_carrying(event, traceparent) for event in request.events],
        start=None if request.start is None else _carrying(request.start, traceparent),
    )
    is_small = _largest(stream, request) + _ADDED * (len(request.events) + 1) <= _MAX_RECORDS_BYTES
    return carried if is_small and len(carried.encoded()) <= MAX_REQUEST_BYTES else request


def _carrying(event: NewEvent, traceparent: str) -> NewEvent:
    return event if event.traceparent is not None else event._replace(traceparent=traceparent)


def _largest(stream: StreamId, request: Request) -> int:
    """Return a size that the records of a request certainly do not exceed."""
    events = [*request.events, *([] if request.start is None else [request.start])]
    in_each = (stream, stream, request.source, request.append_id, request.agent, request.worker)
    in_some = (text for e in events for text in (e.type, e.correlationid, e.causationid))
    return (
        sum(len(event.data) for event in events)
        + len(events) * (_FRAMING + sum(map(_written, in_each)))
        + sum(map(_written, in_some))
    )


def _written(text: str | None) -> int:
    return 0 if text is None else 2 * len(text.encode())  # a quote or backslash takes two
