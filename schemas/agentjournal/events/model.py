"""Calls of a model."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from agentjournal.events.base import Event, Record
from agentjournal.events.failure import ModelFailure
from agentjournal.events.fields import Amount, Count, Currency, Id, Integer, Ordinal, Span
from agentjournal.ids import new_event_id


class Cost(Record):
    """What a model call cost, and who says so."""

    amount: Amount
    currency: Currency
    source: Literal["provider", "client", "price_table"]


class CalledWindow(Record):
    """What the model was shown."""

    first_version: Integer
    last_version: Integer
    digest: Id = Field(description="of the messages as they were sent")


class ModelCalled(Event):
    """A model was asked and answered, failed, or was cancelled."""

    type: ClassVar[str] = "model.called"

    model_call_id: Id = Field(default_factory=new_event_id)
    provider: Id = Field(description="like openai")
    request_model: Id = Field(description="the model that was asked for")
    response_model: Id | None = Field(default=None, description="the model that answered")
    response_id: Id | None = Field(default=None, description="the provider's id of the answer")
    input_tokens: Count = Field(description="cached ones included")
    cache_read_input_tokens: Count | None = Field(default=None, description="part of input_tokens")
    cache_creation_input_tokens: Count | None = Field(
        default=None, description="part of input_tokens"
    )
    output_tokens: Count
    reasoning_output_tokens: Count | None = Field(default=None, description="part of output_tokens")
    cost: Cost | None = None
    duration_ms: Span
    time_to_first_chunk_ms: Span | None = None
    finish_reason: Id | None = Field(default=None, description="as the provider says it")
    status: Literal["completed", "failed", "cancelled"] = "completed"
    error: ModelFailure | None = None
    attempt: Ordinal = 1
    window: CalledWindow | None = Field(default=None, description="what the model was shown")
