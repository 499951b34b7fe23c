"""Chat messages for tests of the importer, and the events that they become."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agentjournal.events import Event, MessageAdded, ToolCompleted
from importers.imported import Imported
from importers.openai_chat import read_openai_chat


def read(messages: Sequence[Any]) -> Imported:
    raw = json.dumps(messages).encode()
    found = read_openai_chat(raw, name="chat", source="chat.json")
    assert isinstance(found, Imported)
    return found


def events(*messages: Any) -> list[Event]:
    """Return the events of one session behind its start."""
    (session,) = read(messages).sessions
    return [each.event for each in session.events[1:]]


def message(raw: dict[str, Any]) -> MessageAdded:
    (event,) = events(raw)
    assert isinstance(event, MessageAdded)
    return event


def asks(*calls: tuple[str | None, str, str], **fields: Any) -> dict[str, Any]:
    made = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": made, **fields}


def gave(call_id: str | None, content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


def call_ids(found: Sequence[Event]) -> list[str]:
    """Return the ids of calls (asked) and of results (=given), in their order."""
    ids: list[str] = []
    for event in found:
        if isinstance(event, MessageAdded):
            ids += [part.call_id for part in event.tool_calls]
        elif isinstance(event, ToolCompleted):
            ids.append(f"={event.call_id}")
    return ids
