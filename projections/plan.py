"""plan: plans, their steps, decisions, and the checkpoints that agents save.

Of a session and of a task alike. What JSON an event holds stays in `events`: rows say by version
where it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentjournal.envelope import Recorded
from agentjournal.stored import later
from projections.columns import Apply, folding, key_of, owner, present, row_of
from projections.plain_text import storable
from projections.plan_tables import CHECKPOINTS, DECISIONS, PLANS, STEPS
from projections.projection import Projection, read_sql
from projections.rows import Changes, Row

_GROUP = 64  # bits below it are the attempt's: it stays below 2 ** 63


def _planned(r: Recorded, data: Any, changes: Changes, **columns: Any) -> None:
    row = row_of(r, plan_id=data["plan_id"], planned_version=r.version, status="open", **columns)
    changes.add("plans", row)
    for index, step in enumerate(data["steps"]):
        planned = _step(
            r,
            {"plan_id": data["plan_id"], "step_id": step["step_id"]},
            planned_version=r.version,
            planned_index=index,
            title=storable(step["title"]),
            tool=step.get("tool") or "",
            effect=step["effect"],
        )
        changes.add("steps", planned)


def _created(r: Recorded, data: Any, changes: Changes) -> None:
    _planned(r, data, changes, goal=storable(data["goal"]), created_at=r.recorded_at)


def _revised(r: Recorded, data: Any, changes: Changes) -> None:
    _planned(r, data, changes, revisions=1, revised_at=r.recorded_at)


def _plan_ended(status: str) -> Apply:
    def apply(r: Recorded, data: Any, changes: Changes) -> None:
        row = row_of(
            r,
            plan_id=data["plan_id"],
            status=status,
            reason=present(data.get("reason")),
            ended_version=r.version,
            ended_at=r.recorded_at,
        )
        changes.add("plans", row)

    return apply


def _step(r: Recorded, data: Mapping[str, Any], **columns: Any) -> Row:
    step_id = data["step_id"]
    named = {"plan_id": data["plan_id"], "step_key": key_of(step_id), "step_id": step_id}
    return row_of(r, **named, **columns)


def _rank(data: Mapping[str, Any]) -> int:
    """Return what orders attempts: groups first, whether or not the count goes on in the next."""
    rank: int = data["attempt_group"] << _GROUP | data["attempt"]
    return rank


def _step_started(r: Recorded, data: Any, changes: Changes) -> None:
    row = _step(
        r,
        data,
        attempt=_rank(data),
        idempotency_key=data["idempotency_key"],
        started_version=r.version,
        started_at=r.recorded_at,
        lease_until=later(r.recorded_at, data["lease_s"]),
        fence=r.fence or 0,  # None would let another start of the attempt say it
    )
    changes.add("steps", row)


def _step_ended(outcome: str | None) -> Apply:
    def apply(r: Recorded, data: Any, changes: Changes) -> None:
        error = data.get("error") or {}
        row = _step(
            r,
            data,
            attempt=_rank(data),
            outcome=outcome or data["outcome"],
            ended_version=r.version,
            ended_at=r.recorded_at,
            error_type=error.get("type"),
            error_message=storable(error.get("message")),
            retry_at=data.get("retry_at"),
            settled_by=data.get("settled_by"),
        )
        changes.add("steps", row)

    return apply


def _step_skipped(r: Recorded, data: Any, changes: Changes) -> None:
    said = {"skipped_at": r.recorded_at, "skip_reason": storable(data["reason"])}
    changes.add("steps", _step(r, data, skipped_version=r.version, **said))


def _step_rolled_back(r: Recorded, data: Any, changes: Changes) -> None:
    said = {"rolled_back_at": r.recorded_at, "rolled_back_by": data.get("by_step") or ""}
    changes.add("steps", _step(r, data, rolled_back_version=r.version, **said))


def _decided(r: Recorded, data: Any, changes: Changes) -> None:
    whose = owner(r.stream)
    changes.insert(
        "decisions",
        (
            r.stream,
            r.version,
            whose["tenant"],
            whose["session_id"],
            whose["task_id"],
            storable(data["question"]),
            storable(data["reason"]),
            data["by"],
            r.recorded_at,
        ),
    )


def _saved(r: Recorded, data: Any, changes: Changes) -> None:
    row = row_of(
        r,
        checkpoint_id=data["checkpoint_id"],
        saved_version=r.version,
        saved_at=r.recorded_at,
        label=present(data.get("label")),
        state_schema_version=data["schema_version"],
        artifact=data.get("artifact") or "",
    )
    changes.add("checkpoints", row)


def _restored(r: Recorded, data: Any, changes: Changes) -> None:
    said = {"restores": 1, "restored_version": r.version, "restored_at": r.recorded_at}
    changes.add("checkpoints", row_of(r, checkpoint_id=data["checkpoint_id"], **said))


_APPLY: Mapping[str, Apply] = {
    "plan.created": _created,
    "plan.revised": _revised,
    "plan.completed": _plan_ended("completed"),
    "plan.abandoned": _plan_ended("abandoned"),
    "step.started": _step_started,
    "step.completed": _step_ended("completed"),
    "step.failed": _step_ended("failed"),
    "step.settled": _step_ended(None),
    "step.skipped": _step_skipped,
    "step.rolled_back": _step_rolled_back,
    "decision.made": _decided,
    "checkpoint.saved": _saved,
    "checkpoint.restored": _restored,
}

PLAN = Projection(
    name="plan",
    tables=(PLANS, STEPS, DECISIONS, CHECKPOINTS),
    fold=folding(_APPLY),
    kinds=frozenset({"session", "task"}),
    types=dict.fromkeys(_APPLY, 1),
    sql=read_sql("plan.sql"),
    every_event=False,
)
