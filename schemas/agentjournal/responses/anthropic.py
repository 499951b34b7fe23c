"""An Anthropic message as an answer.

What a block says beside our words for it is kept in the field `block` of its part, so that a window
gives the same block back.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from typing import Any

from pydantic import ValidationError

from agentjournal.events import Part, ProviderPart, ReasoningPart, TextPart
from agentjournal.responses.answer import Answer, Naming, kept_beside, number

PROVIDER = "anthropic"
# Reasons to stop of an answer that is not whole; after pause_turn the model goes on from it.
CUT_OFF = ("max_tokens", "model_context_window_exceeded", "pause_turn", "refusal")

_TAKEN = frozenset({"id", "type", "role", "model", "content", "stop_reason"})

Raw = Mapping[str, Any]


def anthropic(response: Raw, taken: Container[str]) -> Answer:
    """Return the answer of a message. Raises ValidationError when no event can say it."""
    response_id, usage, content = response.get("id"), response.get("usage"), response["content"]
    naming = Naming(response_id, None, content, taken)
    return Answer(
        naming=naming,
        provider=PROVIDER,
        response_id=response_id,
        response_model=response.get("model"),
        parts=[_part(block, naming) for block in content],
        finish_reason=response.get("stop_reason"),
        tokens=_tokens(usage) if isinstance(usage, Mapping) else {},
        beside={n: v for n, v in response.items() if n not in _TAKEN},
        was_cut=response.get("stop_reason") in CUT_OFF,
    )


def _part(block: Any, naming: Naming) -> Part:
    try:
        match block:
            case {"type": "text", "text": text}:
                return TextPart.model_validate({"text": text, **_beside(block, "text")})
            case {"type": "thinking", "thinking": text, "signature": str(signature)}:
                said = {"text": text, "signature": signature}
                return _reasoning(said, _beside(block, "thinking", "signature"))
            case {"type": "redacted_thinking", "data": str(hidden)}:
                return _reasoning({"encrypted": hidden}, _beside(block, "data"))
            case {"type": "tool_use", "id": _, "name": _, "input": dict()}:
                return naming.called(block["id"], _call(block))
            case _:
                return ProviderPart(provider=PROVIDER, raw=block)
    except ValidationError:  # it is not in the form that its type has
        return ProviderPart(provider=PROVIDER, raw=block)


def _reasoning(said: dict[str, Any], beside: dict[str, Any]) -> Part:
    return ReasoningPart.model_validate({"provider": PROVIDER, **said, **beside})


def _call(block: Raw) -> dict[str, Any]:
    return {
        "name": block["name"],
        "arguments_text": _as_json(block["input"]),
        **_beside(block, "id", "name", "input"),
    }


def _as_json(arguments: dict[str, Any]) -> str:
    """Return arguments as a model would write them: the API gives them only as an object."""
    text = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    # Half of a surrogate pair is no text; as an escape it stays what it is.
    return text if _is_text(text) else json.dumps(arguments, separators=(",", ":"))


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _beside(block: Raw, *told: str) -> dict[str, Any]:
    return kept_beside("block", block, "type", *told)


def _tokens(usage: Raw) -> dict[str, Any]:
    details = usage.get("output_tokens_details")
    read = usage.get("cache_read_input_tokens")
    created = usage.get("cache_creation_input_tokens")
    beside = number(read) + number(created)
    told = usage.get("input_tokens")
    return {
        # The API counts what came from its cache, or went to it, beside the input.
        "input_tokens": told + beside if type(told) is int else told,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": created,
        "output_tokens": usage.get("output_tokens"),
        "reasoning_output_tokens": details.get("thinking_tokens")
        if isinstance(details, Mapping)
        else None,
    }
