"""From what a plan has come to and what is wanted of it to events: pure, the time is given.

An empty list says that it is so already. What cannot be is PlanRefused.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from agentjournal.digests import idempotency_key
from agentjournal.errors import NeedsVerification, PlanRefused
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
    StepSettled,
    StepSkipped,
    StepStarted,
)
from agentjournal.events.decode import rejection
from agentjournal.events.tool import SettledBy
from agentjournal.ids import StreamId
from agentjournal.outcomes import NOT_DONE, failure_of, output_and_result
from agentjournal.plan_rules import (
    Standing,
    check_steps,
    names_of,
    next_attempt,
    retry_at,
    standing,
    standing_of,
    unsatisfied,
)
from agentjournal.planning import Moment, PlanState, StepOutcome, StepState
from agentjournal.tool_calls import NOT_DONE_CODE

_WHY: dict[Standing, str] = {
    "blocked": "waits for other steps",
    "waiting": "waits for its next attempt",
    "running": "is run by somebody",
    "failed": "failed, and is not tried again by itself",
    "finished": "is finished",
}


def creation(stream: StreamId, held: PlanState, wanted: PlanCreated) -> list[Event]:
    """Return what creates a plan; asked for again in the same words it is there already."""
    check_steps(wanted.steps)
    if held.version is None:
        return [wanted]
    if held.created is None or held.created.encoded() != wanted.encoded():
        raise PlanRefused(stream, wanted.plan_id, "was created with another goal or other steps")
    return []


def next_steps(
    stream: StreamId, plan: PlanState, now: Moment, busy: Sequence[str] = ()
) -> list[StepState]:
    """Return the steps that may run now and are not `busy`, in the order of the plan.

    Raises NeedsVerification when there are none, and somebody must say what came of one.
    """
    if plan.status != "open":
        return []
    ready = [s for s in standing_of(plan, now, "ready") if s.step_id not in busy]
    if not ready and not busy and (unknown := standing_of(plan, now, "unknown")):
        raise NeedsVerification(stream, unknown)
    return ready


def beginning(
    stream: StreamId, plan: PlanState, step_id: str, now: Moment, lease_s: float
) -> StepStarted:
    """Return what begins the next attempt of a step. Raises PlanRefused, NeedsVerification."""
    if plan.status != "open":
        raise PlanRefused(stream, plan.plan_id, f"is {plan.status}")
    step = step_of(stream, plan, step_id)
    if not plan.names(step):
        raise PlanRefused(stream, plan.plan_id, f"has no step {step_id!r} any more", [step])
    stands = standing(plan, step, now)
    if stands == "unknown":
        raise NeedsVerification(stream, [step])
    if stands != "ready":
        missing = ", ".join(unsatisfied(plan, step)) if stands == "blocked" else ""
        why = f"step {step_id!r} {_WHY[stands]}" + (f": {missing}" if missing else "")
        raise PlanRefused(stream, plan.plan_id, why, [step])
    return started(stream, plan, step, lease_s)


def started(stream: StreamId, plan: PlanState, step: StepState, lease_s: float) -> StepStarted:
    """Return what begins the next attempt of a step, whether or not it should."""
    attempt, group = next_attempt(step)
    key = step.idempotency_key if group == step.attempt_group else None
    # Ids hold no NUL, so no two steps have one name.
    what = f"step:{plan.plan_id}\0{step.step_id}"
    return StepStarted(
        plan_id=plan.plan_id,
        step_id=step.step_id,
        attempt=attempt,
        attempt_group=group,
        idempotency_key=key or idempotency_key(stream, what, group),
        lease_s=lease_s,
    )


def completion_of(begun: StepStarted, result: Any) -> StepCompleted:
    """Return that an attempt ended well."""
    return StepCompleted(**_attempt_of(begun), result=result)


def failure_of_step(
    begun: StepStarted, step: StepState, error: BaseException | str | Failure, now: datetime
) -> StepFailed:
    """Return that an attempt ended badly, and when its policy has it tried again."""
    failure = failed_with(error)
    cause = error if isinstance(error, BaseException) else Exception()
    retry = None if step.planned is None else step.planned.retry
    due = retry_at(retry, step, names_of(cause, failure), now)
    return StepFailed(**_attempt_of(begun), error=failure, retry_at=due)


def failed_with(error: BaseException | str | Failure) -> Failure:
    """Return how the error of a step stands in the log."""
    if isinstance(error, Failure):
        return error
    found = failure_of(error)
    return Failure(
        type=found.type, message=found.message, code=found.code, retryable=found.retryable
    )


def _attempt_of(begun: StepStarted) -> dict[str, Any]:
    return {
        "plan_id": begun.plan_id,
        "step_id": begun.step_id,
        "attempt": begun.attempt,
        "attempt_group": begun.attempt_group,
    }


def settlement(  # noqa: PLR0913 - what is recorded of it
    stream: StreamId,
    plan: PlanState,
    step_id: str,
    *,
    output: Any = None,
    error: BaseException | str | Failure | None = None,
    settled_by: SettledBy = "person",
    evidence: Any = None,
) -> list[Event]:
    """Return what gives a step that was begun its outcome; the first one counts.

    The `output` NOT_DONE says that the effect did not happen: it may be tried again.
    """
    step = step_of(stream, plan, step_id)
    if step.started_version is None:
        raise PlanRefused(stream, plan.plan_id, f"step {step_id!r} was not begun", [step])
    if step.status != "open":
        return []
    failure = None if error is None else failed_with(error)
    if output is NOT_DONE:
        output, failure = None, Failure(message="it did not happen", code=NOT_DONE_CODE)
    elif output is not None and not isinstance(output, str | list):
        output = output_and_result(output)[0]
    outcome: StepOutcome = "completed" if failure is None else "failed"
    try:
        settled = StepSettled(
            plan_id=plan.plan_id,
            step_id=step_id,
            attempt=step.attempt,
            attempt_group=step.attempt_group,
            outcome=outcome,
            output=output,
            error=failure,
            settled_by=settled_by,
            evidence=evidence,
        )
    except ValidationError as wrong:
        raise rejection(wrong) from None
    return [settled]


def skipping(
    stream: StreamId, plan: PlanState, step_id: str, reason: str, now: Moment
) -> list[Event]:
    """Return what says that a step is not needed: one that was not begun, or that failed."""
    step = step_of(stream, plan, step_id)
    match step.status, step.is_open_at(now):
        case "skipped", _:
            return []
        case (("completed" | "rolled_back" as status), _):
            raise PlanRefused(stream, plan.plan_id, f"step {step_id!r} is {status}", [step])
        case _, "running":
            why = f"step {step_id!r} {_WHY['running']}"
            raise PlanRefused(stream, plan.plan_id, why, [step])
        case _, "unknown":
            raise NeedsVerification(stream, [step])
        case _:
            return [StepSkipped(plan_id=plan.plan_id, step_id=step_id, reason=reason)]


def revision(
    stream: StreamId, plan: PlanState, steps: Sequence[PlannedStep], reason: str
) -> list[Event]:
    """Return what gives a plan other steps: finished ones stay, whether or not they are named.

    Those that were begun and have no outcome must be named, and as they were.
    """
    wanted = {step.step_id: step for step in steps}
    held = {s.step_id: s for s in plan.steps.values() if plan.names(s) and s.planned is not None}
    kept = {name: s for name, s in held.items() if _stays(s)}
    changed = [s for n, s in kept.items() if n in wanted and _differs(wanted[n], s.planned)]
    dropped = [s for n, s in kept.items() if n not in wanted and s.status == "open"]
    if changed:
        named = ", ".join(step.step_id for step in changed)
        why = f"begun or finished, cannot become other steps: {named}"
        raise PlanRefused(stream, plan.plan_id, why, changed)
    if dropped:
        named = ", ".join(step.step_id for step in dropped)
        raise PlanRefused(stream, plan.plan_id, f"begun, cannot be left out: {named}", dropped)
    finished = [s.planned for n, s in kept.items() if n not in wanted and s.planned is not None]
    revised = [*finished, *steps]
    check_steps(revised)
    if _written(revised) == _written([s.planned for s in held.values() if s.planned is not None]):
        return []
    return [PlanRevised(plan_id=plan.plan_id, steps=revised, reason=reason)]


def _stays(step: StepState) -> bool:
    return step.status not in {"open", "failed"} or (
        step.status == "open" and step.started_version is not None
    )


def _written(steps: Sequence[PlannedStep]) -> bytes:
    """Return steps as the log has them: they are the same when this is."""
    return PlanCreated(plan_id="p", goal="", steps=list(steps)).encoded()


def _differs(wanted: PlannedStep, held: PlannedStep | None) -> bool:
    return held is None or _written([wanted]) != _written([held])


def completion(stream: StreamId, plan: PlanState) -> list[Event]:
    """Return what says that the goal is reached: every step is completed or skipped."""
    if plan.status == "completed":
        return []
    if plan.status == "abandoned":
        raise PlanRefused(stream, plan.plan_id, "is abandoned")
    left = [
        step
        for step in plan.steps.values()
        if plan.names(step) and step.status not in {"completed", "skipped"}
    ]
    if left:
        named = ", ".join(f"{step.step_id} ({step.status})" for step in left)
        raise PlanRefused(stream, plan.plan_id, f"has steps that are not done: {named}", left)
    return [PlanCompleted(plan_id=plan.plan_id)]


def abandonment(plan: PlanState, reason: str) -> list[Event]:
    """Return what gives a plan up."""
    if plan.status == "abandoned":
        return []
    return [PlanAbandoned(plan_id=plan.plan_id, reason=reason)]


def step_of(stream: StreamId, plan: PlanState, step_id: str) -> StepState:
    """Return a step of a plan by its id. Raises PlanRefused."""
    step = plan.known.get(step_id)
    if step is None:
        raise PlanRefused(stream, plan.plan_id, f"has no step {step_id!r}")
    return step
