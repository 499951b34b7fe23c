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

_PROVIDER = "openai"


def openai_responses(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return `input`: reasoning stays before the call it led to, results follow their calls."""
    return [item for entry in entries for item in (*_items(entry), *_results(entry))]


def _items(entry: Entry) -> Iterator[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    for part in entry.parts:
        item = _item(part)
        if item is not None:
            yield from _message(entry, content)
            content = []
            yield item
        else:
            content.extend(_content(part, entry.role))
    if content or not entry.parts:
        yield from _message(entry, content or [_text("", entry.role)])


def _message(entry: Entry, content: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    if not content:
        return
    if entry.role == "assistant":
        # What the model wrote goes back as text: its own items ask for ids that only it gives.
        text = "\n".join(part["text"] for part in content)
        yield {"type": "message", "role": "assistant", "content": text}
    else:
        yield {"type": "message", "role": entry.role, "content": content}


def _item(part: Any) -> dict[str, Any] | None:
    """Return the item of a part that is one of its own, or None."""
    match part:
        case ToolCallPart():
            return {
                "type": "function_call",
                "call_id": part.call_id,
                "name": part.name,
                "arguments": part.arguments_text,
            }
        case ReasoningPart(provider=provider, id=str(id_)) if provider == _PROVIDER:
            summary = [{"type": "summary_text", "text": part.summary}] if part.summary else []
            item: dict[str, Any] = {"type": "reasoning", "id": id_, "summary": summary}
            if part.encrypted is not None:
                item["encrypted_content"] = part.encrypted
            return item
        case ProviderPart(provider=provider, raw=dict(raw)) if provider == _PROVIDER:
            return dict(raw)
        case _:
            return None


def _content(part: Any, role: str) -> Iterator[dict[str, Any]]:
    match part:
        case TextPart(text=text) | RefusalPart(text=text):
            yield _text(text, role)
        case ImagePart(uri=str(uri)) if role != "assistant":
            yield {"type": "input_image", "image_url": uri, "detail": "auto"}
        case _:
            return


def _text(text: str, role: str) -> dict[str, Any]:
    return {"type": "output_text" if role == "assistant" else "input_text", "text": text}


def _results(entry: Entry) -> Iterator[dict[str, Any]]:
    for result in entry.results:
        yield {
            "type": "function_call_output",
            "call_id": result.call_id,
            "output": result.text,
        }
