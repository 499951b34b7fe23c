"""What traces cost: the pure step function, and the spans of its requests beside it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from agentjournal.ids import Partition, StreamId
from agentjournal.outgoing import outgoing
from agentjournal.settings import Settings
from benchmarks.load import Record, message, request_of
from benchmarks.pairs import cost_percent
from benchmarks.stepping import PARTITION, inputs, new_fold, polls, session_streams, stepped
from consumers.tracing import Traces, untraced
from streams.decide import Input
from streams.partition_fold import Step

A_SESSION = 100  # requests
SAMPLED, NOT_SAMPLED = "01", "00"

Steps = Mapping[Partition, Step]


async def tracing_cost(settings: Settings) -> Mapping[str, tuple[float, str]]:
    """Fold requests of one message each: traced all, one in a hundred, or not at all."""
    del settings  # nothing is asked of the servers
    traces = _exported_nowhere()
    all_of_them, one_in_100, none = _given(1), _given(100), _given(None)

    def cost(given: list[Input]) -> float:
        return cost_percent(partial(_work, given, untraced), partial(_work, given, traces))

    return {
        "tracing.cost.none": (cost(none), "%"),
        "tracing.cost.1_in_100": (cost(one_in_100), "%"),
        "tracing.cost.all": (cost(all_of_them), "%"),
    }


def _exported_nowhere() -> Traces[Input, Steps]:
    # The SDK is an extra: only who asks for this row needs it.
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import (  # noqa: PLC0415
        BatchSpanProcessor,
        SpanExporter,
        SpanExportResult,
    )

    from consumers.otel_traces import traced_requests  # noqa: PLC0415

    class Nowhere(SpanExporter):
        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            del spans
            return SpanExportResult.SUCCESS

    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(Nowhere(), max_queue_size=100_000))
    return traced_requests("bench.appends", provider)


def _given(one_in: int | None) -> list[Input]:
    """Return requests, one in so many of them sampled; None: none carries a trace."""
    streams = session_streams() * A_SESSION
    return inputs(
        [
            _request(stream, None if one_in is None else not at % one_in)
            for at, stream in enumerate(streams)
        ]
    )


def _request(stream: StreamId, is_sampled: bool | None) -> Record:
    [event] = outgoing("session", message(), None)
    if is_sampled is not None:
        flags = SAMPLED if is_sampled else NOT_SAMPLED
        trace = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-{flags}"
        event = event._replace(traceparent=trace)
    return request_of(stream, [event])


def _work(given: list[Input], traces: Traces[Input, Steps]) -> None:
    fold = new_fold()

    async def emit(steps: Steps) -> None:
        del steps

    for some in polls(given):
        finishing = traces({PARTITION: some})
        _run(finishing({PARTITION: stepped(fold, some)}, emit))


def _run(work: Any) -> None:
    """Run a coroutine that waits for nothing."""
    try:
        work.send(None)
    except StopIteration:
        return
    raise RuntimeError("it waits")
