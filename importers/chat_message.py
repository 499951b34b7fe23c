"""One chat message as an event: what was said, or what a tool gave back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from agentjournal.events import (
    MessageAdded,
    Part,
    ProviderPart,
    RefusalPart,
    ToolCallPart,
    ToolCompleted,
)
from agentjournal.events.fields import is_id
from importers.chat_calls import Calls
from importers.chat_parts import PROVIDER, as_text, content_parts, reasoning_parts, unknown_fields

Raw: TypeAlias = Mapping[str, Any]

SPEAKERS = ("system", "developer", "user", "assistant")
RESULTS = ("tool", "function")


def message_event(raw: Raw, message_id: str, index: int, calls: Calls) -> MessageAdded:
    """Return what a message says; its calls are begun in `calls`, in the `index`-th event.

    Raises ValidationError when no event can say it.
    """
    parts, taken = reasoning_parts(raw)
    parts += content_parts(raw.get("content"))
    taken |= {"role", "content"}

    def take(name: str, kind: type[Any], as_parts: Callable[[Any], list[Part]]) -> None:
        value = raw.get(name)
        if value is None or isinstance(value, kind):  # in another form it stays an extra field
            taken.add(name)
            parts.extend([] if value is None else as_parts(value))

    take("refusal", str, lambda text: [RefusalPart(text=text)])
    take("tool_calls", list, lambda items: [_call(item, index, calls) for item in items])
    take("function_call", Mapping, lambda called: [_function_call(called, index, calls)])
    fields = {"message_id": message_id, "role": raw["role"], "parts": parts}
    name = raw.get("name")
    if name is None or (isinstance(name, str) and is_id(name)):
        taken.add("name")
        fields["name"] = name
    return MessageAdded.model_validate({**unknown_fields(raw, taken, MessageAdded), **fields})


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


def _call(raw: Any, index: int, calls: Calls) -> Part:
    if not isinstance(raw, Mapping):
        return ProviderPart(provider=PROVIDER, raw=raw)
    kind = raw.get("type", "function")
    arguments = {"function": "arguments", "custom": "input"}.get(as_text(kind))
    called = raw.get(kind) if arguments is not None else None
    if arguments is None or not isinstance(called, Mapping) or not _has_name(called):
        return ProviderPart(provider=PROVIDER, raw=raw)
    given = raw.get("id")
    call_id = calls.begin(given, called["name"], index)
    fields: dict[str, Any] = {
        **unknown_fields(called, ("name", arguments), ToolCallPart),
        **unknown_fields(raw, ("id", "type", kind), ToolCallPart),
        "call_id": call_id,
        "name": called["name"],
        "arguments_text": as_text(called.get(arguments)),
    }
    if given is not None and given != call_id:
        fields["provider_call_id"] = given
    if kind != "function":
        fields["call_type"] = kind
    return ToolCallPart.model_validate(fields)


def _function_call(called: Raw, index: int, calls: Calls) -> Part:
    if not _has_name(called):
        return ProviderPart(provider=PROVIDER, raw={"function_call": called})
    fields = {
        **unknown_fields(called, ("name", "arguments"), ToolCallPart),
        "call_id": calls.begin(None, called["name"], index),
        "name": called["name"],
        "arguments_text": as_text(called.get("arguments")),
        "call_type": "function_call",  # the older form: neither it nor its result has an id
    }
    return ToolCallPart.model_validate(fields)


def _has_name(called: Raw) -> bool:
    name = called.get("name")
    return isinstance(name, str) and is_id(name)
