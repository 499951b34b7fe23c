"""Tool calls: what a worker began, and what came of it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from agentjournal.events.base import Event
from agentjournal.events.failure import ToolFailure
from agentjournal.events.fields import Id, Ordinal, Span, Text
from agentjournal.events.parts import Output

Effect = Literal["read", "idempotent", "external"]
SettledBy = Literal["verifier", "person", "policy"]


class ToolStarted(Event):
    """A worker is about to run a tool: recorded before the effect."""

    type: ClassVar[str] = "tool.started"

    call_id: Id
    tool: Id
    arguments_text: Text = Field(description="JSON text of the arguments")
    arguments_digest: Id = Field(description="what an approval is bound to")
    effect: Effect = Field(description="whether it may be run again: external may not")
    idempotency_key: Id = Field(description="the same for every attempt of an unknown outcome")
    attempt: Ordinal = 1
    lease_s: Span = Field(description="after it the outcome is unknown until it is settled")
    kind: Literal["function", "mcp", "provider"] = "function"
    server: Id | None = Field(default=None, description="the MCP server that has the tool")
    step_id: Id | None = Field(default=None, description="the step of a plan that it is for")
    approval_id: Id | None = Field(default=None, description="the grant that allows it")


class ToolCompleted(Event):
    """A tool call ended well."""

    type: ClassVar[str] = "tool.completed"

    call_id: Id
    attempt: Ordinal = 1
    output: Output = Field(description="text or parts: what the model sees")
    result: Any = Field(default=None, description="the structured result")
    duration_ms: Span
    cached_from: Id | None = Field(default=None, description="the call whose result this is")


class ToolFailed(Event):
    """A tool call ended badly, and that is known."""

    type: ClassVar[str] = "tool.failed"

    call_id: Id
    attempt: Ordinal = 1
    error: ToolFailure
    output: Output | None = Field(default=None, description="text or parts: what the model sees")


class ToolSettled(Event):
    """A call whose outcome was unknown has one now."""

    type: ClassVar[str] = "tool.settled"

    call_id: Id
    outcome: Literal["completed", "failed"]
    output: Output | None = None
    error: ToolFailure | None = None
    settled_by: SettledBy
    evidence: Any = Field(default=None, description="why this is the outcome")
