"""The window as OpenAI responses take it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from agentjournal.events import (
    ImagePart,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
)
from agentjournal.windows.conversation import Entry
from agentjournal.windows.given_back import beside, is_custom

_PROVIDER = "openai"


def openai_responses(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return `input`: reasoning stays before the call it led to, results follow their calls.

    What was recorded of a response of this API is given back as the items that it had.
    """
    return [item for entry in entries for item in (*_items(entry), *_results(entry))]


def _items(entry: Entry) -> Iterator[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    own: dict[str, Any] = {}  # what the message item of `content` has of its own
    for part in entry.parts:
        item = _item(part)
        said = [] if item is not None else list(_content(part, entry.role))
        belongs = beside(part, "item") if said else own
        if item is not None or belongs != own:
            yield from _message(entry.role, content, own)
            content, own = [], belongs
        content += said
        if item is not None:
            yield item
    if content or not entry.parts:
        yield from _message(entry.role, content or [_text("", entry.role)], own)


def _message(
    role: str, content: list[dict[str, Any]], own: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    if not content:
        return
    if role == "assistant" and isinstance(own.get("id"), str):
        yield {"type": "message", "role": role, "status": "completed", "content": content, **own}
    elif role == "assistant":
        # Without the id that only the API gives, what the model said goes back as text.
        said = [text for part in content for text in [part.get("text", part.get("refusal"))]]
        yield {"type": "message", "role": role, "content": "\n".join(filter(None, said))}
    else:
        yield {"type": "message", "role": role, "content": content}


def _item(part: Any) -> dict[str, Any] | None:
    """Return the item of a part that is one of its own, or None."""
    match part:
        case ToolCallPart():
            custom = is_custom(part)
            return {
                "type": "custom_tool_call" if custom else "function_call",
                "call_id": part.call_id,
                "name": part.name,
                "input" if custom else "arguments": part.arguments_text,
                **beside(part, "item"),
            }
        case ReasoningPart(provider=provider, id=str(id_)) if provider == _PROVIDER:
            summary = [{"type": "summary_text", "text": part.summary}] if part.summary else []
            item: dict[str, Any] = {"type": "reasoning", "id": id_, "summary": summary}
            if part.encrypted is not None:
                item["encrypted_content"] = part.encrypted
            return {**item, **beside(part, "item")}
        case ProviderPart(provider=provider, raw=dict(raw)) if provider == _PROVIDER:
            return None if beside(part, "item") else dict(raw)
        case _:
            return None


def _content(part: Any, role: str) -> Iterator[dict[str, Any]]:
    match part:
        case TextPart() if role == "assistant":
            annotations = (part.model_extra or {}).get("annotations") or []
            yield {**_text(part.text, role), "annotations": annotations}
        case RefusalPart(text=text) if role == "assistant":
            yield {"type": "refusal", "refusal": text}
        case TextPart(text=text) | RefusalPart(text=text):
            yield _text(text, role)
        case ProviderPart(raw=dict(raw)) if beside(part, "item"):
            yield dict(raw)  # a piece of a message, for which we have no word
        case ImagePart(uri=str(uri)) if role != "assistant":
            yield {"type": "input_image", "image_url": uri, "detail": "auto"}
        case _:
            return


def _text(text: str, role: str) -> dict[str, Any]:
    return {"type": "output_text" if role == "assistant" else "input_text", "text": text}


def _results(entry: Entry) -> Iterator[dict[str, Any]]:
    custom = {call.call_id for call in entry.calls if is_custom(call)}
    for result in entry.results:
        kind = "custom_tool_call" if result.call_id in custom else "function_call"
        yield {
            "type": f"{kind}_output",
            "call_id": result.call_id,
            "output": result.text,
        }
