"""The window as Anthropic messages take it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from agentjournal.events import (
    ImagePart,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
)
from agentjournal.windows.conversation import Entry
from agentjournal.windows.given_back import beside

_PROVIDER = "anthropic"
_NO_TEXT = "[no text]"  # the API takes no empty text
_GOES_ON = "[the conversation goes on]"  # the API wants a user's message first
_ARGUMENTS = "arguments_text"  # under this name go arguments that are no JSON object

Block = dict[str, Any]


def anthropic(entries: Sequence[Entry]) -> tuple[list[Block], list[dict[str, Any]]]:
    """Return (`system`, `messages`).

    Neighbours of one role are one message. Results stand first in the user's message that follows
    their calls. A system or developer message in mid-conversation goes to `system` too.
    """
    system = [
        _text(text)
        for entry in entries
        if entry.role in {"system", "developer"}
        for text in filter(None, [entry.text])
    ]
    messages: list[dict[str, Any]] = []
    for entry in entries:
        if entry.role not in {"system", "developer"}:
            _add(messages, entry.role, list(_blocks(entry)))
            _add(messages, "user", list(_results(entry)))
    if messages and messages[0]["role"] != "user":
        messages.insert(0, {"role": "user", "content": [_text(_GOES_ON)]})
    return system, messages


def _add(messages: list[dict[str, Any]], role: str, blocks: list[Block]) -> None:
    if not blocks:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"].extend(blocks)
    else:
        messages.append({"role": role, "content": blocks})


def _blocks(entry: Entry) -> Iterator[Block]:
    blocks = [block for part in entry.parts if (block := _block(part)) is not None]
    yield from blocks or [_text(_NO_TEXT)]


def _block(part: Any) -> Block | None:
    match part:
        case TextPart(text=text) | RefusalPart(text=text):
            return {**_text(text), **beside(part, "block")} if text.strip() else None
        case ToolCallPart():
            arguments = _arguments(part.arguments_text)
            use = {"type": "tool_use", "id": part.call_id, "name": part.name, "input": arguments}
            return {**use, **beside(part, "block")}
        case ReasoningPart(provider=provider) if provider == _PROVIDER:
            return _thinking(part)
        case ImagePart(uri=str(uri)):
            return {"type": "image", "source": {"type": "url", "url": uri}}
        case ProviderPart(provider=provider, raw=dict(raw)) if provider == _PROVIDER:
            return dict(raw)
        case _:
            return None


def _thinking(part: ReasoningPart) -> Block | None:
    block: Block
    if part.encrypted is not None:
        block = {"type": "redacted_thinking", "data": part.encrypted}
    elif part.signature is not None:
        block = {"type": "thinking", "thinking": part.text or "", "signature": part.signature}
    else:
        return None  # without its signature the API refuses it
    return {**block, **beside(part, "block")}


def _arguments(text: str) -> dict[str, Any]:
    try:
        # Not orjson, which makes a float of a large integer.
        parsed = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return {_ARGUMENTS: text}
    return parsed if isinstance(parsed, dict) else {_ARGUMENTS: text}


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _results(entry: Entry) -> Iterator[Block]:
    for result in entry.results:
        block: Block = {"type": "tool_result", "tool_use_id": result.call_id}
        if result.text:
            block["content"] = result.text
        if result.is_error:
            block["is_error"] = True
        yield block
