"""execution: handoffs, approvals, questions to people, and the leases under which workers write.

Of a request the first stands, and of its answers too. What JSON an event holds stays in `events`:
rows say by version where it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentjournal.envelope import Recorded
from projections.columns import NEVER, Apply, row_of
from projections.execution_tables import APPROVALS, HANDOFFS, INPUTS, LEASES
from projections.plain_text import storable
from projections.projection import Context, Projection, read_sql
from projections.rows import Changes, Row


def _requested(r: Recorded, **columns: Any) -> Row:
    return row_of(r, requested_version=r.version, requested_at=r.recorded_at, **columns)


def _handoff_requested(r: Recorded, data: Any, changes: Changes) -> None:
    row = _requested(
        r,
        handoff_id=data["handoff_id"],
        mode=data["mode"],
        to_agent=data["to_agent"],
        child_session_id=data.get("child_session_id") or "",
        task=storable(data["task"]),
    )
    changes.add("handoffs", row)


def _handoff_accepted(r: Recorded, data: Any, changes: Changes) -> None:
    said = {"accepted_version": r.version, "accepted_at": r.recorded_at}
    changes.add("handoffs", row_of(r, handoff_id=data["handoff_id"], **said))


def _handoff_ended(outcome: str) -> Apply:
    def apply(r: Recorded, data: Any, changes: Changes) -> None:
        error = data.get("error") or {}
        row = row_of(
            r,
            handoff_id=data["handoff_id"],
            outcome=outcome,
            ended_version=r.version,
            ended_at=r.recorded_at,
            summary=storable(data.get("summary")),
            error_type=error.get("type"),
            error_message=storable(error.get("message")),
        )
        changes.add("handoffs", row)

    return apply


def _approval_requested(r: Recorded, data: Any, changes: Changes) -> None:
    row = _requested(
        r,
        approval_id=data["approval_id"],
        question=storable(data["question"]),
        call_id=data.get("call_id") or "",
        arguments_digest=data.get("arguments_digest") or "",
        requested_of=data.get("requested_of") or "",
        expires_at=data.get("expires_at") or NEVER,
    )
    changes.add("approvals", row)


def _approval_answered(outcome: str) -> Apply:
    def apply(r: Recorded, data: Any, changes: Changes) -> None:
        row = row_of(
            r,
            approval_id=data["approval_id"],
            outcome=outcome,
            answered_version=r.version,
            answered_at=r.recorded_at,
            answered_by=data.get("by"),
            comment=storable(data.get("comment")),
            edited_arguments_text=storable(data.get("edited_arguments_text")),
        )
        changes.add("approvals", row)

    return apply


def _input_requested(r: Recorded, data: Any, changes: Changes) -> None:
    asked = {"input_id": data["input_id"], "question": storable(data["question"])}
    changes.add("inputs", _requested(r, **asked))


def _input_provided(r: Recorded, data: Any, changes: Changes) -> None:
    said = {"answered_version": r.version, "answered_at": r.recorded_at, "answered_by": data["by"]}
    changes.add("inputs", row_of(r, input_id=data["input_id"], **said))


def _lease_acquired(r: Recorded, data: Any, changes: Changes) -> None:
    row = row_of(
        r,
        fence=data["fence"],
        holder=data["holder"],
        lease_s=float(data["lease_s"]),
        acquired_at=r.recorded_at,
    )
    changes.add("leases", row)


def _lease_renewed(r: Recorded, data: Any, changes: Changes) -> None:
    said = {"renewals": 1, "renewed_at": r.recorded_at}
    changes.add("leases", row_of(r, fence=data["fence"], **said))


def _lease_released(r: Recorded, data: Any, changes: Changes) -> None:
    said = {"released_version": r.version, "released_at": r.recorded_at}
    changes.add("leases", row_of(r, fence=data["fence"], **said))


_APPLY: Mapping[str, Apply] = {
    "handoff.requested": _handoff_requested,
    "handoff.accepted": _handoff_accepted,
    "handoff.completed": _handoff_ended("completed"),
    "handoff.failed": _handoff_ended("failed"),
    "approval.requested": _approval_requested,
    "approval.granted": _approval_answered("granted"),
    "approval.denied": _approval_answered("denied"),
    "approval.expired": _approval_answered("expired"),
    "input.requested": _input_requested,
    "input.provided": _input_provided,
    "lease.acquired": _lease_acquired,
    "lease.renewed": _lease_renewed,
    "lease.released": _lease_released,
}


def fold(recorded: Recorded, context: Context, changes: Changes) -> Context:
    """Add the event's changes; what is written under a lease extends it, whatever it says."""
    apply = _APPLY.get(recorded.type)
    if apply is not None:
        apply(recorded, recorded.data, changes)
    if recorded.fence is not None:
        row = row_of(recorded, fence=recorded.fence, extended_at=recorded.recorded_at)
        changes.add("leases", row)
    return context


EXECUTION = Projection(
    name="execution",
    tables=(HANDOFFS, APPROVALS, INPUTS, LEASES),
    fold=fold,
    kinds=frozenset({"session", "task"}),
    types=dict.fromkeys(_APPLY, 1),
    sql=read_sql("execution.sql"),
    every_event=False,
    fenced=True,
)
