"""What a model answered, whichever API gave it, and the events that say it."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agentjournal.codec import encode
from agentjournal.events import (
    Event,
    MessageAdded,
    ModelCalled,
    ModelFailure,
    Part,
    ToolCallPart,
)
from agentjournal.ids import new_event_id
from agentjournal.responses.chat_parts import unknown_fields
from agentjournal.responses.naming import as_id, derived_id, free_id

# What SDKs compute from the answer, and put beside it: it is no part of what the model said.
COMPUTED = frozenset({"parsed", "parsed_arguments", "parsed_output"})


@dataclass(frozen=True, slots=True)
class Asked:
    """What only the caller knows of a model call."""

    duration_ms: float
    request_model: str | None = None
    attempt: int = 1


class Naming:
    """The ids of one answer, and of the calls in it: the same answer gets the same ones."""

    def __init__(self, response_id: Any, made_at: Any, said: Any, taken: Container[str]) -> None:
        # Some servers give few ids or always the same: what was said, and when, is part of it.
        has_id = isinstance(response_id, str) and response_id
        made_at = _whole(made_at)
        said_by = [encode([response_id, made_at]), encode(bare(said))]
        self.message_id = derived_id([*said_by, b"message"]) if has_id else new_event_id()
        self.model_call_id = derived_id([*said_by, b"model call"]) if has_id else new_event_id()
        self._taken, self._given = taken, set[str]()

    def call(self, provider_id: Any, _tool: str = "") -> str:
        """Return the id of the next call: the provider's, where the session does not have it."""
        has_id = isinstance(provider_id, str) and provider_id
        wanted = provider_id if has_id else f"call-{self.message_id}"
        call_id = free_id(wanted, self._given, self._taken)
        self._given.add(call_id)
        return call_id

    def called(self, provider_id: Any, fields: Mapping[str, Any]) -> ToolCallPart:
        """Return the next call with its id. Raises ValidationError when it is none."""
        ToolCallPart.model_validate({"call_id": "is named when it is one", **fields})
        call_id = self.call(provider_id)
        renamed = {} if provider_id in (None, call_id) else {"provider_call_id": provider_id}
        return ToolCallPart.model_validate({"call_id": call_id, **fields, **renamed})


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer says. `beside` are fields of the call, `said_beside` of the message."""

    naming: Naming
    provider: str
    response_id: Any
    response_model: Any
    parts: list[Part]
    finish_reason: Any
    tokens: Mapping[str, Any]
    beside: Mapping[str, Any]
    said_beside: Mapping[str, Any] = field(default_factory=dict[str, Any])
    was_cut: bool = False
    status: Literal["completed", "failed", "cancelled"] = "completed"
    error: ModelFailure | None = None

    def events(self, asked: Asked) -> list[Event]:
        """Return the message, unless the model failed before it said anything, and the call.

        Raises ValidationError when an event cannot say it.
        """
        called = self._called(asked)
        if self.status != "completed" and not self.parts:
            return [called]
        message: dict[str, Any] = {
            **self.said_beside,
            "message_id": self.naming.message_id,
            "role": "assistant",
            "parts": self.parts,
            "model_call_id": called.model_call_id,
            "status": "incomplete" if self.was_cut else "complete",
        }
        return [MessageAdded.model_validate(message), called]

    def _called(self, asked: Asked) -> ModelCalled:
        model = _name(self.response_model)
        fields: dict[str, Any] = {
            "model_call_id": self.naming.model_call_id,
            "provider": self.provider,
            "request_model": asked.request_model or model or "unknown",
            "response_model": model,
            "response_id": _name(self.response_id),
            "duration_ms": asked.duration_ms,
            "finish_reason": _name(self.finish_reason),
            "status": self.status,
            "error": self.error,
            "attempt": asked.attempt,
            **{name: count for name, count in self.tokens.items() if count is not None},
        }
        rest = unknown_fields(given_of(self.beside), (), ModelCalled)
        # A server that counts nothing leaves null, so that its 0 tokens are told from none.
        usage = {} if self.tokens else {"usage": None, "input_tokens": 0, "output_tokens": 0}
        return ModelCalled.model_validate({**rest, **fields, **usage})


def given_of(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `raw` that say something: not null, not empty, not computed."""
    return {
        name: _whole(value)
        for name, value in raw.items()
        if value is not None and value not in ([], {}) and name not in COMPUTED
    }


def kept_beside(name: str, raw: Mapping[str, Any], *told: str) -> dict[str, Any]:
    """Return what `raw` says beside the fields that are `told`, as a field `name` of a part."""
    rest = given_of({field: value for field, value in raw.items() if field not in told})
    return {name: rest} if rest else {}


def tokens_of(usage: Mapping[str, Any], asked: str, answered: str) -> dict[str, Any]:
    """Return what was used, by the names of `model.called`; None is what it does not say.

    OpenAI's APIs say it alike, with words of their own for what was `asked` and what `answered`.
    """

    def detail(of: str, name: str) -> Any:
        details = usage.get(f"{of}_tokens_details")
        return details.get(name) if isinstance(details, Mapping) else None

    return {
        "input_tokens": usage.get(f"{asked}_tokens"),
        "cache_read_input_tokens": detail(asked, "cached_tokens"),
        "cache_creation_input_tokens": detail(asked, "cache_write_tokens"),
        "output_tokens": usage.get(f"{answered}_tokens"),
        "reasoning_output_tokens": detail(answered, "reasoning_tokens"),
    }


def bare(value: Any) -> Any:
    """Return `value` without what says nothing, however deep, and with its names in order."""
    if isinstance(value, Mapping):
        kept = {n: v for n, v in value.items() if v is not None and n not in COMPUTED}
        return {name: bare(kept[name]) for name in sorted(kept, key=str)}
    return [bare(each) for each in value] if isinstance(value, list) else value


def _whole(value: Any) -> Any:
    """Return a whole number as one: SDKs make 1.0 of a time that was written as 1."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def number(value: Any) -> int:
    """Return a count as a number, 0 for none and for what is no number."""
    return value if type(value) is int else 0


def _name(value: Any) -> str | None:
    return as_id(value) if isinstance(value, str) and value else None
