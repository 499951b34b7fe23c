"""The tables of the projection `memory`, and how changes of one row merge."""

from __future__ import annotations

from projections.columns import OWNER
from projections.rows import Table

NOTES = Table(
    "notes",
    {
        "stream": "key",
        "key": "key",
        **OWNER,
        "version": "last",
        "deleted": "last",
        "ttl_s": "last",
        "recorded_at": "last",
    },
)
NOTE_ENDS = Table(
    "note_ends", {"stream": "key", **OWNER, "version": "last", "expired_version": "last"}
)
