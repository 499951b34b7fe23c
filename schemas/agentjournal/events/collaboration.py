"""Work between agents and people: handoffs, approvals, questions, feedback."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from agentjournal.events.base import Event, Record
from agentjournal.events.failure import Failure
from agentjournal.events.fields import Amount, Count, Currency, Id, Number, Text, Time


class Money(Record):
    """An amount of a currency."""

    amount: Amount
    currency: Currency


class Constraints(Record):
    """What the other agent may use."""

    max_tool_calls: Count | None = None
    tools: list[Id] | None = None
    deadline_at: Time | None = None
    max_tokens: Count | None = None
    max_cost: Money | None = None


class HandoffRequested(Event):
    """Another agent is asked to take over a task, or the conversation."""

    type: ClassVar[str] = "handoff.requested"

    handoff_id: Id
    mode: Literal["delegate", "transfer"] = Field(
        description="delegate: in a child session of its own; transfer: in the same conversation"
    )
    to_agent: Id
    child_session_id: Id | None = Field(default=None, description="of a delegate")
    task: Text = Field(description="what is to be done")
    context: list[Any] = Field(default_factory=list[Any], description="what it needs to know")
    constraints: Constraints = Field(default_factory=Constraints, description="what it may use")


class HandoffAccepted(Event):
    """The other agent began."""

    type: ClassVar[str] = "handoff.accepted"

    handoff_id: Id


class HandoffCompleted(Event):
    """The other agent's result."""

    type: ClassVar[str] = "handoff.completed"

    handoff_id: Id
    summary: Text
    data: Any = Field(default=None, description="the structured result")
    usage: Any = Field(default=None, description="what it used")


class HandoffFailed(Event):
    """The other agent could not do it."""

    type: ClassVar[str] = "handoff.failed"

    handoff_id: Id
    error: Failure


class ApprovalRequested(Event):
    """Somebody is asked to allow something."""

    type: ClassVar[str] = "approval.requested"

    approval_id: Id
    question: Text
    call_id: Id | None = Field(default=None, description="the tool call that waits for it")
    arguments_digest: Id | None = Field(
        default=None, description="a grant holds for these arguments only"
    )
    choices: list[Text] | None = None
    expires_at: Time | None = None
    requested_of: Id | None = Field(default=None, description="who should answer")


class ApprovalGranted(Event):
    """It is allowed, for exactly the arguments that were asked about or the edited ones."""

    type: ClassVar[str] = "approval.granted"

    approval_id: Id
    by: Id
    comment: Text | None = None
    edited_arguments_text: Text | None = Field(
        default=None, description="the arguments that are allowed in place of those asked about"
    )


class ApprovalDenied(Event):
    """It is not allowed."""

    type: ClassVar[str] = "approval.denied"

    approval_id: Id
    by: Id
    comment: Text | None = None


class ApprovalExpired(Event):
    """Nobody answered in time."""

    type: ClassVar[str] = "approval.expired"

    approval_id: Id


class InputRequested(Event):
    """Somebody is asked for something that the agent needs to know."""

    type: ClassVar[str] = "input.requested"

    input_id: Id
    question: Text
    answer_schema: Any = Field(
        default=None, alias="schema", description="JSON schema of the answer"
    )


class InputProvided(Event):
    """The answer."""

    type: ClassVar[str] = "input.provided"

    input_id: Id
    by: Id
    value: Any


class Target(Record):
    """What a feedback is about."""

    kind: Id = Field(description="like message, turn or session")
    id: Id


class FeedbackGiven(Event):
    """Somebody judged something."""

    type: ClassVar[str] = "feedback.given"

    target: Target
    score: Number | None = None
    label: Text | None = None
    comment: Text | None = None
    by: Id
