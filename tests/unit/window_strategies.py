"""Conversations for tests of the window: turns with calls, results in any order, hasty users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from agentjournal import Event, MessageAdded, SessionState, ToolCallPart, ToolCompleted, ToolFailed
from agentjournal.events import ReasoningPart, TextPart, ToolFailure
from tests.support import Stream, request, typed

WORDS = (
    *("refund", "order 48213", "$12.50", "a@b.example", "/srv/x.py", "2026-01-31", "fine", "ok"),
    *("6612 0094", "QW 339 120", "badge PX-118", "reg R 418 KEW", "22/301/4471"),
)
_LETTERS = "abcdefghijklm"
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)


@st.composite
def conversations(draw: st.DrawFn) -> list[Event]:
    """Draw the events of a conversation whose every call has an outcome in the end."""
    made: list[Event] = []
    for number in range(draw(st.integers(1, 12))):
        made += _step(draw, number)
    return made


def _step(draw: st.DrawFn, number: int) -> list[Event]:
    roles = ["user", "user", "assistant", "assistant", "system", "developer"]
    role: Any = draw(st.sampled_from(roles))
    if role != "assistant":
        spoken: list[Event] = [
            MessageAdded(role=role, content=draw(texts), message_id=f"m-{number}")
        ]
        return spoken
    # Of letters: a call's id is shown beside what was said, and is no identifier of it.
    ids = [f"{_LETTERS[number]}-{_LETTERS[n]}" for n in range(draw(st.integers(0, 3)))]
    calls = [ToolCallPart(call_id=i, name="look", arguments_text='{"q": 1}') for i in ids]
    thought = [ReasoningPart(provider="anthropic", text="hm", signature="s", id="r")]
    parts: list[Any] = [*thought, TextPart(text=draw(texts)), *calls]
    asking = MessageAdded(role="assistant", parts=parts, message_id=f"m-{number}")
    order: list[str] = draw(st.permutations(ids))
    ends: list[Event] = [_end(draw, call_id) for call_id in order]
    is_hasty: bool = draw(st.booleans())
    if ids and is_hasty:
        hasty = MessageAdded(role="user", content=draw(texts), message_id=f"h-{number}")
        ends.insert(draw(st.integers(0, len(ends))), hasty)
    return [asking, *ends]


def _end(draw: st.DrawFn, call_id: str) -> Event:
    if draw(st.booleans()):
        return ToolCompleted(call_id=call_id, output=draw(texts), duration_ms=1)
    failure = ToolFailure(type="error", message=draw(texts), retryable=False)
    return ToolFailed(call_id=call_id, error=failure)


def states_of(events: Sequence[Event]) -> list[SessionState]:
    """Return the session's state after each event."""
    stream = Stream()
    for each in events:
        stream.accept(request(typed(each)))
    states: list[SessionState] = []
    for end in range(1, len(stream.recorded) + 1):
        state = SessionState(stream.stream)
        for recorded in stream.recorded[:end]:
            state.apply(recorded)
        states.append(state)
    return states


def state_of(*events: Event) -> SessionState:
    """Return the session's state after all events."""
    return states_of(events)[-1]
