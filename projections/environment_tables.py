"""The tables of the projection `environment`, and how changes of one row merge."""

from __future__ import annotations

from projections.columns import OWNER
from projections.rows import Table

FILE_CHANGES = Table(
    "file_changes",
    {
        "stream": "key",
        "version": "key",
        **OWNER,
        "path": "first",
        "reason": "first",
        "before_digest": "first",
        "after_digest": "first",
        "artifact": "first",
        "call_id": "first",
        "changed_at": "first",
    },
    insert_only=True,
)
FILES = Table(
    "files",
    {
        "stream": "key",
        "path_key": "key",
        **OWNER,
        "path": "first",
        "version": "last",
        "reason": "last",
        "digest": "last",
        "artifact": "last",
        "changes": "sum",
        "changed_at": "last",
    },
)
ARTIFACTS = Table(
    "artifacts",
    {
        "stream": "key",
        "version": "key",
        **OWNER,
        "artifact": "first",
        "name": "first",
        "media_type": "first",
        "size": "first",
        "digest": "first",
        "call_id": "first",
        "saved_at": "first",
    },
    insert_only=True,
)
PROCESSES = Table(
    "processes",
    {
        "stream": "key",
        "process_id": "key",
        **OWNER,
        "version": "first",
        "started_version": "first",
        "started_at": "first",
        "command": "first",
        "cwd": "first",
        "outcome": "outcome",
        "ended_version": "outcome",
        "ended_at": "outcome",
        "exit_status": "outcome",
    },
)
SNAPSHOTS = Table(
    "snapshots",
    {
        "stream": "key",
        "snapshot_id": "key",
        **OWNER,
        "version": "first",
        "taken_version": "first",
        "taken_at": "first",
        "kind": "first",
        "artifact": "first",
        "reference": "first",
        "size": "first",
        "restores": "sum",
        "restored_version": "last",
        "restored_at": "last",
    },
)
ENVIRONMENT_TABLE = Table(
    "environment",
    {
        "stream": "key",
        "kind": "key",
        "name_key": "key",
        **OWNER,
        "name": "first",
        "version": "last",
        "value": "last",
        "is_set": "last",
        "changed_at": "last",
    },
)
