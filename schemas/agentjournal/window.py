"""The context window: a view of the session in the form that a model's API takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agentjournal.events import ImagePart, RefusalPart, TextPart
from agentjournal.state import Message, SessionState, ToolCall

NO_RESULT = "[no result is recorded for this call: whether it took effect is not known]"


@dataclass(frozen=True, slots=True)
class Window:
    """`messages` as the API takes them; `version` of the session they were taken at."""

    messages: list[dict[str, Any]]
    version: int


def openai_chat(state: SessionState) -> Window:
    """Return the whole conversation as OpenAI chat messages.

    A call's result follows its call, whatever was recorded between; a call without a result gets a
    marked placeholder; a result without a call is left out.
    """
    messages: list[dict[str, Any]] = []
    for message in state.messages:
        if message.status == "retracted":
            continue
        messages.append(_message(message))
        messages.extend(_results(message, state))
    return Window(messages, state.version)


def _message(message: Message) -> dict[str, Any]:
    shown: dict[str, Any] = {"role": message.role, "content": _content(message)}
    if message.name is not None:
        shown["name"] = message.name
    if message.role == "assistant":
        refusals = [part.text for part in message.parts if isinstance(part, RefusalPart)]
        if refusals:
            shown["refusal"] = "\n".join(refusals)
        if message.tool_calls:
            shown["tool_calls"] = [
                {
                    "id": call.call_id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments_text},
                }
                for call in message.tool_calls
            ]
    return shown


def _content(message: Message) -> str | list[dict[str, Any]] | None:
    if any(isinstance(part, ImagePart) and part.uri for part in message.parts):
        return list(_content_parts(message.parts))
    text = message.text
    if not text and message.role == "assistant" and message.tool_calls:
        return None
    return text


def _content_parts(parts: Sequence[Any]) -> Iterator[dict[str, Any]]:
    for part in parts:
        if isinstance(part, TextPart):
            yield {"type": "text", "text": part.text}
        elif isinstance(part, ImagePart) and part.uri:
            yield {"type": "image_url", "image_url": {"url": part.uri}}


def _results(message: Message, state: SessionState) -> Iterator[dict[str, Any]]:
    for asked in message.tool_calls:
        call = state.calls[asked.call_id]
        yield {"role": "tool", "tool_call_id": call.call_id, "content": _result(call)}


def _result(call: ToolCall) -> str:
    if call.outcome == "open":
        return NO_RESULT
    if isinstance(call.output, str):
        return call.output
    if call.output:
        return "\n".join(part.text for part in call.output if isinstance(part, TextPart))
    return f"Error: {call.error.message}" if call.error is not None else ""
