"""The tables of the projection `limits`, and how changes of one row merge."""

from __future__ import annotations

from projections.rows import Table

SESSION_LIMITS = Table(
    "session_limits",
    {
        "tenant": "key",
        "session_id": "key",
        "name": "key",
        "version": "last",
        "maximum": "last",
        "policy": "last",
    },
)
LIMITS_EXCEEDED = Table(
    "limits_exceeded",
    {
        "tenant": "key",
        "session_id": "key",
        "name": "key",
        "stream": "first",
        "version": "first",
        "value": "first",
        "maximum": "first",
        "policy": "first",
        "recorded_at": "first",
    },
)
