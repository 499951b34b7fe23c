"""The read model `conversation`: the rows that a session's events come to."""

from __future__ import annotations

from decimal import Decimal

import pytest

from agentjournal import (
    Cost,
    CustomEvent,
    Event,
    MessageAdded,
    MessageRetracted,
    Part,
    RefusalPart,
    SessionEnded,
    SessionExpired,
    SessionResumed,
    SessionStarted,
    SessionUpdated,
    TextPart,
    TurnEnded,
    TurnStarted,
)
from agentjournal.events import Parent
from projections.conversation import CONVERSATION
from tests.support import Stream
from tests.unit.conversation_events import (
    asking,
    at,
    model_called,
    only,
    rows_of,
)


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
