"""An OpenAI Responses response as an answer.

What an item says beside our words for it is kept in the field `item` of its parts, so that a window
gives the same item back.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any, Literal

from pydantic import ValidationError

from agentjournal.errors import AppendRejected
from agentjournal.events import (
    ModelFailure,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
)
from agentjournal.responses.answer import Answer, Naming, given_of, kept_beside, tokens_of
from agentjournal.responses.chat_parts import unknown_fields
from agentjournal.responses.naming import as_id

PROVIDER = "openai"
# What the API repeats of the request: the application knows it, and it is the same every time.
_REQUEST = frozenset(
    {
        "background",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "parallel_tool_calls",
        "prompt",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "store",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    }
)
_TAKEN = frozenset({"id", "object", "model", "output", "output_text", "status", "error"})
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}

Raw = Mapping[str, Any]


def openai_responses(response: Raw, taken: Container[str]) -> Answer:
    """Return the answer of a response.

    Raises AppendRejected when it is not finished, ValidationError when no event can say it.
    """
    status = response.get("status") or "completed"
    if status in ("in_progress", "queued"):
        raise AppendRejected("response.status", f"is {status}: record it when it has ended")
    response_id, usage, output = response.get("id"), response.get("usage"), response["output"]
    naming = Naming(response_id, response.get("created_at"), output, taken)
    details = response.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    beside = {n: v for n, v in response.items() if n not in _TAKEN and n not in _REQUEST}
    return Answer(
        naming=naming,
        provider=PROVIDER,
        response_id=response_id,
        response_model=response.get("model"),
        parts=[part for item in output for part in _parts(item, naming)],
        finish_reason=reason or status,
        tokens=tokens_of(usage, "input", "output") if isinstance(usage, Mapping) else {},
        beside=beside,
        was_cut=status != "completed",
        status=_status(status),
        error=_error(response.get("error"), status),
    )


def _status(status: Any) -> Literal["completed", "failed", "cancelled"]:
    if status == "failed":
        return "failed"
    return "cancelled" if status == "cancelled" else "completed"  # incomplete is an answer too


def _parts(item: Any, naming: Naming) -> Iterator[Part]:
    try:
        match item:
            case {"type": "message", "content": list(content)}:
                beside = _beside(item, "type", "role", "content")
                parts = [_said(each, beside) for each in content]
            case {"type": "reasoning"}:
                parts = [_reasoning(item)]
            case {"type": "function_call" | "custom_tool_call"}:
                parts = [naming.called(item.get("call_id"), _call(item))]
            case _:
                parts = [ProviderPart(provider=PROVIDER, raw=item)]
    except (KeyError, ValidationError):  # it is not in the form that its type has
        parts = [ProviderPart(provider=PROVIDER, raw=item)]
    yield from parts


def _said(raw: Any, beside: dict[str, Any]) -> Part:
    """Return a piece of a message item; those of one item stand together and have its fields."""
    match raw:
        case {"type": "output_text", "text": str(text)}:
            more = unknown_fields(given_of(raw), ("type", "text"), TextPart)
            return TextPart.model_validate({**more, "text": text, **beside})
        case {"type": "refusal", "refusal": str(text)}:
            more = unknown_fields(given_of(raw), ("type", "refusal"), RefusalPart)
            return RefusalPart.model_validate({**more, "text": text, **beside})
        case _:
            return ProviderPart.model_validate({"provider": PROVIDER, "raw": raw, **beside})


def _reasoning(raw: Raw) -> ReasoningPart:
    summary, content = _texts(raw.get("summary")), _texts(raw.get("content"))
    # The list itself is kept where it cannot be told from the text.
    told = ("summary",) if raw.get("summary") == [_summary(text) for text in summary][:1] else ()
    return ReasoningPart.model_validate(
        {
            "provider": PROVIDER,
            "id": raw.get("id"),
            "text": "\n\n".join(content) if content else None,
            "summary": "\n\n".join(summary) if summary else None,
            "encrypted": raw.get("encrypted_content"),
            **_beside(raw, "type", "id", "encrypted_content", *told),
        }
    )


def _summary(text: str) -> dict[str, Any]:
    return {"type": "summary_text", "text": text}


def _call(raw: Raw) -> dict[str, Any]:
    kind = raw["type"]
    return {
        "name": raw["name"],
        "arguments_text": raw[_CALLS[kind]],
        **({"call_type": "custom"} if kind == "custom_tool_call" else {}),
        **_beside(raw, "type", "call_id", "name", _CALLS[kind]),
    }


def _beside(raw: Raw, *told: str) -> dict[str, Any]:
    return kept_beside("item", raw, *told)


def _texts(items: Any) -> list[str]:
    if not isinstance(items, list):
        return []
    texts = [item.get("text") for item in items if isinstance(item, Mapping)]
    return [text for text in texts if isinstance(text, str) and text]


def _error(raw: Any, status: str) -> ModelFailure | None:
    if status != "failed":
        return None
    told = raw if isinstance(raw, Mapping) else {}
    code, message = told.get("code"), told.get("message")
    rest = {name: value for name, value in told.items() if name not in {"code", "message"}}
    return ModelFailure.model_validate(
        {
            **given_of(rest),
            "type": as_id(code) if isinstance(code, str) and code else "error",
            "message": message if isinstance(message, str) else "the response failed",
        }
    )
