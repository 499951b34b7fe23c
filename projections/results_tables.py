"""The tables of the projection `results`, and how changes of one row merge."""

from __future__ import annotations

from projections.rows import Table

RESULTS = Table(
    "results",
    {
        "tenant": "key",
        "session_id": "key",
        "call_id": "key",
        "stream": "first",
        # The call is found by what its first attempt was for: an index on what changes is dear.
        "tool": "first",
        "arguments_digest": "first",
        "attempt": "max",
        "attempt_tool": "attempt",
        "attempt_digest": "attempt",
        "effect": "attempt",
        "started_version": "attempt",
        "outcome": "outcome",
        "ended_version": "outcome",
        "ended_at": "outcome",
        "is_cached": "outcome",
    },
)
MARKS = Table(
    "result_marks",
    {
        "tenant": "key",
        "session_id": "key",
        "changed_version": "last",
        "deleted_version": "first",
    },
)
REWINDS = Table(
    "result_rewinds",
    {"tenant": "key", "session_id": "key", "version": "key", "to_version": "first"},
)
