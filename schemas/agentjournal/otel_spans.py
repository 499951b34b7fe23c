"""What spans of OpenTelemetry look like here: names, attributes, and the way into an envelope.

They follow the semantic conventions for messaging, as of the schema that `SCHEMA` names. A span
carries ids and numbers, never what an event says: of an error its class alone, since messages may
quote values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from agentjournal.ids import Partition, Position, StreamId

SCHEMA = "https://opentelemetry.io/schemas/1.44.0"
_W3C = TraceContextTextMapPropagator()
_NAME = "traceparent"

# How an append is called on its way, and what a messaging system calls that.
Operation = Literal["append", "sequence", "project"]
_TYPES: Mapping[Operation, str] = {"append": "send", "sequence": "process", "project": "process"}


def tracer(provider: TracerProvider | None = None) -> Tracer:
    """Return what makes our spans: of the program's own provider, unless another is given."""
    return trace.get_tracer("agentjournal", tracer_provider=provider, schema_url=SCHEMA)


@dataclass(frozen=True, slots=True)
class Message:
    """What a span is about: one append, as a message in a topic."""

    topic: str
    stream: StreamId
    partition: Partition
    append_id: str
    position: Position | None = None  # where it is known already


def begin(
    tracer: Tracer,
    operation: Operation,
    message: Message,
    parent: Context | None = None,
    start_ns: int | None = None,
) -> Span:
    """Begin a span; its parent is the caller's current one unless another is given."""
    attributes: dict[str, str | int] = {
        "messaging.system": "kafka",
        "messaging.operation.name": operation,
        "messaging.operation.type": _TYPES[operation],
        "messaging.destination.name": message.topic,
        "messaging.destination.partition.id": str(message.partition),
        "messaging.kafka.message.key": message.stream,
        "messaging.message.id": message.append_id,
    }
    if message.position is not None:
        attributes["messaging.kafka.offset"] = message.position
    kind = SpanKind.PRODUCER if operation == "append" else SpanKind.CONSUMER
    name = f"{operation} {message.topic}"
    return tracer.start_span(
        name, context=parent, kind=kind, attributes=attributes, start_time=start_ns
    )


def note_versions(span: Span, first: int, last: int) -> None:
    """Say which versions of its stream an append has become."""
    span.set_attribute("agentjournal.version.first", first)
    span.set_attribute("agentjournal.version.last", last)


def note_failure(span: Span, error: type[BaseException]) -> None:
    """Say that it failed, and by which class of error."""
    span.set_attribute("error.type", error.__name__)
    span.set_status(StatusCode.ERROR)


def traceparent_of(span: Span) -> str | None:
    """Return what stands in the envelope of whatever follows from a span, None for no trace."""
    carrier: dict[str, str] = {}
    _W3C.inject(carrier, trace.set_span_in_context(span, Context()))
    return carrier.get(_NAME)


def sampled_in(traceparent: str | None) -> Context | None:
    """Return the context that an envelope names, None when it names none, or one not sampled.

    Anybody may write anything there.
    """
    if traceparent is None:
        return None
    found = _W3C.extract({_NAME: traceparent}, Context())
    context = trace.get_current_span(found).get_span_context()
    return found if context.is_valid and context.trace_flags.sampled else None
