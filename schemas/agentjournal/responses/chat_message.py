"""One chat message as an event: what was said, and the tools that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from agentjournal.events import MessageAdded, Part, ProviderPart, RefusalPart, ToolCallPart
from agentjournal.events.fields import is_id
from agentjournal.responses.chat_parts import (
    PROVIDER,
    as_text,
    content_parts,
    reasoning_parts,
    unknown_fields,
)

Raw: TypeAlias = Mapping[str, Any]
CallIds: TypeAlias = Callable[[Any, str], str]  # (the provider's id, tool) -> id of the call


def message_event(raw: Raw, message_id: str, call_ids: CallIds) -> MessageAdded:
    """Return what a message says; `call_ids` names the calls in it, in their order.

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
    take("tool_calls", list, lambda items: [_call(item, call_ids) for item in items])
    take("function_call", Mapping, lambda called: [_function_call(called, call_ids)])
    fields = {"message_id": message_id, "role": raw["role"], "parts": parts}
    name = raw.get("name")
    if name is None or (isinstance(name, str) and is_id(name)):
        taken.add("name")
        fields["name"] = name
    return MessageAdded.model_validate({**unknown_fields(raw, taken, MessageAdded), **fields})


def _call(raw: Any, call_ids: CallIds) -> Part:
    if not isinstance(raw, Mapping):
        return ProviderPart(provider=PROVIDER, raw=raw)
    kind = raw.get("type", "function")
    arguments = {"function": "arguments", "custom": "input"}.get(as_text(kind))
    called = raw.get(kind) if arguments is not None else None
    if arguments is None or not isinstance(called, Mapping) or not _has_name(called):
        return ProviderPart(provider=PROVIDER, raw=raw)
    given = raw.get("id")
    call_id = call_ids(given, called["name"])
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


def _function_call(called: Raw, call_ids: CallIds) -> Part:
    if not _has_name(called):
        return ProviderPart(provider=PROVIDER, raw={"function_call": called})
    fields = {
        **unknown_fields(called, ("name", "arguments"), ToolCallPart),
        "call_id": call_ids(None, called["name"]),
        "name": called["name"],
        "arguments_text": as_text(called.get("arguments")),
        "call_type": "function_call",  # the older form: neither it nor its result has an id
    }
    return ToolCallPart.model_validate(fields)


def _has_name(called: Raw) -> bool:
    name = called.get("name")
    return isinstance(name, str) and is_id(name)
