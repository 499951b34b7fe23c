"""Plans and their steps."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from agentjournal.events.base import Event, Record
from agentjournal.events.failure import Failure
from agentjournal.events.fields import Id, Ordinal, Span, Text, Time
from agentjournal.events.parts import Output
from agentjournal.events.tool import Effect, SettledBy


class Retry(Record):
    """When a failed step is tried again."""

    max_attempts: Ordinal
    backoff_s: list[Span] = Field(
        default_factory=list[int | float], description="waits between attempts; the last repeats"
    )
    on: list[Id] = Field(default_factory=list[str], description="types of errors; empty: all")


class PlannedStep(Record):
    """A step of a plan, before it is run."""

    step_id: Id
    title: Text
    tool: Id | None = None
    arguments: Any = None
    depends_on: list[Id] = Field(
        default_factory=list[str], description="steps that must be completed before"
    )
    effect: Effect = Field(
        default="external", description="whether it may be run again: external may not"
    )
    retry: Retry | None = None
    compensation: Any = Field(default=None, description="what undoes it")


class PlanCreated(Event):
    """The agent made a plan."""

    type: ClassVar[str] = "plan.created"

    plan_id: Id
    goal: Text
    steps: list[PlannedStep]


class PlanRevised(Event):
    """The plan has these steps from here on; what was done stays done."""

    type: ClassVar[str] = "plan.revised"

    plan_id: Id
    steps: list[PlannedStep]
    reason: Text


class PlanCompleted(Event):
    """The plan's goal is reached."""

    type: ClassVar[str] = "plan.completed"

    plan_id: Id


class PlanAbandoned(Event):
    """The plan is given up."""

    type: ClassVar[str] = "plan.abandoned"

    plan_id: Id
    reason: Text


class _StepEvent(Event):
    plan_id: Id
    step_id: Id
    attempt: Ordinal = 1
    attempt_group: Ordinal = Field(
        default=1, description="a recorded failure begins the next group"
    )


class StepStarted(_StepEvent):
    """A worker is about to run a step: recorded before the effect."""

    type: ClassVar[str] = "step.started"

    idempotency_key: Id = Field(description="the same for every attempt of an unknown outcome")
    lease_s: Span = Field(description="after it the outcome is unknown until it is settled")


class StepCompleted(_StepEvent):
    """A step ended well."""

    type: ClassVar[str] = "step.completed"

    result: Any = None


class StepFailed(_StepEvent):
    """A step ended badly, and that is known."""

    type: ClassVar[str] = "step.failed"

    error: Failure
    retry_at: Time | None = Field(default=None, description="when a worker should try again")


class StepSkipped(_StepEvent):
    """A step is not needed."""

    type: ClassVar[str] = "step.skipped"

    reason: Text


class StepRolledBack(_StepEvent):
    """What a step did was undone."""

    type: ClassVar[str] = "step.rolled_back"

    by_step: Id | None = Field(default=None, description="the step that undid it")


class StepSettled(_StepEvent):
    """A step whose outcome was unknown has one now."""

    type: ClassVar[str] = "step.settled"

    outcome: Literal["completed", "failed"]
    output: Output | None = Field(default=None, description="text or parts")
    error: Failure | None = None
    settled_by: SettledBy
    evidence: Any = Field(default=None, description="why this is the outcome")
