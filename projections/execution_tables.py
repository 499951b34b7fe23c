"""The tables of the projection `execution`, and how changes of one row merge."""

from __future__ import annotations

from projections.columns import OWNER
from projections.rows import Table

HANDOFFS = Table(
    "handoffs",
    {
        "stream": "key",
        "handoff_id": "key",
        **OWNER,
        "version": "first",
        "requested_version": "first",
        "requested_at": "first",
        "mode": "first",
        "to_agent": "first",
        "child_session_id": "first",
        "task": "first",
        "accepted_version": "first",
        "accepted_at": "first",
        "outcome": "outcome",
        "ended_version": "outcome",
        "ended_at": "outcome",
        "summary": "outcome",
        "error_type": "outcome",
        "error_message": "outcome",
    },
)
APPROVALS = Table(
    "approvals",
    {
        "stream": "key",
        "approval_id": "key",
        **OWNER,
        "version": "first",
        "requested_version": "first",
        "requested_at": "first",
        "question": "first",
        "call_id": "first",
        "arguments_digest": "first",
        "requested_of": "first",
        "expires_at": "first",
        "outcome": "outcome",
        "answered_version": "outcome",
        "answered_at": "outcome",
        "answered_by": "outcome",
        "comment": "outcome",
        "edited_arguments_text": "outcome",
    },
)
INPUTS = Table(
    "inputs",
    {
        "stream": "key",
        "input_id": "key",
        **OWNER,
        "version": "first",
        "requested_version": "first",
        "requested_at": "first",
        "question": "first",
        "answered_version": "first",
        "answered_at": "first",
        "answered_by": "first",
    },
)
LEASES = Table(
    "leases",
    {
        "stream": "key",
        "fence": "key",
        **OWNER,
        "version": "first",
        "holder": "first",
        "lease_s": "first",
        "acquired_at": "first",
        "renewals": "sum",
        "renewed_at": "last",
        "extended_at": "max",
        "released_version": "first",
        "released_at": "first",
    },
)
