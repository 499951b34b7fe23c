"""memory: the notes of a session or a task, the last of each key, and where a session ended.

An end takes the notes for good; expiry hides them until the session is resumed.

Values stay in `events`: a row says by version where its value is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentjournal.envelope import Recorded
from projections.columns import Apply, folding, owner, row_of
from projections.memory_tables import NOTE_ENDS, NOTES
from projections.projection import Projection, read_sql
from projections.rows import Changes

_NO_TTL = -1.0  # None would say that nothing changed


def _set(r: Recorded, data: Any, changes: Changes) -> None:
    ttl_s = data.get("ttl_s")
    row = row_of(
        r,
        key=data["key"],
        deleted=False,
        ttl_s=_NO_TTL if ttl_s is None else float(ttl_s),
        recorded_at=r.recorded_at,
    )
    changes.add("notes", row)


def _deleted(r: Recorded, data: Any, changes: Changes) -> None:
    said = {"deleted": True, "ttl_s": _NO_TTL, "recorded_at": r.recorded_at}
    changes.add("notes", row_of(r, key=data["key"], **said))


def _ended(r: Recorded, _: Any, changes: Changes) -> None:
    changes.add("note_ends", row_of(r))


def _expired(r: Recorded, _: Any, changes: Changes) -> None:
    changes.add("note_ends", {**owner(r.stream), "expired_version": r.version})


def _resumed(r: Recorded, _: Any, changes: Changes) -> None:
    changes.add("note_ends", {**owner(r.stream), "expired_version": 0})


_APPLY: Mapping[str, Apply] = {
    "note.set": _set,
    "note.deleted": _deleted,
    "session.ended": _ended,
    "session.expired": _expired,
    "session.resumed": _resumed,
    "session.deleted": _ended,
}

MEMORY = Projection(
    name="memory",
    tables=(NOTES, NOTE_ENDS),
    fold=folding(_APPLY),
    kinds=frozenset({"session", "task"}),
    types=dict.fromkeys(_APPLY, 1),
    sql=read_sql("memory.sql"),
    every_event=False,
)
