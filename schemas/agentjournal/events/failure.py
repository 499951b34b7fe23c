"""What went wrong: the errors inside events."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agentjournal.events.base import Record
from agentjournal.events.fields import Id, Integer, Text


class Failure(Record):
    """Why a turn, a step or a handoff failed."""

    type: Id = Field(default="error", description="a class of errors, like timeout")
    message: Text
    code: Text | None = None
    retryable: bool | None = None


class ToolFailure(Record):
    """Why a tool call failed."""

    type: Literal["error", "timeout", "denied", "cancelled", "invalid_arguments"] = "error"
    message: Text
    code: Text | None = None
    retryable: bool = False


class ModelFailure(Record):
    """Why a model call failed."""

    type: Id
    message: Text
    http_status: Integer | None = None
