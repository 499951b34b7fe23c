"""A ChatCompletion response: the message in it, and the call of the model that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from math import isfinite
from typing import Any, TypeGuard

from pydantic import ValidationError

from agentjournal.events import ModelCalled
from agentjournal.responses.answer import tokens_of
from agentjournal.responses.chat_parts import PROVIDER, unknown_fields
from agentjournal.responses.openai_chat import CUT_OFF, USED
from agentjournal.stored import written_time

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Completion:
    """What a response holds. `envelope` is the response without its messages."""

    message: Raw
    other_choices: Sequence[Raw]
    envelope: Raw
    request: Raw  # what stands beside the response in a log: model, cost, latency
    finish_reason: Any

    @property
    def response_id(self) -> str | None:
        """The provider's id of the response."""
        found = self.envelope.get("id")
        return found if isinstance(found, str) and found else None

    @property
    def was_cut(self) -> bool:
        """Whether the model stopped because it may write no more."""
        return self.finish_reason in CUT_OFF

    @property
    def time(self) -> str | None:
        """When the response was made, ISO 8601."""
        return as_time(self.envelope.get("created"))

    def model_called(self, model_call_id: str) -> ModelCalled | None:
        """Return the call, None when the response does not say what was used."""
        usage = self.envelope.get("usage")
        if not isinstance(usage, Mapping):
            return None
        fields = {
            "model_call_id": model_call_id,
            "provider": self._provider(),
            "request_model": self._request_model(),
            "response_model": self.envelope.get("model"),
            "response_id": self.response_id,
            **tokens_of(usage, *USED),
            "cost": self._cost(),
            "duration_ms": self._duration_ms(),
            "finish_reason": self.finish_reason,
        }
        rest = unknown_fields(self.envelope, ("id", "model"), ModelCalled)
        given = {name: value for name, value in fields.items() if value is not None}
        try:
            return ModelCalled.model_validate({**rest, **given})
        except ValidationError:
            return None

    def _provider(self) -> str:
        given = self.request.get("custom_llm_provider") or self.request.get("provider")
        return given if isinstance(given, str) else PROVIDER

    def _request_model(self) -> Any:
        arguments = self.request.get("kwargs")
        named = arguments.get("model") if isinstance(arguments, Mapping) else None
        return named or self.request.get("model") or self.envelope.get("model")

    def _duration_ms(self) -> float:
        seconds = self.request.get("latency_sec")
        return float(seconds * 1_000) if _is_amount(seconds) else 0.0

    def _cost(self) -> dict[str, Any] | None:
        cost = self.request.get("cost")
        if not _is_amount(cost):
            return None
        return {"amount": f"{Decimal(str(cost)):f}", "currency": "USD", "source": "client"}


def is_completion(value: Any) -> bool:
    """Return whether `value` is a response with a message in it."""
    choices = value.get("choices") if isinstance(value, Mapping) else None
    return isinstance(choices, list) and any(_message(choice) is not None for choice in choices)


def completion_of(response: Raw, request: Raw) -> Completion:
    """Return what `response` holds; of several choices the first is the answer."""
    choices: list[Any] = response["choices"]
    at = next(index for index, choice in enumerate(choices) if _message(choice) is not None)
    chosen: Raw = choices[at]
    message = {"role": "assistant", **chosen["message"]}
    envelope = {name: value for name, value in response.items() if name != "choices"}
    more = {name: value for name, value in chosen.items() if name != "message"}
    if more.keys() - {"index", "finish_reason"}:
        envelope["choice"] = more
    others = [choice for index, choice in enumerate(choices) if index != at]
    return Completion(message, others, envelope, request, chosen.get("finish_reason"))


def as_time(value: Any) -> str | None:
    """Return seconds since the epoch, or a time with a zone in ISO 8601, as the latter."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
        elif _is_amount(value):
            moment = datetime.fromtimestamp(value, UTC)
        else:
            return None
        return None if moment.tzinfo is None else written_time(moment.astimezone(UTC))
    except (ValueError, OverflowError, OSError):
        return None


def _message(choice: Any) -> Raw | None:
    message = choice.get("message") if isinstance(choice, Mapping) else None
    return message if isinstance(message, Mapping) else None


def _is_amount(value: Any) -> TypeGuard[int | float]:
    return type(value) in {int, float} and isfinite(value) and value >= 0
