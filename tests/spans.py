"""Spans that were made, kept in memory for tests to look at."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Sampler


class Spans:
    """A provider of traces, and the spans that ended."""

    def __init__(self, sampler: Sampler | None = None) -> None:
        self.provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
        self._kept = InMemorySpanExporter()
        self.provider.add_span_processor(SimpleSpanProcessor(self._kept))

    def ended(self) -> list[ReadableSpan]:
        """Return what has ended so far, in this order."""
        return list(self._kept.get_finished_spans())


def context_of(span: ReadableSpan) -> tuple[str, str]:
    """Return the ids of a span's trace and of itself, as an envelope has them."""
    context = span.get_span_context()
    assert context is not None
    return f"{context.trace_id:032x}", f"{context.span_id:016x}"


def named_in(traceparent: str | None) -> tuple[str, str]:
    """Return the ids of trace and span in a `traceparent` that says it is recorded."""
    assert traceparent is not None
    version, trace, span, flags = traceparent.split("-")
    assert (version, int(flags, 16) & 1) == ("00", 1)
    return trace, span


def attributes(span: ReadableSpan) -> dict[str, Any]:
    """Return a span's attributes."""
    return dict(span.attributes or {})
