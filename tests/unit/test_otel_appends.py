"""Appends as spans: one each, to its outcome; its context in every event; nothing else changes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import NoOpTracerProvider, SpanKind, StatusCode, TracerProvider

import agentjournal as aj
from agentjournal.codec import encode
from agentjournal.envelope import parse_record
from agentjournal.ids import Milliseconds, Position, StreamId
from agentjournal.otel_appends import TracedAppends, carrying
from agentjournal.requests import MAX_REQUEST_BYTES, NewEvent, Request
from agentjournal.servers import appender_of
from agentjournal.settings import Settings
from agentjournal.testing import MemoryLog, memory_log
from local.roles import python_path
from streams.decide import Input, decide
from tests.servers import inside
from tests.spans import Spans, attributes, context_of, named_in
from tests.support import BEGAN_MS, RULES, message, place_of, request, session_in, started

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def traced(log: MemoryLog, provider: TracerProvider) -> aj.Log:
    """Return a client of the same log whose appends are traced."""
    servers = inside(log)
    appends = TracedAppends(servers.appender, "j.appends", provider)
    return aj.Log(log.settings, servers=replace(servers, appender=appends))


async def traceparents(log: aj.Log) -> list[str | None]:
    return [recorded.traceparent async for recorded in log.session("s").events()]


async def test_an_append_is_one_span_and_each_of_its_events_names_it() -> None:
    spans, log = Spans(), memory_log()
    session = traced(log, spans.provider).session("s")
    receipt = await session.append([message("a"), message("b")], append_id="once")
    (span,) = spans.ended()
    assert (span.name, span.kind, span.parent) == ("append j.appends", SpanKind.PRODUCER, None)
    assert attributes(span) == {
        "messaging.system": "kafka",
        "messaging.operation.name": "append",
        "messaging.operation.type": "send",
        "messaging.destination.name": "j.appends",
        "messaging.destination.partition.id": str(receipt.partition),
        "messaging.kafka.message.key": "session/default/s",
        "messaging.message.id": "once",
        "messaging.batch.message_count": 2,
        "messaging.kafka.offset": receipt.position,
        "agentjournal.outcome": "accepted",
        "agentjournal.version.first": 2,
        "agentjournal.version.last": 3,
    }
    named = [named_in(each) for each in await traceparents(log)]
    assert named == [context_of(span)] * 3, "that of the start is not there"


async def test_the_callers_current_span_is_the_parent() -> None:
    spans = Spans()
    session = traced(memory_log(), spans.provider).session("s")
    with spans.provider.get_tracer("caller").start_as_current_span("turn"):
        pending = await session.enqueue(message("a"))
        await session.append(message("b"))
    await session.append(message("c"))
    await pending.receipt()
    first, second, caller, alone = spans.ended()
    assert caller.context is not None
    for span in (first, second):
        assert span.parent is not None
        assert span.parent.span_id == caller.context.span_id
    assert alone.parent is None


def test_without_asyncio_the_callers_current_span_is_the_parent_too() -> None:
    spans = Spans()
    with (
        aj.sync.log_of(traced(memory_log(), spans.provider)) as log,
        spans.provider.get_tracer("caller").start_as_current_span("turn"),
    ):
        log.session("s").append(message("a"))
    span, caller = spans.ended()
    assert span.parent is not None
    assert caller.context is not None
    assert span.parent.span_id == caller.context.span_id


async def test_a_refusal_is_an_error_by_its_class_and_quotes_nothing() -> None:
    spans = Spans()
    session = traced(memory_log(), spans.provider).session("s")
    with pytest.raises(aj.VersionConflict):
        await session.append(message("a"), expected_version=7)
    (span,) = spans.ended()
    assert attributes(span)["error.type"] == "VersionConflict"
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert span.events == ()


async def test_a_repeat_is_a_duplicate_and_the_log_keeps_the_first_trace() -> None:
    spans, log = Spans(), memory_log()
    session = traced(log, spans.provider).session("s")
    await session.append(message("a"), append_id="once")
    await session.append(message("a"), append_id="once")
    first, second = spans.ended()
    assert attributes(second)["agentjournal.outcome"] == "duplicate"
    assert [named_in(each) for each in await traceparents(log)] == [context_of(first)] * 2


async def test_an_append_that_nobody_answers_ends_as_unknown_once() -> None:
    spans, log = Spans(), memory_log()
    client = traced(log, spans.provider)
    session = client.session("s")
    log.cut()
    with pytest.raises((aj.AppendOutcomeUnknown, aj.Unavailable)):
        await session.append(message("a"), timeout_s=0)
    waiting = asyncio.create_task(session.append(message("b"), timeout_s=60))
    await asyncio.sleep(0)
    await client.close()
    with pytest.raises((aj.AppendOutcomeUnknown, aj.Unavailable)):
        await waiting
    failed = [attributes(span)["error.type"] for span in spans.ended()]
    assert len(failed) == 2
    assert set(failed) <= {"AppendOutcomeUnknown", "Unavailable"}


async def test_what_is_not_sampled_is_named_as_such_and_without_an_sdk_nothing_is() -> None:
    log = memory_log()
    await traced(log, Spans(ALWAYS_OFF).provider).session("s").append(message("a"))
    first, second = await traceparents(log)
    assert first == second
    assert first is not None
    assert int(first[-2:], 16) & 1 == 0
    log = memory_log()
    await traced(log, NoOpTracerProvider()).session("s").append(message("a"))
    assert await traceparents(log) == [None, None]


NOWHERE = Settings("127.0.0.1:1", "postgresql://127.0.0.1:1/x", "redis://127.0.0.1:1")


def test_traces_are_off_unless_they_are_asked_for() -> None:
    assert not isinstance(appender_of(NOWHERE), TracedAppends)
    assert isinstance(appender_of(replace(NOWHERE, traces=True)), TracedAppends)


def test_traces_that_are_asked_for_need_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agentjournal.otel_appends", None)
    with pytest.raises(aj.NotConfigured, match=r"pip install 'agentjournal\[otel\]'"):
        appender_of(replace(NOWHERE, traces=True))


WITHOUT = """
import sys
sys.modules["opentelemetry"] = None
import agentjournal.servers, consumers.sequencer
from consumers.tracing import event_traces, request_traces, untraced
settings = agentjournal.settings.Settings("k:1", "postgresql://p", "redis://r")
agentjournal.servers.servers_of(settings)
assert request_traces(settings) is event_traces(settings) is untraced
assert not [n for n in sys.modules if n.startswith(("agentjournal.otel", "consumers.otel"))]
"""


def test_without_traces_opentelemetry_is_not_needed() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT], check=True, env={"PYTHONPATH": python_path()})


def folded(stream: StreamId, asked: Request) -> tuple[list[dict[str, Any]], object]:
    """Return what the log takes of a request, but for its trace, and the answer."""
    given = Input(Position(7), Milliseconds(BEGAN_MS), stream.encode(), asked.encoded())
    outcome = decide(RULES, place_of(stream), given, None)
    kept = [parse_record(record)._asdict() for record in outcome.records]
    for event in kept:
        del event["traceparent"], event["hash"], event["prevhash"]
    return kept, outcome.answer


def sized(count: int, size: int) -> list[NewEvent]:
    data = encode({"text": "x" * size})
    return [NewEvent(f"{number:036}", "custom.x", data) for number in range(count)]


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """Requests of all sizes, many of them about as large as the log takes."""
    count = draw(st.sampled_from([1, 2, 30, 999, 1_000]))
    total = draw(st.one_of(st.integers(0, 900_000), st.integers(870_000, 900_000)))
    text = draw(st.sampled_from(["a", '"\\' * 100, "é" * 200, "agent" * 60]))
    return request(
        *sized(count, max(1, total // count - draw(st.integers(20, 260)))),
        agent=draw(st.none() | st.just(text)),
        source=f"/default/{text}",
        start=draw(st.sampled_from([None, started("u-7")])),
    )


@settings(max_examples=12)
@given(requests())
def test_what_the_log_takes_is_the_same_with_a_trace_and_without(asked: Request) -> None:
    stream = session_in(2)
    carried = carrying(stream, asked, TRACEPARENT)
    assert folded(stream, carried) == folded(stream, asked)
    assert len(carried.encoded()) <= max(MAX_REQUEST_BYTES, len(asked.encoded()))
    named = {event.traceparent for event in carried.events}
    assert len(named) == 1


def test_batches_of_all_usual_sizes_carry_a_trace() -> None:
    for count, size in [(1, 10), (1, 800_000), (100, 5_000), (1_000, 400)]:
        asked = request(*sized(count, size), agent="support", start=started("u-7"))
        carried = carrying(session_in(2), asked, TRACEPARENT)
        assert {event.traceparent for event in carried.events} == {TRACEPARENT}
        assert carried.start is not None
        assert carried.start.traceparent == TRACEPARENT


def test_a_trace_that_an_event_has_already_is_kept() -> None:
    asked = request(sized(1, 1)[0]._replace(traceparent="another"))
    assert carrying(session_in(2), asked, TRACEPARENT).events[0].traceparent == "another"


def test_the_size_that_records_may_have_is_that_of_the_rules() -> None:
    from agentjournal import otel_appends  # noqa: PLC0415 - what it keeps to itself

    assert vars(otel_appends)["_MAX_RECORDS_BYTES"] == RULES.max_records_bytes
