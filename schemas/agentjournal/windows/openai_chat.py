"""The window as OpenAI chat completions take it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from agentjournal.events import ImagePart, ReasoningPart, RefusalPart, TextPart, ToolCallPart
from agentjournal.windows.conversation import Entry
from agentjournal.windows.given_back import is_custom


def openai_chat(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return `messages`: a call's results follow its message.

    Reasoning has no place in this form but where a server gave some with the calls it led to.
    """
    messages: list[dict[str, Any]] = []
    for entry in entries:
        messages.append(_message(entry))
        messages.extend(
            {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
            for result in entry.results
        )
    return messages


def _message(entry: Entry) -> dict[str, Any]:
    shown: dict[str, Any] = {"role": entry.role, "content": _content(entry)}
    if entry.name is not None:
        shown["name"] = entry.name
    if entry.role == "assistant":
        refusals = [part.text for part in entry.parts if isinstance(part, RefusalPart)]
        if refusals:
            shown["refusal"] = "\n".join(refusals)
        if entry.calls:
            shown |= _reasoning(entry.parts)
            shown["tool_calls"] = [_call(call) for call in entry.calls]
    return shown


def _reasoning(parts: Sequence[Any]) -> dict[str, Any]:
    """Return what led to calls, in the fields that it came in.

    OpenAI's own models give none; others go on only with it, and want it only here.
    """
    shown: dict[str, Any] = {}
    for part in parts:
        if isinstance(part, ReasoningPart):
            beside = part.model_extra or {}
            field = beside.get("field")
            if part.text is not None and field in ("reasoning_content", "reasoning"):
                shown[field] = part.text
            if (details := beside.get("reasoning_details")) is not None:
                shown["reasoning_details"] = details
    return shown


def _call(call: ToolCallPart) -> dict[str, Any]:
    shown = _named(call)
    if (signed := (call.model_extra or {}).get("extra_content")) is not None:
        shown["extra_content"] = signed  # Gemini's signature of the thought behind the call
    return shown


def _named(call: ToolCallPart) -> dict[str, Any]:
    if is_custom(call):
        custom = {"name": call.name, "input": call.arguments_text}
        return {"id": call.call_id, "type": "custom", "custom": custom}
    function = {"name": call.name, "arguments": call.arguments_text}
    return {"id": call.call_id, "type": "function", "function": function}


def _content(entry: Entry) -> str | list[dict[str, Any]] | None:
    if any(isinstance(part, ImagePart) and part.uri for part in entry.parts):
        return list(_content_parts(entry.parts))
    text = entry.text
    if not text and entry.role == "assistant" and entry.calls:
        return None
    return text


def _content_parts(parts: Sequence[Any]) -> Iterator[dict[str, Any]]:
    for part in parts:
        if isinstance(part, TextPart):
            yield {"type": "text", "text": part.text}
        elif isinstance(part, ImagePart) and part.uri:
            yield {"type": "image_url", "image_url": {"url": part.uri}}
