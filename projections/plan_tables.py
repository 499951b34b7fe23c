"""The tables of the projection `plan`, and how changes of one row merge."""

from __future__ import annotations

from projections.columns import OWNER
from projections.rows import Table

PLANS = Table(
    "plans",
    {
        "stream": "key",
        "plan_id": "key",
        **OWNER,
        "version": "first",
        "goal": "first",
        "planned_version": "last",
        "revisions": "sum",
        "status": "last",
        "reason": "last",
        "created_at": "first",
        "revised_at": "last",
        "ended_version": "last",
        "ended_at": "last",
    },
)
STEPS = Table(
    "steps",
    {
        "stream": "key",
        "plan_id": "key",
        "step_key": "key",
        **OWNER,
        "step_id": "first",
        "version": "first",
        "planned_version": "last",
        "planned_index": "last",
        "title": "last",
        "tool": "last",
        "effect": "last",
        "attempt": "max",
        "idempotency_key": "attempt",
        "started_version": "attempt",
        "started_at": "attempt",
        "lease_until": "attempt",
        "fence": "attempt",
        "outcome": "outcome",
        "ended_version": "outcome",
        "ended_at": "outcome",
        "error_type": "outcome",
        "error_message": "outcome",
        "retry_at": "outcome",
        "settled_by": "outcome",
        "skipped_version": "last",
        "skipped_at": "last",
        "skip_reason": "last",
        "rolled_back_version": "last",
        "rolled_back_at": "last",
        "rolled_back_by": "last",
    },
)
DECISIONS = Table(
    "decisions",
    {
        "stream": "key",
        "version": "key",
        **OWNER,
        "question": "first",
        "reason": "first",
        "decided_by": "first",
        "decided_at": "first",
    },
    insert_only=True,
)
CHECKPOINTS = Table(
    "checkpoints",
    {
        "stream": "key",
        "checkpoint_id": "key",
        **OWNER,
        "version": "first",
        "saved_version": "first",
        "saved_at": "first",
        "label": "first",
        "state_schema_version": "first",
        "artifact": "first",
        "restores": "sum",
        "restored_version": "last",
        "restored_at": "last",
    },
)
