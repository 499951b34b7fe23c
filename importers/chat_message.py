"""Roles of chat messages, and the result of a tool as an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from agentjournal.events import ToolCompleted
from agentjournal.responses.chat_parts import as_text, content_parts, unknown_fields
from importers.chat_calls import Calls

Raw: TypeAlias = Mapping[str, Any]

SPEAKERS = ("system", "developer", "user", "assistant")
RESULTS = ("tool", "function")


def result_event(raw: Raw, calls: Calls) -> ToolCompleted | None:
    """Return the result of a tool, None when no open call is meant.

    Raises ValidationError when no event can say it.
    """
    given = raw.get("tool_call_id")
    call_id = calls.end(given, raw.get("name"))
    if call_id is None:
        return None
    content = raw.get("content")
    fields: dict[str, Any] = {"call_id": call_id, "duration_ms": 0.0}
    if isinstance(content, list):
        fields["output"] = content_parts(content)
    else:
        fields["output"] = as_text(content)
        if content is not None and not isinstance(content, str):
            fields["result"] = content
    if given is not None and given != call_id:
        fields["provider_call_id"] = given
    rest = unknown_fields(raw, ("role", "content", "tool_call_id"), ToolCompleted)
    return ToolCompleted.model_validate({**rest, **fields})
