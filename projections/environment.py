"""environment: files, artifacts, processes, snapshots, and what surrounds an agent by name.

Diffs and lists stay in `events`: rows say by version where they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentjournal.envelope import Recorded
from projections.columns import Apply, folding, key_of, owner, present, row_of
from projections.environment_tables import (
    ARTIFACTS,
    ENVIRONMENT_TABLE,
    FILE_CHANGES,
    FILES,
    PROCESSES,
    SNAPSHOTS,
)
from projections.plain_text import storable
from projections.projection import Projection, read_sql
from projections.rows import Changes

_NO_NAME = key_of("")
_PLACES = ("cwd", "branch", "commit")


def _file_changed(r: Recorded, data: Any, changes: Changes) -> None:
    whose, path = owner(r.stream), storable(data["path"])
    reason, get = data["reason"], data.get
    changes.insert(
        "file_changes",
        (
            r.stream,
            r.version,
            whose["tenant"],
            whose["session_id"],
            whose["task_id"],
            path,
            reason,
            get("before_digest"),
            get("after_digest"),
            get("artifact"),
            get("call_id"),
            r.recorded_at,
        ),
    )
    row = row_of(
        r,
        path_key=key_of(data["path"]),
        path=path,
        reason=reason,
        digest=get("after_digest") or "",
        artifact=get("artifact") or "",
        changes=1,
        changed_at=r.recorded_at,
    )
    changes.add("files", row)


def _artifact_saved(r: Recorded, data: Any, changes: Changes) -> None:
    whose = owner(r.stream)
    changes.insert(
        "artifacts",
        (
            r.stream,
            r.version,
            whose["tenant"],
            whose["session_id"],
            whose["task_id"],
            data["artifact"],
            storable(data["name"]),
            data["media_type"],
            data["size"],
            data["digest"],
            data.get("call_id"),
            r.recorded_at,
        ),
    )


def _process_started(r: Recorded, data: Any, changes: Changes) -> None:
    row = row_of(
        r,
        process_id=data["process_id"],
        started_version=r.version,
        started_at=r.recorded_at,
        command=storable(data["command"]),
        cwd=storable(data["cwd"]),
    )
    changes.add("processes", row)


def _process_ended(r: Recorded, data: Any, changes: Changes) -> None:
    row = row_of(
        r,
        process_id=data["process_id"],
        outcome="ended",
        ended_version=r.version,
        ended_at=r.recorded_at,
        exit_status=data.get("exit_status"),
    )
    changes.add("processes", row)


def _snapshot_taken(r: Recorded, data: Any, changes: Changes) -> None:
    row = row_of(
        r,
        snapshot_id=data["snapshot_id"],
        taken_version=r.version,
        taken_at=r.recorded_at,
        kind=data["kind"],
        artifact=data.get("artifact") or "",
        reference=present(data.get("reference")),
        size=data["size"],
    )
    changes.add("snapshots", row)


def _snapshot_restored(r: Recorded, data: Any, changes: Changes) -> None:
    said = {"restores": 1, "restored_version": r.version, "restored_at": r.recorded_at}
    changes.add("snapshots", row_of(r, snapshot_id=data["snapshot_id"], **said))


def _changed(r: Recorded, data: Any, changes: Changes) -> None:
    """Unset first: a name that is in both has a value afterwards."""
    for name in data.get("unset") or ():
        _name(r, changes, "variable", name, None)
    for name, value in (data.get("variables") or {}).items():
        _name(r, changes, "variable", name, value)
    for name, value in (data.get("packages") or {}).items():
        _name(r, changes, "package", name, value)
    for kind in _PLACES:
        value = data.get(kind)
        if value is not None:
            _name(r, changes, kind, "", value)


def _name(r: Recorded, changes: Changes, kind: str, name: str, value: str | None) -> None:
    row = row_of(
        r,
        kind=kind,
        name_key=key_of(name) if name else _NO_NAME,
        name=storable(name),
        value=present(value),
        is_set=value is not None,
        changed_at=r.recorded_at,
    )
    changes.add("environment", row)


_APPLY: Mapping[str, Apply] = {
    "file.changed": _file_changed,
    "artifact.saved": _artifact_saved,
    "process.started": _process_started,
    "process.ended": _process_ended,
    "snapshot.taken": _snapshot_taken,
    "snapshot.restored": _snapshot_restored,
    "environment.changed": _changed,
}

ENVIRONMENT = Projection(
    name="environment",
    tables=(FILE_CHANGES, FILES, ARTIFACTS, PROCESSES, SNAPSHOTS, ENVIRONMENT_TABLE),
    fold=folding(_APPLY),
    kinds=frozenset({"session", "task"}),
    types=dict.fromkeys(_APPLY, 1),
    sql=read_sql("environment.sql"),
    every_event=False,
)
