"""results: which call of a tool succeeded when, so that the same call need not be made again.

What came out stays in `events`: a row says by version where it is. What makes a result void is kept
beside it: changes of the environment, rewinds, the deletion of the session.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentjournal.envelope import Recorded
from projections.columns import Apply, folding, owner
from projections.projection import Projection, read_sql
from projections.results_tables import MARKS, RESULTS, REWINDS
from projections.rows import Changes, Row


def _row(r: Recorded, **columns: Any) -> Row:
    whose = owner(r.stream)
    return {"tenant": whose["tenant"], "session_id": whose["session_id"], **columns}


def _started(r: Recorded, data: Any, changes: Changes) -> None:
    tool, digest = data["tool"], data["arguments_digest"]
    row = _row(
        r,
        call_id=data["call_id"],
        stream=r.stream,
        tool=tool,
        arguments_digest=digest,
        attempt=data["attempt"],
        attempt_tool=tool,
        attempt_digest=digest,
        effect=data["effect"],
        started_version=r.version,
    )
    changes.add("results", row)


def _ended(outcome: str) -> Apply:
    def apply(r: Recorded, data: Any, changes: Changes) -> None:
        row = _row(
            r,
            call_id=data["call_id"],
            stream=r.stream,
            outcome=outcome,
            ended_version=r.version,
            ended_at=r.recorded_at,
            is_cached=data.get("cached_from") is not None,
        )
        if "attempt" in data:
            row["attempt"] = data["attempt"]
        changes.add("results", row)

    return apply


def _changed(r: Recorded, _: Any, changes: Changes) -> None:
    changes.add("result_marks", _row(r, changed_version=r.version))


def _deleted(r: Recorded, _: Any, changes: Changes) -> None:
    changes.add("result_marks", _row(r, deleted_version=r.version))


def _rewound(r: Recorded, data: Any, changes: Changes) -> None:
    changes.add("result_rewinds", _row(r, version=r.version, to_version=data["to_version"]))


_APPLY: Mapping[str, Apply] = {
    "tool.started": _started,
    "tool.completed": _ended("completed"),
    "tool.failed": _ended("failed"),
    # Somebody said what became of it: true, but not what the tool would return.
    "tool.settled": _ended("settled"),
    "file.changed": _changed,
    "environment.changed": _changed,
    "snapshot.restored": _changed,
    "conversation.rewound": _rewound,
    "session.deleted": _deleted,
}

RESULTS_PROJECTION = Projection(
    name="results",
    tables=(RESULTS, MARKS, REWINDS),
    fold=folding(_APPLY),
    kinds=frozenset({"session"}),
    types=dict.fromkeys(_APPLY, 1),
    sql=read_sql("results.sql"),
    every_event=False,
)
