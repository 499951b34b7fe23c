"""Compaction: the summary stands for what it covers, and nothing exact is lost unsaid."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentjournal import (
    CompactionRefused,
    Event,
    MessageAdded,
    SessionState,
    ToolCallPart,
    ToolCompleted,
)
from agentjournal.events import ConversationCompacted, ConversationRewound
from agentjournal.windows.compaction import CompactionRequest, compaction_of
from agentjournal.windows.identifiers import identifiers_in
from agentjournal.windows.window import WindowOptions, Windows
from tests.unit.window_strategies import conversations, state_of


def words(text: str) -> int:
    return len(text.split())


def compacted(state: SessionState, **asked: object) -> ConversationCompacted:
    request = CompactionRequest(**{"summary": "they talked", **asked})  # type: ignore[arg-type]
    return compaction_of(state, request, words)


def shown(state: SessionState) -> str:
    return str(Windows().window(state, WindowOptions()).messages)


def said(text: str, role: Any = "user") -> MessageAdded:
    return MessageAdded(role=role, content=text, message_id=f"m-{role}-{text}")


def asking(call_id: str) -> MessageAdded:
    call = ToolCallPart(call_id=call_id, name="f", arguments_text="{}")
    return MessageAdded(role="assistant", parts=[call], message_id=f"m-{call_id}")


def completed(call_id: str, output: str = "done") -> ToolCompleted:
    return ToolCompleted(call_id=call_id, output=output, duration_ms=1)


def test_the_window_shows_summary_carried_facts_and_tail_and_keeps_the_system_message() -> None:
    events = [said("rules", "system"), said("one"), said("two", "assistant"), said("three")]
    event = compacted(state_of(*events), keep_last=1, carried=[("order", "48213")])
    assert (event.first_version, event.last_version, event.forced) == (1, 3, False)
    window = Windows().window(state_of(*events, event), WindowOptions())
    assert [message["content"] for message in window.messages] == [
        "rules",
        (
            "[Summary of the conversation, versions 1 to 3]\nthey talked\n"
            "[Carried over as it was written]\norder: 48213"
        ),
        "three",
    ]


def test_tokens_before_and_after_are_those_of_the_two_windows() -> None:
    events = [said("a b c"), said("d e", "assistant"), said("f")]
    event = compacted(state_of(*events), keep_last=1)
    # Words, and four of framing a message; the summary has two more words than its first line.
    assert event.tokens_before == (3 + 4) + (2 + 4) + (1 + 4)
    assert event.tokens_after == (8 + 2 + 4) + (1 + 4)


def test_the_next_compaction_covers_what_came_after_the_first() -> None:
    events: list[Event] = [said("one"), said("two"), said("three")]
    events.append(compacted(state_of(*events), keep_last=1))
    events.append(said("four"))
    second = compacted(state_of(*events), keep_last=1, summary="more talk")
    assert (second.first_version, second.last_version) == (3, 3)
    text = shown(state_of(*events, second))
    assert "they talked" in text
    assert "more talk" in text
    assert "three" not in text


def test_what_is_covered_already_is_not_covered_again() -> None:
    events: list[Event] = [said("one"), said("two")]
    events.append(compacted(state_of(*events), keep_last=0))
    with pytest.raises(CompactionRefused, match="nothing to compact"):
        compacted(state_of(*events), keep_last=0)


@pytest.mark.parametrize("summary", ["", "  \n"])
def test_an_empty_summary_is_refused(summary: str) -> None:
    with pytest.raises(CompactionRefused, match="summary is empty"):
        compacted(state_of(said("one"), said("two")), summary=summary)


def test_a_call_is_never_parted_from_its_result() -> None:
    open_call = state_of(said("one"), asking("c"), said("two"))
    assert compacted(open_call, keep_last=0).last_version == 1
    late = state_of(said("one"), asking("c"), said("two"), completed("c"), said("three"))
    # Keeping two messages would cut between the call (2) and its result (4).
    assert compacted(late, keep_last=2).last_version == 1
    assert compacted(late, keep_last=1).last_version == 4


def test_a_lost_identifier_is_refused_by_name_unless_it_is_said_carried_or_forced() -> None:
    state = state_of(said("order 48213, pay $12.50"), said("ok", "assistant"), said("bye"))
    with pytest.raises(CompactionRefused) as refused:
        compacted(state, keep_last=1)
    assert refused.value.would_lose == ("48213", "$12.50")
    with pytest.raises(CompactionRefused) as refused:
        compacted(state, keep_last=1, summary="order 48213 was talked about")
    assert refused.value.would_lose == ("$12.50",)
    assert not compacted(state, keep_last=1, summary="48213 for $12.50").forced
    carried = compacted(state, keep_last=1, carried=[("order", "48213"), ("amount", "$12.50")])
    assert not carried.forced
    by_itself = compacted(state, keep_last=1, carry_identifiers=True)
    assert [(c.kind, c.value, c.version) for c in by_itself.carried] == [
        ("number", "48213", 1),
        ("amount", "$12.50", 1),
    ]
    assert compacted(state, keep_last=1, force=True).forced


def test_an_identifier_is_not_held_by_a_longer_one_that_it_is_a_part_of() -> None:
    state = state_of(said("order 4821"), said("ok", "assistant"), said("bye"))
    with pytest.raises(CompactionRefused) as refused:
        compacted(state, keep_last=1, summary="order 48213 was talked about")
    assert refused.value.would_lose == ("4821",)
    assert not compacted(state, keep_last=1, summary="order (4821).").forced


def test_an_identifier_that_the_tail_holds_is_not_lost() -> None:
    state = state_of(said("order 48213"), said("ok", "assistant"), said("order 48213, still"))
    assert not compacted(state, keep_last=1).forced


@settings(max_examples=80)
@given(conversations(), st.integers(0, 5))
def test_with_carrying_every_identifier_is_still_shown(events: list[Event], keep: int) -> None:
    state = state_of(*events)
    before = {name.value for name in identifiers_in(shown(state))}
    try:
        event = compacted(state, keep_last=keep, carry_identifiers=True)
    except CompactionRefused:
        return
    after = shown(state_of(*events, event))
    assert {value for value in before if value not in after} == set()


def test_rewinding_hides_what_came_after_and_a_compaction_of_it() -> None:
    events: list[Event] = [said("one"), said("two"), said("three"), said("four")]
    events.append(compacted(state_of(*events), keep_last=1))
    events.append(ConversationRewound(to_version=2, reason="edited"))
    events.append(said("instead"))
    window = Windows().window(state_of(*events), WindowOptions())
    assert [message["content"] for message in window.messages] == ["one", "two", "instead"]


def test_a_call_that_was_made_stays_made_when_the_conversation_is_rewound() -> None:
    events: list[Event] = [said("one"), asking("c"), completed("c")]
    state = state_of(*events, ConversationRewound(to_version=1, reason="undo"))
    assert state.calls["c"].outcome == "completed"
    assert [m["content"] for m in Windows().window(state, WindowOptions()).messages] == ["one"]
