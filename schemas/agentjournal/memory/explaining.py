"""Where a fact comes from: the events that say so, as text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from agentjournal.codec import encode
from agentjournal.envelope import Recorded
from agentjournal.events import (
    FactLearned,
    MessageAdded,
    ToolCompleted,
    ToolFailed,
    ToolSettled,
    ToolStarted,
)
from agentjournal.events.wire import wire_form
from agentjournal.ids import Version
from agentjournal.memory.statements import output_text


@dataclass(frozen=True, slots=True)
class FactSource:
    """An event that says so: of a session, or of the entity's own stream (`session_id` is None)."""

    session_id: str | None
    version: Version
    event_id: str
    recorded_at: datetime
    role: str
    text: str


def source_of(recorded: Recorded, session_id: str | None) -> FactSource:
    """Return what an event says, and who. Raises EventUnreadable."""
    role, text = _said(recorded)
    return FactSource(
        session_id,
        recorded.version,
        recorded.id,
        datetime.fromisoformat(recorded.recorded_at),
        role,
        text,
    )


def _said(recorded: Recorded) -> tuple[str, str]:
    event = recorded.event
    match event:
        case MessageAdded() as message:
            calls = [f"{call.name}({call.arguments_text})" for call in message.tool_calls]
            return message.role, "\n".join([*filter(None, [message.text]), *calls])
        case ToolStarted() as started:
            return "assistant", f"{started.tool}({started.arguments_text})"
        case ToolCompleted() | ToolSettled() | ToolFailed():
            return "tool", output_text(event.output or "")
        case FactLearned() as fact:
            return fact.author_role, fact.quote
        case _:
            return recorded.type, encode(wire_form(event)).decode()
