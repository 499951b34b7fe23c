"""Statements of a session: what was said, called, or got back, and nothing else."""

from __future__ import annotations

from agentjournal.events import (
    ConversationRewound,
    MemoryRecalled,
    MessageAdded,
    MessageRetracted,
    NoteSet,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolFailed,
    ToolFailure,
    ToolSettled,
)
from agentjournal.memory.statements import MAX_TOOL_TEXT, statements_of
from tests.unit.said_events import SAID_AT, called, came_back, recorded, session, user


def test_messages_and_calls_are_statements_with_their_place() -> None:
    made = statements_of(
        session(user("Hello"), called("refund", '{"order_id": "A-1"}'), came_back('{"ok": true}'))
    )

    assert [(each.role, each.source, each.text) for each in made] == [
        ("user", "message", "Hello"),
        ("assistant", "arguments", '{"order_id": "A-1"}'),
        ("tool", "result", '{"ok": true}'),
    ]
    assert [(each.event_id, each.version, each.at) for each in made] == [
        ("e1", 1, SAID_AT),
        ("e2", 2, SAID_AT),
        ("e3", 3, SAID_AT),
    ]
    assert made[1].value == {"order_id": "A-1"}
    assert [each.outcome for each in made] == [None, "completed", "completed"]


def test_notes_recalled_facts_and_reasoning_say_nothing() -> None:
    thought = MessageAdded(
        role="assistant",
        parts=[ReasoningPart(text="the user lives in Rome", provider="p"), TextPart(text="Ok")],
    )

    made = statements_of(
        session(
            NoteSet(key="city", value="Rome"),
            MemoryRecalled(query="city", fact_ids=["f1"], tokens=9),
            thought,
        )
    )

    assert [each.text for each in made] == ["Ok"]


def test_a_retracted_message_says_nothing() -> None:
    message = user("I live in Rome")

    assert (
        statements_of(
            session(message, MessageRetracted(message_id=message.message_id, reason="typo"))
        )
        == []
    )


def test_what_was_rewound_says_nothing_but_what_a_tool_did_stays_done() -> None:
    made = statements_of(
        session(
            user("one"),
            user("two"),
            called("refund", "{}"),
            came_back("done"),
            ConversationRewound(to_version=1, reason="edit"),
            user("three"),
        )
    )

    assert [each.text for each in made] == ["one", "{}", "done", "three"]


def test_an_imported_event_was_said_when_its_source_says() -> None:
    then = "2020-05-01T08:00:00Z"
    imported = recorded(1, user("Hello"), source="/acme/import", time=then)
    live = recorded(2, user("Hello"), time=then)

    assert [each.at for each in statements_of([imported, live])] == [then, SAID_AT]


def test_a_call_that_nobody_started_is_taken_from_the_message() -> None:
    asked = MessageAdded(
        role="assistant", parts=[ToolCallPart(call_id="c1", name="refund", arguments_text="{}")]
    )

    made = statements_of(session(asked, came_back("done")))

    assert [(each.source, each.tool, each.effect) for each in made] == [
        ("arguments", "refund", None),
        ("result", "refund", None),
    ]


def test_a_call_that_was_asked_for_and_started_is_one_statement() -> None:
    asked = MessageAdded(
        role="assistant", parts=[ToolCallPart(call_id="c1", name="refund", arguments_text="{}")]
    )

    made = statements_of(session(asked, called("refund", "{}")))

    assert [(each.version, each.effect) for each in made] == [(2, "external")]


def test_of_a_call_the_first_outcome_counts() -> None:
    failure = ToolFailure(type="error", message="no", retryable=False)

    made = statements_of(
        session(
            called("refund", "{}"),
            ToolFailed(call_id="c1", error=failure),
            came_back("done"),
        )
    )

    assert [(each.text, each.outcome) for each in made] == [("{}", "failed"), ("no", "failed")]


def test_a_settled_call_has_its_outcome() -> None:
    made = statements_of(
        session(
            called("refund", "{}"),
            ToolSettled(call_id="c1", outcome="completed", output="done", settled_by="person"),
        )
    )

    assert [each.outcome for each in made] == ["completed", "completed"]


def test_of_a_long_result_the_beginning_is_kept() -> None:
    made = statements_of(session(called("read", "{}"), came_back("x" * 100_000)))

    assert len(made[1].text) == MAX_TOOL_TEXT
