"""What may be done with a step now, and what a plan may be: pure, the time is given.

A step waits for those that it depends on, which are completed or skipped. One that was cut off is
run again under the same key, unless its effect is external: then somebody must say what came of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from typing import Literal, TypeAlias

from agentjournal.errors import AppendRejected
from agentjournal.events import Failure, PlannedStep, Retry
from agentjournal.planning import Moment, PlanState, StepState
from agentjournal.stored import written_time
from agentjournal.tool_calls import NOT_DONE_CODE

Standing: TypeAlias = Literal[
    "ready", "blocked", "waiting", "running", "unknown", "failed", "finished"
]
UNDOING = "undo:"  # begins the ids of steps that undo another; ids of plans do not begin with it

_AT_ONCE = datetime.min.replace(tzinfo=UTC)
_FAR = datetime.max.replace(tzinfo=UTC, microsecond=0)
_FINISHED = frozenset({"completed", "skipped", "rolled_back"})
_SATISFIES = frozenset({"completed", "skipped"})


def standing(plan: PlanState, step: StepState, now: Moment) -> Standing:
    """Return what may be done with a step: only one that is `ready` may run."""
    begun = step.is_open_at(now)
    if step.status in _FINISHED:
        return "finished"
    if begun == "running" or (begun == "unknown" and must_be_settled(step)):
        return begun
    due = retry_due(step) if step.status == "failed" else _AT_ONCE
    if due is None:
        return "failed"
    if unsatisfied(plan, step):
        return "blocked"
    return "ready" if due <= now.at else "waiting"


def must_be_settled(step: StepState) -> bool:
    """Whether a step whose outcome is unknown may not just be run again."""
    retry = None if step.planned is None else step.planned.retry
    return step.effect == "external" or (retry is not None and step.attempt >= retry.max_attempts)


def unsatisfied(plan: PlanState, step: StepState) -> list[str]:
    """Return the ids of the steps that it waits for."""
    needed = () if step.planned is None else step.planned.depends_on
    known = plan.known
    return [s for s in needed if s not in known or known[s].status not in _SATISFIES]


def retry_due(step: StepState) -> datetime | None:
    """Return when a failed step is tried again, None when it is not."""
    error, retry = step.error, None if step.planned is None else step.planned.retry
    if error is not None and error.code == NOT_DONE_CODE:
        return _AT_ONCE
    if step.settled_by is None:
        return None if step.retry_at is None else datetime.fromisoformat(step.retry_at)
    names = () if error is None else (error.type, error.code)
    return _AT_ONCE if retry is not None and _may_retry(retry, step.attempt, names) else None


def retry_at(
    retry: Retry | None, step: StepState, names: Collection[str | None], now: datetime
) -> str | None:
    """Return when the attempt that just failed is to be tried again, None for never.

    `names` are those of the error that the policy may go by.
    """
    if retry is None or not _may_retry(retry, step.attempt, names):
        return None
    waits = retry.backoff_s or [0]
    wait_s = waits[min(step.attempt_group, len(waits)) - 1]
    try:
        due = now + timedelta(seconds=wait_s)
    except OverflowError:
        due = _FAR
    return written_time(due)


def _may_retry(retry: Retry, attempt: int, names: Collection[str | None]) -> bool:
    return attempt < retry.max_attempts and (not retry.on or any(n in retry.on for n in names))


def next_attempt(step: StepState) -> tuple[int, int]:
    """Return (attempt, attempt_group) of the next one.

    A recorded failure begins the next group; what nobody knows of, or did not happen, does not.
    """
    if not step.attempt:
        return 1, 1
    is_not_done = step.error is not None and step.error.code == NOT_DONE_CODE
    return step.attempt + 1, step.attempt_group + (step.outcome == "failed" and not is_not_done)


def standing_of(plan: PlanState, now: Moment, *which: Standing) -> list[StepState]:
    """Return the steps of the plan as it is now that stand so, in its order."""
    return [
        step
        for step in plan.steps.values()
        if plan.names(step) and standing(plan, step, now) in which
    ]


def changes_at(plan: PlanState, now: Moment) -> datetime | None:
    """Return when by itself something changes next: a retry is due, or a lease has passed."""
    if plan.status != "open":
        return None
    found = [
        step.lease_until if step.status == "open" else retry_due(step)
        for step in standing_of(plan, now, "running", "waiting")
    ]
    return min((each for each in found if each is not None and each > now.at), default=None)


def undo_id(step_id: str) -> str:
    """Return the id of the step that undoes another."""
    named = UNDOING + step_id
    return named if len(named) <= 255 else UNDOING + sha256(step_id.encode()).hexdigest()


def to_undo(plan: PlanState) -> list[StepState]:
    """Return the steps whose effects stand, the last completed first."""
    standing_effects = [
        step
        for step in plan.known.values()
        if step.status == "completed"
        and step.effect != "read"
        and not step.step_id.startswith(UNDOING)
    ]
    return sorted(standing_effects, key=lambda step: step.ended_version or 0, reverse=True)


def check_steps(steps: Sequence[PlannedStep]) -> None:
    """Raise AppendRejected unless ids are different, and dependencies are of the plan and end."""
    places: dict[str, int] = {}
    for index, step in enumerate(steps):
        place = f"steps[{index}]"
        if step.step_id in places:
            reason = f"{step.step_id!r} is the id of steps[{places[step.step_id]}] too"
            raise AppendRejected(f"{place}.step_id", reason)
        if step.step_id.startswith(UNDOING):
            raise AppendRejected(f"{place}.step_id", f"begins with {UNDOING!r}, which is reserved")
        places[step.step_id] = index
    for index, step in enumerate(steps):
        for at, needed in enumerate(step.depends_on):
            if needed not in places:
                place = f"steps[{index}].depends_on[{at}]"
                raise AppendRejected(place, f"the plan has no step {needed!r}")
    try:
        TopologicalSorter({step.step_id: step.depends_on for step in steps}).prepare()
    except CycleError as error:
        circle = " → ".join(error.args[1])
        place = f"steps[{places[error.args[1][0]]}].depends_on"
        raise AppendRejected(place, f"goes in a circle: {circle}") from None


def names_of(error: BaseException, failure: Failure) -> set[str | None]:
    """Return the names that a retry policy may call an error by: its kind, and its classes."""
    return {failure.type, failure.code, *(each.__name__ for each in type(error).__mro__)}


Undo: TypeAlias = Callable[..., object]


def undo_of(compensations: Mapping[str, Undo | None], step: StepState) -> tuple[bool, Undo | None]:
    """Return (whether there is something for a step, what undoes it or None for nothing to do).

    Found by the step's id, else by its `compensation` where that is a name, else by its tool.
    """
    planned = step.planned
    names = [step.step_id]
    if planned is not None:
        names += [n for n in (planned.compensation, planned.tool) if isinstance(n, str)]
    for name in names:
        if name in compensations:
            return True, compensations[name]
    return False, None
