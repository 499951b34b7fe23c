"""Accepted appends: versions 1, 2, 3 … without a gap, chained, each with its receipt."""

from __future__ import annotations

from itertools import pairwise

import pytest

from agentjournal.codec import decode
from agentjournal.ids import Milliseconds, Position, Version, stream_id
from agentjournal.receipts import Receipt, Refusal
from streams.head import EMPTY, user_digest
from tests.support import BEGAN_MS, RULES, Stream, event, request, said, started


def test_versions_go_on_from_append_to_append_and_form_a_chain() -> None:
    stream = Stream()
    stream.accept(request(said("a"), said("b")))
    stream.accept(request(said("c")))
    stream.accept(request(*[said(str(n)) for n in range(5)]))
    events = stream.recorded
    assert [e.version for e in events] == list(range(1, 9))
    assert events[0].prevhash == "0" * 64
    assert all(after.prevhash == before.hash for before, after in pairwise(events))
    assert [(e.input_position, e.batch_index, e.batch_size) for e in events] == [
        *((0, 0, 2), (0, 1, 2), (1, 0, 1)),
        *((2, n, 5) for n in range(5)),
    ]


def test_a_receipt_says_where_the_events_are() -> None:
    stream = Stream()
    stream.accept(request(said("a")))
    asked = request(said("b"), said("c"))
    place = Position(1), Version(2), Version(3)
    expected = Receipt(stream.stream, stream.partition, *place, False, asked.append_id)
    assert stream.accept(asked) == expected


def test_an_answer_names_the_attempt_and_goes_where_it_was_asked_for() -> None:
    outcome = Stream().ask(request(said("a"), attempt=7, reply_to="over there"))
    assert outcome.answer is not None
    assert (outcome.answer.attempt, outcome.reply_to) == (7, "over there")
    assert Stream().ask(request(said("a"), reply_to=None)).reply_to is None


def test_the_start_goes_first_on_an_empty_stream_and_the_receipt_names_the_callers_events() -> None:
    stream = Stream()
    receipt = stream.accept(request(said("a"), said("b"), start=started("u-7")))
    assert [(e.type, e.start) for e in stream.recorded] == [
        ("session.started", True),
        ("message.added", False),
        ("message.added", False),
    ]
    assert (receipt.first_version, receipt.last_version) == (2, 3)
    assert {e.batch_size for e in stream.recorded} == {3}


def test_the_start_is_left_out_when_the_stream_has_events() -> None:
    stream = Stream()
    stream.accept(request(said("a"), start=started("u-7")))
    receipt = stream.accept(request(said("b"), start=started("u-7")))
    assert (receipt.first_version, receipt.last_version) == (3, 3)
    assert [e.type for e in stream.recorded].count("session.started") == 1


def test_the_start_is_left_out_when_the_caller_starts_the_session() -> None:
    stream = Stream()
    receipt = stream.accept(request(started("u-7"), said("a"), start=started("u-8")))
    assert (receipt.first_version, receipt.last_version) == (1, 2)
    assert [e.start for e in stream.recorded] == [False, False]
    assert decode(stream.recorded[0].raw_data)["user"] == "u-7"


def test_a_session_starts_once() -> None:
    stream = Stream()
    begun = "the session has begun already"
    assert stream.refuse(request(said("a"), started())) == Refusal(
        "rejected", "events[1].type", begun
    )
    stream.accept(request(started()))
    assert stream.refuse(request(started())) == Refusal("rejected", "events[0].type", begun)
    assert stream.refuse(request(said("a"), started())).path == "events[1].type"


def test_a_stream_may_begin_without_a_start() -> None:
    stream = Stream()
    stream.accept(request(said("a")))
    stream.accept(request(said("b"), start=started("u-7")))
    assert [e.type for e in stream.recorded] == ["message.added"] * 2


def test_expected_version_0_means_that_the_stream_must_not_exist() -> None:
    stream = Stream()
    assert stream.accept(request(said("a"), expected_version=0)).first_version == 1
    conflict = Refusal("conflict", version=Version(1))
    assert stream.refuse(request(said("b"), expected_version=0)) == conflict


def test_a_stale_expectation_is_a_conflict_that_says_the_actual_version() -> None:
    stream = Stream()
    stream.accept(request(said("a"), said("b"), start=started()))
    for stale in (1, 2, 4, 2**53):
        refusal = stream.refuse(request(said("c"), expected_version=stale))
        assert (refusal.reason, refusal.version) == ("conflict", 3)
    assert stream.accept(request(said("c"), expected_version=3)).first_version == 4


def test_a_conflict_is_a_letter_that_says_the_actual_version() -> None:
    stream = Stream()
    stream.accept(request(said("a")))
    dead = stream.ask(request(said("b"), expected_version=7)).dead
    assert dead == Refusal("conflict", version=Version(1))
    assert stream.ask(b"rubbish").dead is not None


def test_the_head_says_what_the_stream_has_come_to() -> None:
    stream = Stream()
    one, two = said("a")._replace(tokens=3), said("b")
    begun = started("u-7")
    stream.accept(request(one, two, start=begun), at_ms=BEGAN_MS + 77)
    head = stream.head
    assert head is not None
    last = stream.recorded[-1]
    assert head._replace(appends=b"") == EMPTY._replace(
        version=Version(3),
        hash=last.hash,
        user=user_digest("u-7"),
        last_activity_ms=Milliseconds(BEGAN_MS + 77),
        data_bytes=sum(len(e.data) for e in (begun, one, two)),
        tokens=3,
        started_ms=BEGAN_MS + 77,
    )
    assert last.recorded_at == "2026-01-31T12:00:00.077Z"


@pytest.mark.parametrize(
    ("kind", "event_type", "fields"),
    [
        ("task", "note.set", {"key": "k", "value": 1}),
        ("task", "custom.x", {}),
        ("user", "fact.retracted", {"fact_id": "f", "reason": "r", "by": "b"}),
        ("account", "custom.y", {"any": "thing"}),
    ],
)
def test_streams_that_are_no_sessions_have_versions_too(
    kind: str, event_type: str, fields: dict[str, object]
) -> None:
    stream = Stream(stream_id(kind, "default", "x"))
    assert stream.accept(request(event(event_type, **fields))).first_version == 1
    assert stream.accept(request(event(event_type, **fields))).first_version == 2


def test_attributes_of_the_request_stand_in_every_record_those_of_an_event_in_its_own() -> None:
    stream = Stream()
    traced = said("b")._replace(
        time="2026-01-31T11:59:59Z",
        tokens=5,
        correlationid="c",
        causationid="d",
        traceparent="t",
    )
    asked = request(said("a"), traced, agent="support", worker="w-1")
    stream.accept(asked)
    first, second = stream.recorded
    for found in (first, second):
        assert (found.agent, found.worker, found.source) == ("support", "w-1", "/default/agent")
        assert (found.append_id, found.rules) == (asked.append_id, RULES.number)
    assert (first.time, first.tokens, first.correlation_id) == (None, None, None)
    assert (second.time, second.tokens, second.traceparent) == ("2026-01-31T11:59:59Z", 5, "t")
    assert (second.correlation_id, second.causation_id) == ("c", "d")


def test_no_tokens_and_none_stated_are_not_the_same() -> None:
    stream = Stream()
    stream.accept(request(said("a")._replace(tokens=0)))
    assert stream.recorded[0].tokens == 0
