"""Plans and their steps: what their events come to.

The first outcome of an attempt counts, and attempts are in the order of (attempt_group, attempt):
what belongs to an earlier one than the last comes too late.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

from agentjournal.events import (
    Event,
    Failure,
    PlanAbandoned,
    PlanCompleted,
    PlanCreated,
    PlannedStep,
    PlanRevised,
    StepCompleted,
    StepFailed,
    StepRolledBack,
    StepSettled,
    StepSkipped,
    StepStarted,
)
from agentjournal.events.tool import Effect
from agentjournal.ids import Version
from agentjournal.stored import Foldable, later

StepOutcome: TypeAlias = Literal["completed", "failed"]
StepStatus: TypeAlias = Literal["open", "completed", "failed", "skipped", "rolled_back"]
PlanStatus: TypeAlias = Literal["open", "completed", "abandoned"]

_NONE = Version(0)


class Moment(NamedTuple):
    """When something is decided, and what was not begun by oneself."""

    at: datetime
    held_from: int | None = None
    """The version from which on another worker has held the stream, and holds it still."""


@dataclass(frozen=True, slots=True)
class StepState:
    """A step, and what its last attempt came to."""

    step_id: str
    version: Version  # of the event that first named it
    planned: PlannedStep | None = None  # None: no plan ever named it
    planned_version: Version | None = None
    planned_index: int | None = None
    attempt: int = 0  # 0: not begun
    attempt_group: int = 0
    idempotency_key: str | None = None
    started_version: Version | None = None
    started_at: str | None = None  # the broker's clock
    lease_until: datetime | None = None  # after it the outcome of an open one is unknown
    outcome: StepOutcome | None = None
    result: Any = None
    error: Failure | None = None
    retry_at: str | None = None
    settled_by: str | None = None
    ended_version: Version | None = None
    skipped_version: Version | None = None
    skip_reason: str | None = None
    rolled_back_version: Version | None = None
    rolled_back_by: str | None = None

    @property
    def status(self) -> StepStatus:
        """What the step has come to; whether an open one is unknown depends on the time."""
        begun = max(self.started_version or _NONE, self.ended_version or _NONE)
        skipped = self.skipped_version or _NONE
        if (self.rolled_back_version or _NONE) > max(begun, skipped):
            return "rolled_back"
        if self.outcome == "completed":
            return "completed"
        return "skipped" if skipped > begun else self.outcome or "open"

    @property
    def effect(self) -> Effect:
        """What running it does; what no plan ever named is taken for external."""
        return "external" if self.planned is None else self.planned.effect

    def is_open_at(self, now: Moment) -> Literal["running", "unknown"] | None:
        """Whether an attempt without an outcome is under its lease, or past it; else None."""
        if self.status != "open" or self.started_version is None:
            return None
        is_live = self.lease_until is None or now.at < self.lease_until
        is_held = now.held_from is not None and self.started_version > now.held_from
        return "running" if is_live or is_held else "unknown"

    @property
    def was_touched(self) -> bool:
        """Whether something happened to it: a revision cannot take it away."""
        return (
            self.started_version or self.ended_version or self.skipped_version
        ) is not None or self.rolled_back_version is not None


@dataclass(frozen=True, slots=True)
class PlanState:
    """A plan, and what its steps have come to."""

    plan_id: str
    version: Version | None = None  # of its first event; None: only its steps were named
    created: PlanCreated | None = None
    status: PlanStatus = "open"
    reason: str | None = None  # why it was given up
    planned_version: Version | None = None  # of the event that named its steps last
    revisions: int = 0
    ended_version: Version | None = None
    known: Mapping[str, StepState] = field(default_factory=dict[str, StepState])
    """Every step that was ever named, those among them that a revision took away."""

    @property
    def goal(self) -> str:
        """What the plan is for."""
        return "" if self.created is None else self.created.goal

    @property
    def steps(self) -> dict[str, StepState]:
        """The steps of the plan in its order, then those begun that it names no more."""
        named = [step for step in self.known.values() if self.names(step)]
        named.sort(key=lambda step: step.planned_index or 0)
        others = [s for s in self.known.values() if s.was_touched and not self.names(s)]
        return {step.step_id: step for step in [*named, *others]}

    def names(self, step: StepState) -> bool:
        """Whether a step is one of the plan as it is now."""
        return step.planned_version is not None and step.planned_version == self.planned_version

    def with_step(self, step: StepState) -> PlanState:
        """Return the plan with a step as it is now."""
        return replace(self, known={**self.known, step.step_id: step})


Plans: TypeAlias = dict[str, PlanState]
_StepEvent: TypeAlias = (
    StepStarted | StepCompleted | StepFailed | StepSettled | StepSkipped | StepRolledBack
)


def _planned(plans: Plans, event: PlanCreated | PlanRevised, recorded: Foldable) -> None:
    version, plan = recorded.version, _plan_of(plans, event, recorded)
    known = dict(plan.known)
    for index, planned in enumerate(event.steps):
        held = known.get(planned.step_id) or StepState(planned.step_id, version)
        known[planned.step_id] = replace(
            held, planned=planned, planned_version=version, planned_index=index
        )
    created = event if isinstance(event, PlanCreated) else None
    plans[event.plan_id] = replace(
        plan,
        created=plan.created or created,
        status="open",
        reason=None,
        planned_version=version,
        revisions=plan.revisions + (created is None),
        ended_version=None,
        known=known,
    )


def _plan_ended(plans: Plans, event: PlanCompleted | PlanAbandoned, recorded: Foldable) -> None:
    reason = event.reason if isinstance(event, PlanAbandoned) else None
    plans[event.plan_id] = replace(
        _plan_of(plans, event, recorded),
        status="completed" if reason is None else "abandoned",
        reason=reason,
        ended_version=recorded.version,
    )


def _plan_of(plans: Plans, event: Any, recorded: Foldable) -> PlanState:
    plan = plans.get(event.plan_id) or PlanState(event.plan_id)
    return plan if plan.version is not None else replace(plan, version=recorded.version)


def _started(step: StepState, event: StepStarted, recorded: Foldable) -> StepState:
    step = _of_attempt(step, event)
    if _is_late(step, event):
        return step
    until = step.lease_until or later(recorded.recorded_at, event.lease_s)
    return replace(
        step,
        idempotency_key=step.idempotency_key or event.idempotency_key,
        started_version=step.started_version or recorded.version,
        started_at=step.started_at or recorded.recorded_at,
        lease_until=until,
    )


def _ended(
    step: StepState, event: StepCompleted | StepFailed | StepSettled, recorded: Foldable
) -> StepState:
    step = _of_attempt(step, event)
    if _is_late(step, event) or step.outcome is not None:
        return step
    ended = replace(step, ended_version=recorded.version)
    match event:
        case StepCompleted():
            return replace(ended, outcome="completed", result=event.result)
        case StepFailed():
            return replace(ended, outcome="failed", error=event.error, retry_at=event.retry_at)
        case StepSettled():
            return replace(
                ended,
                outcome=event.outcome,
                result=event.output,
                error=event.error,
                settled_by=event.settled_by,
            )


def _skipped(step: StepState, event: StepSkipped, recorded: Foldable) -> StepState:
    return replace(step, skipped_version=recorded.version, skip_reason=event.reason)


def _rolled_back(step: StepState, event: StepRolledBack, recorded: Foldable) -> StepState:
    return replace(step, rolled_back_version=recorded.version, rolled_back_by=event.by_step)


def _rank(of: StepState | _StepEvent) -> tuple[int, int]:
    return of.attempt_group, of.attempt


def _is_late(step: StepState, event: _StepEvent) -> bool:
    return _rank(event) < _rank(step)


def _of_attempt(step: StepState, event: _StepEvent) -> StepState:
    """Return the step as a later attempt begins, without what the one before came to."""
    if _rank(event) <= _rank(step):
        return step
    return StepState(
        step.step_id,
        step.version,
        step.planned,
        step.planned_version,
        step.planned_index,
        event.attempt,
        event.attempt_group,
        skipped_version=step.skipped_version,
        skip_reason=step.skip_reason,
        rolled_back_version=step.rolled_back_version,
        rolled_back_by=step.rolled_back_by,
    )


_StepFold: TypeAlias = Callable[[StepState, Any, Foldable], StepState]
_PlanFold: TypeAlias = Callable[[Plans, Any, Foldable], None]


def _of_step(fold: _StepFold) -> _PlanFold:
    def change(plans: Plans, event: _StepEvent, recorded: Foldable) -> None:
        plan = plans.get(event.plan_id) or PlanState(event.plan_id)
        step = plan.known.get(event.step_id) or StepState(event.step_id, recorded.version)
        plans[event.plan_id] = plan.with_step(fold(step, event, recorded))

    return change


PLAN_FOLDS: Mapping[type[Event], _PlanFold] = {
    PlanCreated: _planned,
    PlanRevised: _planned,
    PlanCompleted: _plan_ended,
    PlanAbandoned: _plan_ended,
    StepStarted: _of_step(_started),
    StepCompleted: _of_step(_ended),
    StepFailed: _of_step(_ended),
    StepSettled: _of_step(_ended),
    StepSkipped: _of_step(_skipped),
    StepRolledBack: _of_step(_rolled_back),
}
