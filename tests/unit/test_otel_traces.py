"""What roles do with an append, as spans of its trace: whatever stands in `traceparent`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.trace import SpanKind, StatusCode

from agentjournal.envelope import Recorded, parse_record
from agentjournal.ids import Milliseconds, Partition, Position, StreamId
from agentjournal.requests import Request
from consumers.otel_traces import traced_events, traced_requests
from streams.decide import Input
from streams.partition_fold import PartitionFold, Step
from tests.spans import Spans, attributes, context_of
from tests.support import BEGAN_MS, RULES, place_of, request, said, session_in

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
STREAM = session_in(2)
PLACE = place_of(STREAM)


def asked(*texts: str, traceparent: str | None = TRACEPARENT, **fields: Any) -> Request:
    return request(*(said(t)._replace(traceparent=traceparent) for t in texts), **fields)


def inputs(*requests: Request | bytes, stream: StreamId = STREAM) -> list[Input]:
    return [
        Input(
            Position(number),
            Milliseconds(BEGAN_MS),
            stream.encode(),
            each if isinstance(each, bytes) else each.encoded(),
        )
        for number, each in enumerate(requests)
    ]


def folded(given: Sequence[Input]) -> Step:
    fold = PartitionFold(RULES, PLACE, Position(0))
    fold.put(dict.fromkeys(fold.missing(given)))
    return fold.step(given)


async def sequenced(spans: Spans, given: Sequence[Input]) -> list[Step]:
    """Let requests be emitted under `spans`; return what was emitted."""
    emitted: list[Step] = []

    async def emit(steps: Mapping[Partition, Step]) -> None:
        emitted.extend(steps.values())

    finishing = traced_requests("j.appends", spans.provider)({PLACE: given})
    await finishing({PLACE: folded(given)}, emit)
    return emitted


async def test_a_request_is_a_span_of_the_appends_trace_with_what_became_of_it() -> None:
    spans = Spans()
    await sequenced(
        spans,
        inputs(
            asked("a", "b", append_id="once"),
            asked("c", append_id="late", expected_version=7),
            asked("d", traceparent=None),
            asked("e", traceparent=f"00-{TRACE}-{PARENT}-02"),  # not sampled
        ),
    )
    accepted, refused = spans.ended()
    assert (accepted.name, accepted.kind) == ("sequence j.appends", SpanKind.CONSUMER)
    assert context_of(accepted)[0] == TRACE
    assert accepted.parent is not None
    assert f"{accepted.parent.span_id:016x}" == PARENT
    assert attributes(accepted) == {
        "messaging.system": "kafka",
        "messaging.operation.name": "sequence",
        "messaging.operation.type": "process",
        "messaging.destination.name": "j.appends",
        "messaging.destination.partition.id": str(PLACE),
        "messaging.kafka.message.key": STREAM,
        "messaging.message.id": "once",
        "messaging.kafka.offset": 0,
        "agentjournal.outcome": "accepted",
        "agentjournal.version.first": 1,
        "agentjournal.version.last": 2,
    }
    assert attributes(refused)["agentjournal.outcome"] == "conflict"
    assert refused.status.status_code is StatusCode.UNSET, "to refuse is what it is there for"


def recorded(given: Sequence[Input]) -> list[Recorded]:
    records = [record for _, record in folded(given).records]
    return [parse_record(r, PLACE, Position(40 + number)) for number, r in enumerate(records)]


async def stored(spans: Spans, events: Sequence[Recorded], error: Exception | None = None) -> None:
    async def store(batches: str) -> None:
        assert batches == "rows"
        if error is not None:
            raise error

    await traced_events("j.events", spans.provider)({PLACE: events})("rows", store)


async def test_the_events_of_an_append_are_one_span_until_their_rows_are_stored() -> None:
    spans = Spans()
    given = inputs(asked("a", "b", append_id="x"), asked("c", traceparent=None), asked("d"))
    given += inputs(asked("e", traceparent=f"00-{TRACE}-{PARENT}-00"))  # not sampled
    await stored(spans, recorded(given))
    both, alone = spans.ended()
    assert (both.name, both.kind) == ("project j.events", SpanKind.CONSUMER)
    assert context_of(both)[0] == TRACE
    assert attributes(both) == {
        "messaging.system": "kafka",
        "messaging.operation.name": "project",
        "messaging.operation.type": "process",
        "messaging.destination.name": "j.events",
        "messaging.destination.partition.id": str(PLACE),
        "messaging.kafka.message.key": STREAM,
        "messaging.message.id": "x",
        "messaging.batch.message_count": 2,
        "messaging.kafka.offset": 40,
        "agentjournal.version.first": 1,
        "agentjournal.version.last": 2,
    }
    assert attributes(alone)["messaging.kafka.offset"] == 43


async def test_an_error_is_passed_on_and_noted_by_its_class_alone() -> None:
    spans = Spans()
    with pytest.raises(ValueError, match="hidden"):
        await stored(spans, recorded(inputs(asked("a"))), ValueError("hidden"))
    (span,) = spans.ended()
    assert attributes(span)["error.type"] == "ValueError"
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert span.events == ()


# What a foreign client may write: close to right, and far from it.
hostile = st.one_of(
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=200),
    st.sampled_from(
        [
            f"00-{'0' * 32}-{PARENT}-01",
            f"00-{TRACE}-{'0' * 16}-01",
            f"ff-{TRACE}-{PARENT}-01",
            f"00-{TRACE}-{PARENT}-01-more",
            f"00-{TRACE.upper()}-{PARENT}-01",
            f"00-{TRACE}-{PARENT}",
            "00-",
            '00-","',
        ]
    ),
)


@given(st.lists(hostile, min_size=1, max_size=4), st.binary(max_size=40))
async def test_whatever_stands_there_the_work_is_done(texts: list[str], rubbish: bytes) -> None:
    spans = Spans()
    given = inputs(*(asked("a", traceparent=text) for text in texts), rubbish, b'"00-' + rubbish)
    emitted = await sequenced(spans, given)
    await stored(spans, recorded(given))
    assert [step.records for step in emitted] == [folded(given).records]
    assert spans.ended() == []
