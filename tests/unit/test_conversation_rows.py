"""The read model `conversation`: the rows that a session's events come to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from agentjournal import (
    Cost,
    CustomEvent,
    Event,
    MessageAdded,
    MessageRetracted,
    ModelCalled,
    Part,
    RefusalPart,
    SessionEnded,
    SessionExpired,
    SessionResumed,
    SessionStarted,
    SessionUpdated,
    TextPart,
    ToolCallPart,
    ToolCompleted,
    ToolFailed,
    ToolFailure,
    ToolSettled,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from agentjournal.events import Parent
from agentjournal.ids import Position
from projections.conversation import CONVERSATION
from projections.folding import Place, ProjectionFold
from projections.rows import Row
from tests.support import Stream, request, typed

BEGAN = datetime(2026, 1, 31, 12, tzinfo=UTC)
KEY = ("tenant", "session_id")


def rows_of(*events: Event) -> dict[str, list[Row]]:
    """Return the rows of all tables after these events, a second apart, without what is null."""
    stream = Stream()
    for each in events:
        stream.accept(request(typed(each)._replace(tokens=3)))
    recorded = [r._replace(position=Position(at)) for at, r in enumerate(stream.recorded)]
    fold = ProjectionFold(CONVERSATION)
    fold.places[stream.partition] = Place(Position(0), (-1, -1), "")
    fold.put(fold.missing(recorded), {})
    changes = fold.fold({stream.partition: recorded}).changes
    return {
        table.name: [
            {name: value for name, value in row.items() if value is not None and name not in KEY}
            for row in changes.sorted_rows(table.name)
        ]
        for table in CONVERSATION.tables
    }


def only(table: str, *events: Event) -> Row:
    [row] = rows_of(*events)[table]
    return row


def at(second: int) -> str:
    return (BEGAN + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def asking(*call_ids: str) -> MessageAdded:
    calls = [ToolCallPart(call_id=c, name="refund", arguments_text='{"o":1}') for c in call_ids]
    return MessageAdded(role="assistant", parts=[TextPart(text="wait"), *calls], message_id="m-1")


def tool_started(attempt: int = 1, call_id: str = "c-1") -> ToolStarted:
    return ToolStarted(
        call_id=call_id,
        tool="refund",
        arguments_text='{"o":1}',
        arguments_digest="d",
        effect="external",
        idempotency_key=f"k-{attempt}",
        attempt=attempt,
        lease_s=60.5,
    )


def tool_completed(attempt: int = 1, output: Any = "done") -> ToolCompleted:
    return ToolCompleted(call_id="c-1", attempt=attempt, output=output, duration_ms=12.5)


def tool_failed(attempt: int = 1) -> ToolFailed:
    error = ToolFailure(type="timeout", message="too late\0", retryable=True)
    return ToolFailed(call_id="c-1", attempt=attempt, error=error)


def model_called(**more: Any) -> ModelCalled:
    fields: dict[str, Any] = {
        "model_call_id": "mc-1",
        "provider": "openai",
        "request_model": "gpt",
        "input_tokens": 10,
        "output_tokens": 4,
        "duration_ms": 7,
        "status": "completed",
    }
    return ModelCalled(**{**fields, **more})


def test_a_session_begins_with_whose_it_is() -> None:
    parent = Parent(session_id="s-0", version=4, relation="fork")
    row = only(
        "sessions",
        SessionStarted(user="u-7", agent="support", title="Refund", task_id="t", parent=parent),
    )
    assert row.pop("head_hash")
    assert row == {
        "stream": "session/default/s-1",
        "partition": Stream().partition,
        "user_id": "u-7",
        "agent": "support",
        "title": "Refund",
        "task_id": "t",
        "parent_session_id": "s-0",
        "status": "open",
        "started_at": at(0),
        "last_activity_at": at(0),
        "version": 1,
        "turn_id": "",
    }


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ([SessionEnded(reason="solved")], "ended"),
        ([SessionExpired(idle_s=1)], "expired"),
        ([SessionEnded(reason=None), SessionResumed(worker=None)], "open"),
    ],
)
def test_the_status_follows_the_session(events: list[Event], status: str) -> None:
    assert only("sessions", SessionStarted(agent="a"), *events)["status"] == status


def test_the_title_is_the_last_that_was_given() -> None:
    begun = SessionStarted(agent="a", title="one")
    renamed = [SessionUpdated(title="two"), SessionUpdated(labels={"a": 1})]
    assert only("sessions", begun, *renamed)["title"] == "two"


def test_every_event_moves_the_session_on_whatever_its_type() -> None:
    row = only("sessions", SessionStarted(agent="a"), CustomEvent("custom.x", {"any": 1}))
    assert (row["version"], row["last_activity_at"]) == (2, at(1))


def test_messages_are_rows_with_what_was_said_as_plain_text() -> None:
    parts: list[Part] = [TextPart(text="one\0"), RefusalPart(text="two")]
    said = MessageAdded(role="assistant", parts=parts, message_id="m-1", model_call_id="mc-1")
    found = rows_of(said, MessageAdded(role="user", content="hi", message_id="m-2"))
    assert found["messages"] == [
        {
            "message_id": "m-1",
            "version": 1,
            "role": "assistant",
            "content": "one\u2400\ntwo",
            "tokens": 3,
            "status": "complete",
            "model_call_id": "mc-1",
            "recorded_at": at(0),
        },
        {
            "message_id": "m-2",
            "version": 2,
            "role": "user",
            "content": "hi",
            "tokens": 3,
            "status": "complete",
            "recorded_at": at(1),
        },
    ]
    assert found["sessions"][0]["messages"] == 2


def test_a_retracted_message_stays_as_such() -> None:
    said = MessageAdded(role="user", content="hi", message_id="m-1")
    row = only("messages", said, MessageRetracted(message_id="m-1", reason="typing"))
    assert (row["status"], row["content"], row["version"]) == ("retracted", "hi", 1)


def test_what_a_turn_brings_belongs_to_it() -> None:
    found = rows_of(
        TurnStarted(turn_id="t-1", trigger="user", input_versions=[]),
        asking("c-1"),
        model_called(),
        TurnEnded(turn_id="t-1", reason="waiting", resume_at="2026-02-01T00:00:00Z"),
        MessageAdded(role="user", content="later", message_id="m-2"),
    )
    assert found["turns"] == [
        {
            "turn_id": "t-1",
            "version": 1,
            "trigger": "user",
            "started_at": at(0),
            "reason": "waiting",
            "ended_at": at(3),
            "resume_at": "2026-02-01T00:00:00Z",
        }
    ]
    assert [row.get("turn_id") for row in found["messages"]] == ["t-1", None]
    assert found["tool_calls"][0]["turn_id"] == "t-1"
    assert found["model_calls"][0]["turn_id"] == "t-1"


def test_the_open_turn_is_the_one_that_has_not_ended() -> None:
    one = TurnStarted(turn_id="t-1", trigger="user", input_versions=[])
    two = TurnStarted(turn_id="t-2", trigger="user", input_versions=[])
    assert only("sessions", one)["turn_id"] == "t-1"
    assert only("sessions", one, two)["turn_id"] == "t-2"
    late = TurnEnded(turn_id="t-1", reason="interrupted")
    assert only("sessions", one, two, late)["turn_id"] == "t-2"
    assert only("sessions", one, TurnEnded(turn_id="t-1", reason="completed"))["turn_id"] == ""


def test_a_call_is_there_once_the_model_asks_for_it() -> None:
    asked, other = rows_of(asking("c-1", "c-2"))["tool_calls"]
    assert asked == {
        "call_id": "c-1",
        "version": 1,
        "tool": "refund",
        "arguments_text": '{"o":1}',
        "requested_at": at(0),
    }
    assert other["call_id"] == "c-2"


def test_a_call_goes_from_asked_over_started_to_its_outcome() -> None:
    row = only("tool_calls", asking("c-1"), tool_started(), tool_completed())
    assert row == {
        "call_id": "c-1",
        "version": 1,
        "tool": "refund",
        "arguments_text": '{"o":1}',
        "requested_at": at(0),
        "attempt": 1,
        "effect": "external",
        "idempotency_key": "k-1",
        "started_at": at(1),
        "lease_until": BEGAN + timedelta(seconds=61.5),
        "fence": 0,
        "outcome": "completed",
        "ended_at": at(2),
        "duration_ms": 12.5,
        "output": "done",
    }


def test_a_failure_says_what_failed() -> None:
    row = only("tool_calls", tool_started(), tool_failed())
    assert (row["outcome"], row["error_type"]) == ("failed", "timeout")
    assert row["error_message"] == "too late\u2400"


def test_a_new_attempt_opens_the_call_again() -> None:
    row = only("tool_calls", tool_started(), tool_failed(), tool_started(2))
    assert (row["attempt"], row["idempotency_key"], row["started_at"]) == (2, "k-2", at(2))
    assert not {"outcome", "error_type", "ended_at", "output"} & set(row)
    again = [tool_started(), tool_failed(), tool_started(2), tool_completed(2)]
    assert only("tool_calls", *again)["outcome"] == "completed"


def test_an_outcome_of_an_earlier_attempt_comes_too_late() -> None:
    row = only("tool_calls", tool_started(), tool_started(2), tool_completed(1))
    assert (row["attempt"], "outcome" in row) == (2, False)


def test_the_first_outcome_of_an_attempt_stands() -> None:
    row = only("tool_calls", tool_started(), tool_completed(), tool_failed())
    assert (row["outcome"], "error_type" in row) == ("completed", False)


def test_what_a_verifier_settles_is_the_current_attempt_s() -> None:
    settled = ToolSettled(
        call_id="c-1", outcome="completed", output="was done", settled_by="verifier"
    )
    row = only("tool_calls", tool_started(), tool_started(2), settled)
    assert (row["attempt"], row["outcome"], row["output"]) == (2, "completed", "was done")
    assert only("tool_calls", tool_started(), tool_completed(), settled)["output"] == "done"


def test_a_call_that_was_settled_and_is_tried_again_is_open() -> None:
    error = ToolFailure(type="error", message="not done", retryable=True)
    settled = ToolSettled(call_id="c-1", outcome="failed", error=error, settled_by="verifier")
    row = only("tool_calls", tool_started(), settled, tool_started(2))
    assert (row["attempt"], "outcome" in row, "error_type" in row) == (2, False, False)


def test_output_in_parts_is_shown_as_text() -> None:
    output = [TextPart(text="one"), TextPart(text="two")]
    row = only("tool_calls", tool_started(), tool_completed(output=output))
    assert row["output"] == "one\ntwo"


def test_a_lease_beyond_all_calendars_does_not_pass() -> None:
    endless = tool_started().model_copy(update={"lease_s": 1e18})
    assert "lease_until" not in only("tool_calls", endless)


def test_model_calls_are_rows_and_the_session_adds_them_up() -> None:
    cost = Cost(amount="0.1", currency="EUR", source="provider")
    found = rows_of(
        model_called(cost=cost, response_model="gpt-1", finish_reason="stop"),
        model_called(model_call_id="mc-2", cost=cost, input_tokens=1, output_tokens=2),
        model_called(model_call_id="mc-3", status="failed", input_tokens=0, output_tokens=0),
    )
    assert found["model_calls"][0] == {
        "model_call_id": "mc-1",
        "version": 1,
        "provider": "openai",
        "request_model": "gpt",
        "response_model": "gpt-1",
        "input_tokens": 10,
        "output_tokens": 4,
        "cost": Decimal("0.1"),
        "currency": "EUR",
        "duration_ms": 7,
        "finish_reason": "stop",
        "status": "completed",
        "recorded_at": at(0),
    }
    [session] = found["sessions"]
    assert (session["input_tokens"], session["output_tokens"]) == (11, 6)
    assert session["cost"] == Decimal("0.2")


def test_only_sessions_are_conversations() -> None:
    assert CONVERSATION.kinds == {"session"}
